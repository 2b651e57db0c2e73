//! Folders that belong to a process while it lives: it holds a lock on each, which the system takes back when it ends.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

/// A folder that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "the lock goes with it")] File);

impl Claim {
    /// Claims a folder that this process has made; `None` if somebody has removed it before: until it is claimed it
    /// looks like one that was left.
    ///
    /// # Errors
    /// It cannot be opened or locked.
    pub(crate) fn new(folder: &Path) -> io::Result<Option<Self>> {
        let lock = match open(folder) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(is_at(&lock, folder).then_some(Self(lock)))
    }

    /// Claims the folders in `parent` whose names begin so, and whose process has ended. Only those of this user.
    pub(crate) fn left(parent: &Path, prefix: &str) -> Vec<(PathBuf, Self)> {
        let entries = parent.read_dir().into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()));
        let ours = named.map(|entry| entry.path()).filter(|folder| is_ours(folder));
        let claim = |folder: PathBuf| {
            let lock = open(&folder).ok()?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?; // Else its process lives.
            is_at(&lock, &folder).then_some((folder, Self(lock)))
        };
        ours.filter_map(claim).collect()
    }
}

fn open(folder: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(folder)
}

/// Whether the open folder is the one at this path still.
fn is_at(open: &File, path: &Path) -> bool {
    let place = |data: &Metadata| (data.dev(), data.ino());
    matches!((open.metadata(), path.symlink_metadata()), (Ok(a), Ok(b)) if place(&a) == place(&b))
}

/// Whether this user owns a file or folder.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.uid() == rustix::process::geteuid().as_raw())
}
