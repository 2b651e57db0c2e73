//! The folder of a manager among the system's temporary files, locked while the manager lives; and the sweep that
//! removes what killed managers have left.
//!
//! A manager that is killed removes nothing. The next one of the same user takes the lock that went with it, and
//! removes the folder and the sockets that it names. A folder whose lock somebody holds is never touched.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::claim::{Claim, is_ours};

/// The folder of this manager. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Home {
    folder: PathBuf,
    _claim: Claim,
}

/// How the folders' names begin.
pub(crate) const PREFIX: &str = "rackloom-manager-";

/// The list of the manager's sockets in its folder.
const SOCKETS: &str = "sockets";

impl Home {
    /// Makes a folder for this process in `parent`, once what killed managers have left there is gone.
    ///
    /// # Errors
    /// The folder cannot be made or locked.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?.keep();
            if let Some(claim) = Claim::new(&folder)? {
                return Ok(Self { folder, _claim: claim });
            }
        }
    }

    /// Removes the folder, though there may be users of it.
    pub(crate) fn close(&self) {
        let _ = remove(&self.folder); // What is left is swept by the next one.
    }

    /// Lets others pass through the folder, to what they can name and may enter below.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(crate) fn let_through(&self) -> io::Result<()> {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o711))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Notes that the manager is about to listen at this path.
    ///
    /// # Errors
    /// It cannot be written down.
    pub(crate) fn listens_at(&self, socket: &Path) -> io::Result<()> {
        let mut list = OpenOptions::new().create(true).append(true).mode(0o600).open(self.folder.join(SOCKETS))?;
        list.write_all(&[std::path::absolute(socket)?.as_os_str().as_bytes(), b"\0"].concat())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.close();
    }
}

/// Removes a folder with all in it, also what a hostile owner let nobody enter.
///
/// # Errors
/// Something of it stays.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
            unlock(folder);
            fs::remove_dir_all(folder)
        }
        other => other,
    }
}

/// Lets this user enter a folder and all below.
fn unlock(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700)); // Or it is another's.
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).for_each(|entry| unlock(&entry.path()));
}

/// Removes what managers of this user have left in `parent`.
fn sweep(parent: &Path) {
    for (folder, _claim) in Claim::left(parent, PREFIX) {
        sweep_sockets(&folder);
        if let Err(why) = remove(&folder) {
            eprintln!("rackloom-manager: cannot remove what a killed manager left in {}: {why}", folder.display());
        }
    }
}

/// Removes the sockets that a manager has left.
fn sweep_sockets(folder: &Path) {
    let list = fs::read(folder.join(SOCKETS)).unwrap_or_default();
    for path in list.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        let is_socket = path.symlink_metadata().is_ok_and(|data| data.file_type().is_socket());
        // Another manager may listen there by now.
        let is_left =
            || matches!(UnixStream::connect(&path), Err(why) if why.kind() == io::ErrorKind::ConnectionRefused);
        if is_socket && is_ours(&path) && is_left() {
            let _ = fs::remove_file(&path); // Or somebody else did.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn names(parent: &Path) -> usize {
        parent.read_dir().unwrap().count()
    }

    /// A home whose manager was killed: nothing is removed, and the claim is gone.
    fn killed(home: Home) -> PathBuf {
        let left = home.folder.with_extension("killed");
        fs::rename(&home.folder, &left).unwrap();
        drop(home);
        left
    }

    #[test]
    fn who_lives_keeps_all_and_who_was_killed_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let living = Home::new(parent.path()).unwrap();
        fs::write(living.path().join("file"), "").unwrap();
        let left = killed(Home::new(parent.path()).unwrap());
        fs::create_dir_all(left.join("a/b")).unwrap();
        fs::write(left.join("a/b/file"), "").unwrap();
        fs::set_permissions(left.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::create_dir(parent.path().join("another's")).unwrap();
        let next = Home::new(parent.path()).unwrap();
        assert!(!left.exists());
        assert!(living.path().join("file").exists() && next.path().exists());
        drop((living, next));
        assert_eq!(names(parent.path()), 1);
    }

    #[test]
    fn sockets_go_unless_somebody_listens() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let home = Home::new(parent.path()).unwrap();
        for name in ["dead", "taken", "file", "gone"] {
            home.listens_at(&at(name)).unwrap();
        }
        drop(UnixListener::bind(at("dead")).unwrap());
        drop(UnixListener::bind(at("unnamed")).unwrap());
        let _listener = UnixListener::bind(at("taken")).unwrap();
        fs::write(at("file"), "").unwrap();
        killed(home);
        drop(Home::new(parent.path()).unwrap());
        let left = ["dead", "unnamed", "taken", "file", "gone"].map(|name| at(name).exists());
        assert_eq!(left, [false, true, true, true, false]);
    }

    #[test]
    fn managers_that_start_at_once_do_not_sweep_each_other() {
        let parent = tempfile::tempdir().unwrap();
        let start = || (0..50).map(|_| Home::new(parent.path()).unwrap()).collect::<Vec<_>>();
        let homes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(homes.iter().all(|home| home.path().exists()));
        assert_eq!(names(parent.path()), 200);
        drop(homes);
        assert_eq!(names(parent.path()), 0);
    }
}
