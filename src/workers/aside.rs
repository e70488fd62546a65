//! Pipes and devices, read on a thread beside the one that waits for them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

use super::LOOK;
use crate::control::Control;
use crate::error::{Error, Result};

/// Bytes that [`Aside`] reads at a time.
const PIECE: u64 = 1 << 20;

/// The contents of a pipe or a device. They are read on a thread of its own, because opening and reading
/// may wait for ever; the calling thread watches the control. After an interruption the thread ends
/// with its wait.
pub(crate) struct Aside {
    path: PathBuf,
    pieces: Receiver<std::io::Result<Vec<u8>>>,
}

impl Aside {
    pub(crate) fn open(path: &Path) -> Self {
        let (sender, pieces) = sync_channel(4);
        let owned = path.to_owned();
        thread::spawn(move || {
            let mut file = match File::open(owned) {
                Ok(file) => file,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut piece = Vec::new();
                let read = file.by_ref().take(PIECE).read_to_end(&mut piece);
                // An empty piece is the end. Nobody takes it any more after an interruption.
                if sender.send(read.map(|_| piece)).is_err() {
                    return;
                }
            }
        });
        Aside { path: path.to_owned(), pieces }
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self, control: &Control) -> Result<Option<Vec<u8>>> {
        let failed = |source| Error::Io { path: self.path.clone(), source };
        loop {
            match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => {
                    let piece = piece.map_err(failed)?;
                    return Ok((!piece.is_empty()).then_some(piece));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
                }
            }
            control.check()?;
        }
    }
}

/// All that is in a pipe or a device.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn read_aside(path: &Path, control: &Control) -> Result<Vec<u8>> {
    let mut aside = Aside::open(path);
    let mut whole = Vec::new();
    while let Some(piece) = aside.next(control)? {
        whole.extend_from_slice(&piece);
        control.check()?;
    }
    Ok(whole)
}
