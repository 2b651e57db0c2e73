//! What this build has made and others may need again, each under the hash of all that goes into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{named, read_dir};

/// From a unit's folder: one for all units of a target folder. Those of tests, of clippy and of other features make the
/// same.
const FOLDER: &str = "../../rackloom-verilated-objects";
/// How long is kept what no build has used.
const UNUSED: Duration = Duration::from_hours(14 * 24);
/// A file in each entry; its time is that of the last use.
const USED: &str = "used";

/// A folder of entries, which are folders.
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// That of a unit's target folder.
    pub fn of(out: &Path) -> Result<Self, String> {
        let folder = out.join(FOLDER);
        fs::create_dir_all(&folder).map_err(named(&folder))?;
        Ok(Self { folder })
    }

    /// The entry of this name and hash, if it is there.
    pub fn find(&self, name: &str, hash: u64) -> Result<Option<PathBuf>, String> {
        let entry = self.place(name, hash);
        let used = entry.join(USED);
        match fs::File::options().write(true).open(&used) {
            Ok(file) => file.set_modified(SystemTime::now()).map_err(named(&used))?,
            Err(_) => return Ok(None),
        }
        Ok(Some(entry))
    }

    /// The entry of this name and hash, filled. It is there as a whole or not at all, whoever else makes it.
    pub fn make(
        &self,
        name: &str,
        hash: u64,
        fill: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let entry = self.place(name, hash);
        let begun = self.folder.join(format!("{name}-{hash:016x}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&begun);
        fs::create_dir_all(&begun).map_err(named(&begun))?;
        fill(&begun)?;
        fs::write(begun.join(USED), "").map_err(named(&begun))?;
        match fs::rename(&begun, &entry) {
            Err(_) if entry.join(USED).exists() => fs::remove_dir_all(&begun).map_err(named(&begun))?,
            renamed => renamed.map_err(named(&entry))?,
        }
        Ok(entry)
    }

    /// Removes what no build has used for long.
    pub fn forget_unused(&self) -> Result<(), String> {
        let now = SystemTime::now();
        for entry in read_dir(&self.folder)? {
            let of = |path: &Path| fs::metadata(path).and_then(|about| about.modified());
            // What was begun and not ended has none.
            let used = of(&entry.join(USED)).or_else(|_| of(&entry));
            let is_old = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|since| since > UNUSED));
            if is_old {
                fs::remove_dir_all(&entry).map_err(named(&entry))?;
            }
        }
        Ok(())
    }

    fn place(&self, name: &str, hash: u64) -> PathBuf {
        self.folder.join(format!("{name}-{hash:016x}"))
    }
}
