//! Files that are there as a whole or not at all, whatever ends the program meanwhile.

use std::fs::{self, OpenOptions};
use std::io::{Result, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// It is an error.
    Keep,
    /// It is replaced.
    Replace,
}

/// Writes a file with this mode, by way of another one beside it.
pub(crate) fn write(path: &Path, bytes: &[u8], mode: u32, before: Before) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let put = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        match before {
            Before::Replace => fs::rename(&part, path),
            // Unlike a rename, a link does not replace what is there.
            Before::Keep => fs::hard_link(&part, path),
        }
    };
    let result = put();
    if result.is_err() || before == Before::Keep {
        let _ = fs::remove_file(&part);
    }
    result
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_was_there_is_kept_or_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, b"first", 0o600, Before::Keep).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = write(&path, b"second", 0o600, Before::Keep).unwrap_err();
        assert_eq!((refused.kind(), fs::read(&path).unwrap()), (ErrorKind::AlreadyExists, b"first".to_vec()));
        write(&path, b"third", 0o600, Before::Replace).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert!(write(&dir.path().join("no/file"), b"", 0o600, Before::Replace).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
