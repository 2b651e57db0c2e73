//! Folders and files that only this user can read or change: anything else there is an error, never passed over.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::failure::{Explain as _, Failure, Result};

/// A folder that only this user can enter. It is held open: what is read is in this one, whatever takes its place.
#[derive(Debug)]
pub(super) struct Private {
    path: PathBuf,
    folder: File,
}

impl Private {
    /// The folder, if there is anything under its name.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let Some(folder) = look(CWD, path, OFlags::DIRECTORY).during(cannot(path))? else { return Ok(None) };
        check(&folder, path, "700")?;
        Ok(Some(Self { path: path.to_owned(), folder }))
    }

    /// The same, and made if it is not there.
    pub(super) fn make(path: &Path) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).during(format!("cannot make {}", path.display()))?;
        Self::open(path)?.ok_or_else(|| Failure::new(format!("{} was taken away", path.display())))
    }

    /// A folder in it, if there is anything of this name.
    pub(super) fn folder(&self, name: &str) -> Result<Option<Self>> {
        let path = self.path.join(name);
        let Some(folder) = look(&self.folder, name, OFlags::DIRECTORY).during(cannot(&path))? else { return Ok(None) };
        check(&folder, &path, "700")?;
        Ok(Some(Self { path, folder }))
    }

    /// A file in it, if there is anything of this name.
    pub(super) fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.path.join(name);
        // Whoever has put a pipe there does not keep this waiting.
        let Some(file) = look(&self.folder, name, OFlags::NONBLOCK).during(cannot(&path))? else { return Ok(None) };
        check(&file, &path, "600")?;
        let mut text = String::new();
        let read = file.take(FILE_MAX + 1).read_to_string(&mut text).during(cannot(&path))? as u64;
        match read <= FILE_MAX {
            true => Ok(Some(text)),
            false => Err(Failure::new(format!("it has more than {FILE_MAX} bytes")).during(cannot(&path))),
        }
    }

    /// Takes the folder for this process, for as long as this lives. False if another one has it.
    pub(super) fn lock(&self) -> Result<bool> {
        match self.folder.try_lock() {
            Ok(()) => Ok(true),
            Err(std::fs::TryLockError::WouldBlock) => Ok(false),
            Err(std::fs::TryLockError::Error(e)) => Err(e).during(format!("cannot lock {}", self.path.display())),
        }
    }

    /// What it holds stays over a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.folder.sync_all()
    }
}

/// Opens what has this name, unless it is a symbolic link.
fn look(at: impl std::os::fd::AsFd, name: impl rustix::path::Arg, more: OFlags) -> io::Result<Option<File>> {
    match openat(at, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more, Mode::empty()) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::NOENT) => Ok(None),
        // Linux says either of a link, as what else is asked for may be.
        Err(Errno::LOOP | Errno::NOTDIR) => Err(io::Error::other("it is a symbolic link, or no folder")),
        Err(e) => Err(e.into()),
    }
}

/// Nobody else may read or change it.
fn check(file: &File, path: &Path, mode: &str) -> Result<()> {
    let meta = file.metadata().during(cannot(path))?;
    let is_kind = if mode == "700" { meta.is_dir() } else { meta.is_file() };
    let help = format!("chmod {mode} {}", path.display());
    let problem = if !is_kind {
        Failure::new("it is no file of keys")
    } else if meta.uid() != rustix::process::geteuid().as_raw() {
        Failure::new(format!("it belongs to user {}", meta.uid())).help("use the keys as the user who started the rack")
    } else if meta.mode() & 0o077 != 0 {
        Failure::new(format!("others may use it (its mode is {:03o}, not {mode})", meta.mode() & 0o777)).help(help)
    } else {
        return Ok(());
    };
    Err(problem.during(cannot(path)))
}

fn cannot(path: &Path) -> String {
    format!("cannot use {}", path.display())
}

/// Most bytes of a file: those of 1024 cards, in two generations, are 140 kB.
const FILE_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn why<T: std::fmt::Debug>(result: Result<T>) -> String {
        let failure = result.unwrap_err();
        [vec![failure.what], failure.causes, failure.help.into_iter().collect()].concat().join(": ")
    }

    #[test]
    fn what_only_its_user_can_use_is_used_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(Private::open(&at("private")).unwrap().is_none());
        let private = Private::make(&at("private")).unwrap();
        assert_eq!(fs::metadata(&private.path).unwrap().mode() & 0o777, 0o700);
        assert!(private.read("keys").unwrap().is_none() && private.folder("keys").unwrap().is_none());

        let keys = at("private/keys");
        fs::write(&keys, "text").unwrap();
        fs::set_permissions(&keys, Permissions::from_mode(0o640)).unwrap();
        let said = why(private.read("keys"));
        assert!(said.contains("others may use it (its mode is 640, not 600)") && said.contains("chmod 600 "), "{said}");
        fs::set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(private.read("keys").unwrap().as_deref(), Some("text"));

        symlink(&keys, at("private/link")).unwrap();
        symlink(&private.path, at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        for said in [why(private.read("link")), why(Private::open(&at("link"))), why(Private::open(&at("dangling")))] {
            assert!(said.contains("it is a symbolic link"), "{said}");
        }
        assert!(why(Private::make(&at("dangling"))).contains("dangling"));

        fs::set_permissions(&private.path, Permissions::from_mode(0o755)).unwrap();
        let said = why(Private::open(&private.path));
        assert!(said.contains("its mode is 755, not 700"), "{said}");
    }

    #[test]
    fn what_is_no_file_or_no_folder_is_refused_and_nobody_waits_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let private = Private::make(&dir.path().join("private")).unwrap();
        Private::make(&private.path.join("folder")).unwrap();
        assert!(why(private.read("folder")).contains("it is no file of keys"));
        let pipe = private.path.join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert!(why(private.read("pipe")).contains("it is no file of keys"));
        assert!(why(private.folder("pipe")).contains("or no folder"));
        fs::write(private.path.join("long"), vec![b'x'; FILE_MAX as usize + 1]).unwrap();
        fs::set_permissions(private.path.join("long"), Permissions::from_mode(0o600)).unwrap();
        assert!(why(private.read("long")).contains("more than 1048576 bytes"));
    }

    /// Only root can give a file away.
    #[test]
    fn what_is_another_users_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let private = Private::make(&dir.path().join("private")).unwrap();
        let strangers = match rustix::process::geteuid().is_root() {
            true => {
                let keys = private.path.join("keys");
                fs::write(&keys, "text").unwrap();
                fs::set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
                std::os::unix::fs::chown(&keys, Some(12345), None).unwrap();
                why(private.read("keys"))
            }
            // The system's own folders are root's.
            false => why(Private::open(Path::new("/proc"))),
        };
        assert!(strangers.contains("it belongs to user "), "{strangers}");
    }

    #[test]
    fn one_process_has_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let [first, second] = [0, 1].map(|_| Private::make(&dir.path().join("private")).unwrap());
        assert!(first.lock().unwrap() && !second.lock().unwrap());
        drop(first);
        assert!(second.lock().unwrap());
    }
}
