//! A user and group of its own for each worker, where the manager is root: no file, process or socket of anybody is
//! that user's, so what Landlock and the namespaces do not forbid, or a fault in them lets through, is forbidden by
//! ownership still.
//!
//! The number follows from the keeper's process id, which no other process of this namespace has at the same time:
//! workers of one manager never share one, nor do those of managers side by side. Managers in several containers may
//! give the same number, if the containers share the machine's users; their workers are kept apart by all the rest.
//!
//! The worker becomes that user before it reads its first message, and has a namespace of users besides, if the system
//! allows it, where nobody else is.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use rustix::process::{DumpableBehavior, Gid, Uid};
use rustix::thread::UnshareFlags;

/// The environment variable that asks a keeper for one: the groups of device files, as numbers with spaces between.
pub(super) const USER: &str = "RACKLOOM_WORKER_USER";

/// The first number. Distributions, systemd and tools for containers assign none from here to 0x7fff_ffff (UAPI group,
/// *Users, Groups, UIDs and GIDs on systemd Systems*).
const FIRST: u32 = 0x7000_0000;

/// Process ids are less on any Linux.
const NUMBERS: u32 = 1 << 22;

/// Names in `/dev` of the files of devices that compute, and of folders with such: a worker of another user is a member
/// of the groups that may use them, as a user of the device would be.
const DEVICES: [&str; 6] = ["accel", "dri", "dxg", "kfd", "mali", "nvidia"];

/// A worker's user and group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnUser {
    number: u32,
    /// Other groups that it is a member of.
    groups: Vec<u32>,
}

/// Whether this process can give users to workers whose folders are below this one: it is root, the numbers exist in
/// its namespace of users, and everybody may pass through the folders above.
pub(super) fn can_be_given(below: &Path) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/gid_map").unwrap_or_default();
    let is_open = |folder: &Path| fs::metadata(folder).is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    rustix::process::geteuid().is_root()
        && has_numbers(&map)
        && has_numbers(&groups)
        && below.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).all(is_open)
}

/// Whether a namespace of users with this map has all numbers.
fn has_numbers(map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map_while(|word| word.parse::<u64>().ok());
        let (Some(first), Some(_), Some(count)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return false;
        };
        first <= FIRST.into() && u64::from(FIRST) + u64::from(NUMBERS) <= first + count
    })
}

/// What to ask a keeper for, if its worker uses a device that is no processor or one that is.
pub(super) fn request(is_processor: bool) -> OsString {
    let groups = if is_processor { Vec::new() } else { groups_of_devices(Path::new("/dev")) };
    groups.iter().map(u32::to_string).collect::<Vec<_>>().join(" ").into()
}

/// The groups that may use devices by files in this folder, other than root's.
fn groups_of_devices(folder: &Path) -> Vec<u32> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_device = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        DEVICES.iter().any(|device| name.starts_with(device))
    };
    let named = entries(folder.to_owned()).filter(is_device);
    let files = named.flat_map(|path| entries(path.clone()).chain([path]).collect::<Vec<_>>());
    let usable = files.filter_map(|path| path.symlink_metadata().ok()).filter(|data| {
        data.file_type().is_char_device() && data.permissions().mode() & 0o060 == 0o060 && data.gid() != 0
    });
    let mut groups: Vec<_> = usable.map(|data| data.gid()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

impl OwnUser {
    /// That of this keeper's worker, if the manager asks for one.
    pub(super) fn of_this_keeper() -> Option<Self> {
        let asked = std::env::var_os(USER)?;
        let number = FIRST + rustix::process::getpid().as_raw_nonzero().get().unsigned_abs() % NUMBERS;
        let groups = asked.to_string_lossy().split_whitespace().map_while(|word| word.parse().ok()).collect();
        Some(Self { number, groups })
    }

    /// Makes it the owner of a file or folder.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(super) fn own(&self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.number), Some(self.number))
    }

    /// Makes it the user of this process, which has one thread; root's capabilities end with that.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(super) fn become_it(&self) -> io::Result<()> {
        let groups: Vec<_> = self.groups.iter().map(|group| Gid::from_raw(*group)).collect();
        let (user, group) = (Uid::from_raw(self.number), Gid::from_raw(self.number));
        rustix::thread::set_thread_groups(&groups)?;
        rustix::thread::set_thread_res_gid(group, group, group)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
        // The next one needs its own files in `/proc`. No other process has this user, so none can look.
        rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        let _ = self.be_alone(); // Or the machine's users stay in sight. None of them is this one.
        Ok(())
    }

    /// Gives this process a namespace of users in which it is the only one.
    fn be_alone(&self) -> io::Result<()> {
        // SAFETY: this process has one thread, and shares no files with others.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", self.number))?;
        fs::write("/proc/self/gid_map", format!("{0} {0} 1", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_had_where_the_whole_range_is_mapped() {
        assert!(has_numbers("         0          0 4294967295\n"));
        assert!(has_numbers("0 100000 65536\n1879048192 7 4194304\n"));
        for map in ["", "0 100000 65536", "0 0 1879048193", "1879048193 0 4194304", "0 0", "x y z"] {
            assert!(!has_numbers(map), "{map}");
        }
    }

    #[test]
    fn the_way_to_a_folder_must_be_open_to_all() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        fs::create_dir_all(&folder).unwrap();
        let open = |mode| fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
        open(0o700);
        assert!(!can_be_given(&folder));
        open(0o711);
        let map = fs::read_to_string("/proc/self/uid_map").unwrap();
        assert_eq!(can_be_given(&folder), rustix::process::geteuid().is_root() && has_numbers(&map));
    }

    #[test]
    fn files_that_are_no_devices_give_no_group() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("dri")).unwrap();
        fs::write(place.path().join("dri/card0"), "").unwrap();
        fs::write(place.path().join("nvidia0"), "").unwrap();
        assert!(groups_of_devices(place.path()).is_empty());
    }
}
