//! Where a segment's socket lies.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::SegmentError;

/// A segment's name and the files that stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPath {
    name: String,
    directory: PathBuf,
}

impl SegmentPath {
    /// The segment `name` of this user: in `$RACKLOOM_RUN`, `$XDG_RUNTIME_DIR/rackloom` or `/tmp/rackloom-<uid>`,
    /// whichever comes first.
    ///
    /// # Errors
    /// The name is none.
    pub fn named(name: &str) -> Result<Self, SegmentError> {
        Self::under(&run_directory(|key| std::env::var_os(key), own_uid()), name)
    }

    /// The segment `name` whose files are in `directory`.
    ///
    /// # Errors
    /// The name is none.
    pub fn under(directory: &Path, name: &str) -> Result<Self, SegmentError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > NAME_MAX || name.starts_with('.') || !name.chars().all(allowed) {
            return Err(SegmentError::BadName { name: name.to_owned() });
        }
        Ok(Self { name: name.to_owned(), directory: directory.to_owned() })
    }

    /// The segment's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join(format!("{}.sock", self.name))
    }

    /// The file whose lock its server holds.
    pub(super) fn lock(&self) -> PathBuf {
        self.directory.join(format!("{}.lock", self.name))
    }

    /// The directory in which hosts of this user's processes say who they are, made if it is missing. Nobody else can
    /// enter it.
    ///
    /// # Errors
    /// It cannot be made, or others could change what is there.
    pub fn hosts(&self) -> Result<PathBuf, SegmentError> {
        self.make_directory()?;
        let hosts = Self { name: self.name.clone(), directory: self.directory.join("hosts") };
        hosts.make_directory()?;
        Ok(hosts.directory)
    }

    /// Creates the directory if it is missing.
    ///
    /// # Errors
    /// As [`check_directory`](Self::check_directory).
    pub(super) fn make_directory(&self) -> Result<(), SegmentError> {
        match DirBuilder::new().recursive(true).mode(0o700).create(&self.directory) {
            Ok(()) => self.check_directory(),
            Err(source) => Err(SegmentError::Io { what: "create", path: self.directory.clone(), source }),
        }
    }

    /// Checks that nobody else can put a socket into the directory, or connect to ours.
    ///
    /// # Errors
    /// Somebody else can; or there is no such directory, and so no segment.
    pub(super) fn check_directory(&self) -> Result<(), SegmentError> {
        let meta = match fs::symlink_metadata(&self.directory) {
            Ok(meta) => meta,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(SegmentError::NoSegment { name: self.name.clone() });
            }
            Err(source) => return Err(SegmentError::Io { what: "look at", path: self.directory.clone(), source }),
        };
        let problem = if !meta.is_dir() {
            "it is not a directory".to_owned()
        } else if meta.uid() != own_uid() {
            format!("it belongs to user {}", meta.uid())
        } else if meta.mode() & 0o077 != 0 {
            format!("others may enter it (its mode is {:03o}, not 700)", meta.mode() & 0o777)
        } else {
            return Ok(());
        };
        Err(SegmentError::Directory { path: self.directory.clone(), problem })
    }
}

impl fmt::Display for SegmentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// This process's effective user.
pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn run_directory(env: impl Fn(&str) -> Option<OsString>, uid: u32) -> PathBuf {
    // An empty or relative path in the environment means none: the XDG specification says so.
    let absolute = |key| env(key).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("RACKLOOM_RUN")
        .or_else(|| absolute("XDG_RUNTIME_DIR").map(|p| p.join("rackloom")))
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/rackloom-{uid}")))
}

/// Longest name. A socket's path has at most 107 bytes; this leaves half to the directory.
pub(super) const NAME_MAX: usize = 48;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_first_usable_directory_of_the_environment_is_taken() {
        let dir = |vars: &[(&str, &str)]| {
            let env = |key: &str| vars.iter().find(|v| v.0 == key).map(|v| OsString::from(v.1));
            run_directory(env, 1000)
        };
        assert_eq!(dir(&[("RACKLOOM_RUN", "/a"), ("XDG_RUNTIME_DIR", "/b")]), Path::new("/a"));
        assert_eq!(dir(&[("XDG_RUNTIME_DIR", "/b")]), Path::new("/b/rackloom"));
        assert_eq!(dir(&[]), Path::new("/tmp/rackloom-1000"));
        assert_eq!(dir(&[("RACKLOOM_RUN", ""), ("XDG_RUNTIME_DIR", "b")]), Path::new("/tmp/rackloom-1000"));
    }

    #[test]
    fn a_name_stays_inside_the_directory() {
        let at = |name: &str| SegmentPath::under(Path::new("/d"), name);
        assert_eq!(at("lab-1.b_c").unwrap().socket(), Path::new("/d/lab-1.b_c.sock"));
        for bad in ["", ".", "..", "../x", "a/b", "a b", "ä", &"x".repeat(NAME_MAX + 1)] {
            assert!(matches!(at(bad), Err(SegmentError::BadName { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_directory_that_others_may_enter_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let path = SegmentPath::under(&run, "x").unwrap();
        assert!(matches!(path.check_directory(), Err(SegmentError::NoSegment { .. })));
        path.make_directory().unwrap();
        path.make_directory().unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o750)).unwrap();
        let refused = path.make_directory().unwrap_err().to_string();
        assert!(refused.contains("its mode is 750, not 700") && refused.contains("RACKLOOM_RUN"), "{refused}");

        let link = dir.path().join("link");
        symlink(&run, &link).unwrap();
        let refused = SegmentPath::under(&link, "x").unwrap().check_directory().unwrap_err().to_string();
        assert!(refused.contains("not a directory"), "{refused}");
    }
}
