//! Pipes and devices, read on a background thread.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::threads::received;
use crate::control::Control;
use crate::error::{Error, Result};

/// Bytes that [`BackgroundReader`] reads at a time.
const PIPE_READ_BYTES: u64 = 1 << 20;

/// Reads a pipe or a device on a background thread, because opening and reading may block for ever. The
/// calling thread checks the control meanwhile. After an interruption the background thread ends when its
/// read does.
///
/// If the system starts no thread, the calling thread reads. A signal then ends a wait for data, and the
/// control is checked; a wait for a pipe that nobody has opened for writing cannot be interrupted.
pub(crate) struct BackgroundReader {
    path: PathBuf,
    from: From,
}

/// Where the data comes from.
enum From {
    Thread(Receiver<std::io::Result<Vec<u8>>>),
    /// The calling thread opens and reads the file.
    Here(Option<File>),
}

impl BackgroundReader {
    pub(crate) fn open(path: &Path) -> Self {
        let (sender, blocks) = sync_channel(4);
        let owned = path.to_owned();
        let read = move || {
            let mut file = match File::open(owned) {
                Ok(file) => file,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut block = Vec::new();
                let read = file.by_ref().take(PIPE_READ_BYTES).read_to_end(&mut block);
                // An empty block marks the end. After an interruption there is no receiver, and sending
                // fails.
                if sender.send(read.map(|_| block)).is_err() {
                    return;
                }
            }
        };
        let started = thread::Builder::new().spawn(read);
        BackgroundReader {
            path: path.to_owned(),
            from: if started.is_ok() { From::Thread(blocks) } else { From::Here(None) },
        }
    }

    /// The next block; `None` at the end.
    pub(crate) fn next(&mut self, control: &Control) -> Result<Option<Vec<u8>>> {
        let block = match &mut self.from {
            From::Thread(blocks) => {
                received(blocks, control)?.unwrap_or_else(|| Err(ErrorKind::UnexpectedEof.into()))
            }
            From::Here(file) => {
                control.check()?;
                match file.take().map_or_else(|| File::open(&self.path), Ok) {
                    Ok(open) => read_here(file.insert(open), control)?,
                    Err(error) => Err(error),
                }
            }
        };
        let block = block.map_err(Error::io(&self.path))?;
        Ok((!block.is_empty()).then_some(block))
    }
}

/// Reads what is available, on the calling thread.
fn read_here(file: &mut File, control: &Control) -> Result<std::io::Result<Vec<u8>>> {
    let mut block = vec![0; PIPE_READ_BYTES as usize];
    loop {
        control.check()?;
        match file.read(&mut block) {
            Ok(count) => {
                block.truncate(count);
                return Ok(Ok(block));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
}
