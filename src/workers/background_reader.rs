//! Pipes and devices, read on a thread beside the one that waits for them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

use super::threads::CHECK_INTERVAL;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;

/// Bytes that [`BackgroundReader`] reads at a time.
const PIPE_READ_BYTES: u64 = 1 << 20;

/// The contents of a pipe or a device. They are read on a thread of its own, because opening and reading
/// may wait for ever; the calling thread watches the control. After an interruption the thread ends
/// with its wait.
///
/// Where the system starts no thread, the calling thread reads. A signal then ends a wait for more data, and the control is
/// looked at; but not a wait for a pipe that nobody has opened for writing.
pub(crate) struct BackgroundReader {
    path: PathBuf,
    from: From,
}

enum From {
    Thread(Receiver<std::io::Result<Vec<u8>>>),
    /// Not opened yet.
    Path,
    File(File),
}

impl BackgroundReader {
    pub(crate) fn open(path: &Path) -> Self {
        let (sender, pieces) = sync_channel(4);
        let owned = path.to_owned();
        let read = move || {
            let mut file = match File::open(owned) {
                Ok(file) => file,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut piece = Vec::new();
                let read = file.by_ref().take(PIPE_READ_BYTES).read_to_end(&mut piece);
                // An empty piece is the end. Nobody takes it any more after an interruption.
                if sender.send(read.map(|_| piece)).is_err() {
                    return;
                }
            }
        };
        let started = thread::Builder::new().spawn(read);
        BackgroundReader {
            path: path.to_owned(),
            from: if started.is_ok() { From::Thread(pieces) } else { From::Path },
        }
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self, control: &Control) -> Result<Option<Vec<u8>>> {
        let piece = match &mut self.from {
            From::Thread(pieces) => received(pieces, control)?,
            From::Path => {
                control.check()?;
                match File::open(&self.path) {
                    Ok(file) => {
                        self.from = From::File(file);
                        return self.next(control);
                    }
                    Err(error) => Err(error),
                }
            }
            From::File(file) => read_here(file, control)?,
        };
        let piece = piece.map_err(|source| Error::Io { path: self.path.clone(), source })?;
        Ok((!piece.is_empty()).then_some(piece))
    }
}

/// The next piece that the reading thread sent.
fn received(
    pieces: &Receiver<std::io::Result<Vec<u8>>>,
    control: &Control,
) -> Result<std::io::Result<Vec<u8>>> {
    loop {
        match pieces.recv_timeout(CHECK_INTERVAL) {
            Ok(piece) => return Ok(piece),
            Err(RecvTimeoutError::Timeout) => control.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// As much as is there, on the calling thread.
fn read_here(file: &mut File, control: &Control) -> Result<std::io::Result<Vec<u8>>> {
    let mut piece = vec![0; PIPE_READ_BYTES as usize];
    loop {
        control.check()?;
        match file.read(&mut piece) {
            Ok(count) => {
                piece.truncate(count);
                return Ok(Ok(piece));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// All that is in a pipe or a device.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn read_in_background(path: &Path, control: &Control) -> Result<Vec<u8>> {
    let mut background_reader = BackgroundReader::open(path);
    let mut whole = Vec::new();
    while let Some(piece) = background_reader.next(control)? {
        room::extend(&mut whole, &piece)?;
        control.check()?;
    }
    Ok(whole)
}
