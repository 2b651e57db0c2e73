//! A cache of compiled kernels, kept for other programs of the same tenant and nobody else: kernels are code, and
//! whoever could write another tenant's would run in its process.
//!
//! A program finds what those before it have left, and on a processor what those that run have compiled so far. What a
//! program leaves is added to what others have left. A worker's folder may be on a file system that only the worker
//! sees, so files are copied, by an open folder.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, SystemTime};

use rackloom_sync::lock;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchown, fstat, mkdirat, open, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use crate::home::remove;

/// Kernels of tenants.
#[derive(Debug)]
pub(super) struct KernelCache {
    folder: PathBuf,
    /// In the order in which they were kept.
    kept: Mutex<VecDeque<(String, Arc<Kept>)>>,
    /// Folders of programs that run, by tenant, in the order of their starts.
    running: Mutex<Vec<(String, Weak<OwnedFd>)>>,
    next: AtomicU64,
}

/// A tenant's folder, removed when nobody copies from it any more.
#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    files: u64,
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = remove(&self.folder); // Else it goes with the others.
    }
}

/// Most tenants whose kernels are kept.
const KEPT_MAX: usize = 64;

/// Most bytes of a tenant that are kept: with all tenants 2 GiB of the disk.
const BYTES_MAX: u64 = 32 << 20;

/// Most files and folders of a tenant that are kept.
const FILES_MAX: u64 = 8192;

/// Most of all tenants: a manager that stops removes them, which takes a second for so many.
const FILES_OF_ALL: u64 = 65_536;

/// Entries of folders that are looked at for one program: a hostile one may have made many that are not copied.
const LOOKS_MAX: u64 = 4 * FILES_MAX;

/// Folders within folders; PoCL has five.
const DEPTH_MAX: u32 = 8;

/// Programs that run of which another one's kernels are taken.
const RUNNING_MAX: usize = 4;

/// How long ago a file of a program that runs must have been changed: it may be written to still.
const SETTLED: Duration = Duration::from_secs(1);

impl KernelCache {
    /// An empty cache in a new folder.
    pub(super) fn new(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(&folder)?;
        let (kept, running) = Default::default();
        Ok(Self { folder, kept, running, next: AtomicU64::new(0) })
    }

    /// Copies a tenant's kernels to a worker that has no client yet: those that were kept, and those of its programs
    /// that run.
    pub(super) fn take(&self, tenant: &str, to: impl AsFd) {
        let mut copier = Copier::new();
        if let Some(from) = self.kept(tenant).and_then(|kept| enter(&kept.folder).ok()) {
            let _ = copier.copy(&from, to.as_fd(), DEPTH_MAX); // Or it starts with a part.
        }
        copier.settled = Some(SystemTime::now() - SETTLED);
        let running: Vec<_> = {
            let running = lock(&self.running);
            let theirs = running.iter().rev().filter(|(of, _)| of == tenant);
            theirs.filter_map(|(_, folder)| folder.upgrade()).take(RUNNING_MAX).collect()
        };
        for from in running {
            let _ = copier.copy(from, to.as_fd(), DEPTH_MAX);
        }
    }

    /// Other programs of the tenant may have the kernels of this one while it runs.
    pub(super) fn share(&self, tenant: &str, folder: &Arc<OwnedFd>) {
        let mut running = lock(&self.running);
        running.retain(|(_, folder)| folder.strong_count() > 0);
        running.push((tenant.to_owned(), Arc::downgrade(folder)));
    }

    fn kept(&self, tenant: &str) -> Option<Arc<Kept>> {
        lock(&self.kept).iter().find(|(of, _)| of == tenant).map(|(_, kept)| Arc::clone(kept))
    }

    /// A tenant's kernels are kept for longer than those of others.
    fn is_used(&self, tenant: &str) {
        let mut all = lock(&self.kept);
        let found = all.iter().position(|(of, _)| of == tenant);
        let found = found.and_then(|at| all.remove(at));
        all.extend(found);
    }

    /// Keeps a tenant's kernels, whose worker has ended, and of those that were kept before as many as there is room
    /// for.
    pub(super) fn keep(&self, tenant: String, from: impl AsFd) {
        let before = self.kept(&tenant).and_then(|kept| enter(&kept.folder).ok());
        if before.as_ref().is_some_and(|before| has_all(before, &from, &mut { LOOKS_MAX }, DEPTH_MAX)) {
            return self.is_used(&tenant);
        }
        let folder = self.folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let made = std::fs::create_dir(&folder).and_then(|()| enter(&folder));
        let mut kept = Kept { folder, files: 0 };
        let Ok(to) = made else { return };
        let mut copier = Copier::new();
        if copier.copy(from.as_fd(), to.as_fd(), DEPTH_MAX).is_err() || copier.is_new() {
            return; // The disk is full, or there were no kernels.
        }
        if let Some(before) = before {
            let _ = copier.copy(before, to.as_fd(), DEPTH_MAX); // Or only the new ones are kept.
        }
        kept.files = FILES_MAX - copier.files;
        let mut all = lock(&self.kept);
        let mut gone = Vec::new();
        let before = all.iter().position(|(of, _)| *of == tenant);
        gone.extend(before.and_then(|at| all.remove(at)));
        all.push_back((tenant, Arc::new(kept)));
        let files = |all: &VecDeque<(String, Arc<Kept>)>| all.iter().map(|(_, kept)| kept.files).sum::<u64>();
        while all.len() > KEPT_MAX || files(&all) > FILES_OF_ALL {
            gone.extend(all.pop_front());
        }
        drop(all);
        drop(gone); // Removed while nobody waits.
    }
}

/// Copies to a worker what another one of its tenant had compiled when a build of that one ended, on a processor. Files
/// that were changed later may be written to still.
pub(super) fn pass_on(from: impl AsFd, to: impl AsFd, built: SystemTime) {
    let mut copier = Copier::new();
    copier.settled = Some(built);
    let _ = copier.copy(from, to, DEPTH_MAX); // Or it compiles.
}

fn enter(folder: &Path) -> io::Result<OwnedFd> {
    Ok(open(folder, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Whether a folder has all files of another one that would be copied, as far as names and lengths tell: a runtime
/// names them by what they are made from.
fn has_all(kept: &impl AsFd, from: &impl AsFd, looks: &mut u64, depth: u32) -> bool {
    let Ok(entries) = Dir::read_from(from) else { return true };
    for entry in entries {
        let (Ok(entry), Some(left)) = (entry, looks.checked_sub(1)) else { return false };
        *looks = left;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let status = |folder: BorrowedFd<'_>| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let Some(found) = status(from.as_fd()) else { continue };
        let there = status(kept.as_fd()).filter(|there| there.st_mode & libc::S_IFMT == found.st_mode & libc::S_IFMT);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let enter = |folder: BorrowedFd<'_>| openat(folder, name, flags, Mode::empty());
        let is_there = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory if depth > 0 && there.is_some() => {
                let (Ok(kept), Ok(from)) = (enter(kept.as_fd()), enter(from.as_fd())) else { return false };
                has_all(&kept, &from, looks, depth - 1)
            }
            FileType::Directory if depth > 0 => false,
            FileType::RegularFile => found.st_size == 0 || there.is_some_and(|there| there.st_size == found.st_size),
            _ => true,
        };
        if !is_there {
            return false;
        }
    }
    true
}

/// Copies what a hostile worker may have made: files and folders only, and not too many. What is there already stays.
struct Copier {
    bytes: u64,
    files: u64,
    looks: u64,
    /// Only files that have not changed since then.
    settled: Option<SystemTime>,
}

impl Copier {
    const fn new() -> Self {
        Self { bytes: BYTES_MAX, files: FILES_MAX, looks: LOOKS_MAX, settled: None }
    }

    const fn is_new(&self) -> bool {
        self.files == FILES_MAX
    }

    /// Counts one more; whether that is within the bounds. Files are kept whole or not at all.
    fn counts(&mut self, bytes: u64) -> bool {
        let left = (self.files.checked_sub(1), self.bytes.checked_sub(bytes));
        let (Some(files), Some(bytes)) = left else { return false };
        (self.files, self.bytes) = (files, bytes);
        true
    }

    fn copy(&mut self, from: impl AsFd, to: impl AsFd, depth: u32) -> io::Result<()> {
        let (from, to) = (from.as_fd(), to.as_fd());
        let (giver, owner) = (fstat(from)?.st_uid, fstat(to)?);
        // A folder's files are its owner's: a worker may be a user of its own.
        let give = |file: BorrowedFd<'_>| match owner.st_uid == rustix::process::geteuid().as_raw() {
            true => Ok(()),
            false => fchown(file, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid))),
        };
        for entry in Dir::read_from(from)? {
            let Some(looks) = self.looks.checked_sub(1) else { return Ok(()) };
            self.looks = looks;
            let entry = entry?;
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(source) = openat(from, name, flags, Mode::empty()) else { continue }; // It is a link.
            let is_there = statat(to, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
            let found = fstat(&source)?;
            if found.st_uid != giver {
                continue; // A link to what the worker could not read.
            }
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory if depth > 0 && (is_there || self.counts(0)) => {
                    let is_new = mkdirat(to, name, Mode::RWXU).is_ok(); // Or it is there.
                    // Else what is there is a file.
                    if let Ok(target) = openat(to, name, flags | OFlags::DIRECTORY, Mode::empty()) {
                        if is_new {
                            give(target.as_fd())?;
                        }
                        self.copy(source, target, depth - 1)?;
                    }
                }
                FileType::RegularFile if !is_there => self.copy_file(File::from(source), to, name, give)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn copy_file(
        &mut self,
        source: File,
        to: impl AsFd,
        name: &CStr,
        give: impl Fn(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> io::Result<()> {
        let before = source.metadata()?;
        let is_settled = |changed: SystemTime| self.settled.is_none_or(|settled| changed <= settled);
        // PoCL leaves an empty file for each build.
        if before.len() == 0 || !is_settled(before.modified()?) || !self.counts(before.len()) {
            return Ok(());
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut target = File::from(openat(to.as_fd(), name, flags, Mode::RUSR | Mode::WUSR)?);
        give(target.as_fd())?;
        let copied = io::copy(&mut (&source).take(before.len()), &mut target);
        let is_same = source.metadata()?.modified()? == before.modified()?;
        if copied.as_ref().ok() != Some(&before.len()) || !is_same {
            // A part of a library would crash whoever loads it.
            unlinkat(to, name, AtFlags::empty())?;
        }
        copied.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, KernelCache) {
        let place = tempfile::tempdir().unwrap();
        let kernels = KernelCache::new(place.path().join("kernels")).unwrap();
        (place, kernels)
    }

    #[test]
    fn each_tenant_has_what_it_has_left() {
        let (place, kernels) = cache();
        let work = |tenant: &str, adds: &str| {
            let own = place.path().join("own");
            std::fs::create_dir(&own).unwrap();
            std::fs::write(own.join("tried"), "").unwrap();
            kernels.take(tenant, enter(&own).unwrap());
            let _ = std::fs::remove_file(own.join("tried"));
            let mut found: Vec<_> = own.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
            found.sort();
            std::fs::write(own.join(adds), "code").unwrap();
            kernels.keep(tenant.to_owned(), enter(&own).unwrap());
            std::fs::remove_dir_all(own).unwrap();
            found.iter().map(|name| name.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(work("a", "one").is_empty() && work("b", "two").is_empty());
        assert_eq!(work("a", "three"), ["one"]);
        assert_eq!(work("a", "four"), ["one", "three"]);
        assert_eq!(work("b", "five"), ["two"]);
        for other in 0..KEPT_MAX {
            assert!(work(&format!("other/{other}"), "x").is_empty());
        }
        assert!(work("a", "six").is_empty(), "long ago");
        let folders = || kernels.folder.read_dir().unwrap().count();
        assert_eq!(folders(), KEPT_MAX);
        work("a", "seven");
        assert_eq!(folders(), KEPT_MAX, "the last of two stays");
    }

    #[test]
    fn what_is_kept_already_is_not_written_again() {
        let (place, kernels) = cache();
        let folder = || kernels.kept("a").unwrap().folder.clone();
        let keeps = |own| kernels.keep("a".to_owned(), own);
        keeps(program(place.path(), "1", &["x/one", "x/y/two"]));
        let first = folder();
        keeps(program(place.path(), "2", &["x/one", "x/y/two"]));
        keeps(program(place.path(), "3", &["x/one"]));
        assert_eq!(folder(), first);
        keeps(program(place.path(), "4", &["x/three"]));
        assert_ne!(folder(), first);
        let own = program(place.path(), "5", &["x/one"]);
        std::fs::write(place.path().join("5/x/one"), "one that is longer").unwrap();
        std::fs::write(place.path().join("5/tempfile_c1uCHp"), "").unwrap();
        keeps(own);
        assert_eq!(files(&folder()), ["one that is longer", "x/three", "x/y/two"]);
        std::fs::write(place.path().join("5/tempfile_oNdHgf"), "").unwrap();
        let before = folder();
        keeps(Arc::new(enter(&place.path().join("5")).unwrap()));
        assert_eq!(folder(), before, "empty files are no kernels");
        // It counts as one that was used, beside tenants that came later.
        for other in 0..KEPT_MAX - 1 {
            kernels.keep(other.to_string(), program(place.path(), &format!("other-{other}"), &["x"]));
        }
        keeps(program(place.path(), "6", &["x/three"]));
        kernels.keep("new".to_owned(), program(place.path(), "new", &["x"]));
        assert!(kernels.kept("a").is_some() && kernels.kept("0").is_none());
    }

    #[test]
    fn what_a_hostile_worker_left_is_bounded_and_no_link_is_followed() {
        let (place, kernels) = cache();
        let own = place.path().join("own");
        let deep = own.join("d/".repeat(DEPTH_MAX as usize + 3));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("file"), "x").unwrap();
        std::fs::write(own.join("d/file"), "code").unwrap();
        std::fs::write(place.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret"), own.join("link")).unwrap();
        std::os::unix::fs::symlink(place.path(), own.join("folder")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, own.join("pipe"), Mode::RWXU).unwrap();
        File::create(own.join("large")).unwrap().set_len(BYTES_MAX + 1).unwrap();
        kernels.keep("a".to_owned(), enter(&own).unwrap());
        let next = place.path().join("next");
        std::fs::create_dir(&next).unwrap();
        kernels.take("a", enter(&next).unwrap());
        let names: Vec<_> = next.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["d"]);
        assert_eq!(std::fs::read(next.join("d/file")).unwrap(), b"code");
        let depth = std::iter::successors(Some(next), |at| Some(at.join("d")).filter(|at| at.exists())).count();
        assert_eq!(depth as u32, DEPTH_MAX + 1);
    }

    /// The folder of a program, with these files.
    fn program(place: &Path, name: &str, files: &[&str]) -> Arc<OwnedFd> {
        let own = place.join(name);
        std::fs::create_dir(&own).unwrap();
        for file in files {
            let path = own.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, *file).unwrap();
        }
        Arc::new(enter(&own).unwrap())
    }

    /// The files in a folder and below, with their bytes.
    fn files(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => found.extend(files(&entry)),
                false => found.push(std::fs::read_to_string(entry).unwrap()),
            }
        }
        found.sort();
        found
    }

    #[test]
    fn programs_that_ran_at_the_same_time_both_leave_theirs() {
        let (place, kernels) = cache();
        let [one, two] = [("one", ["a/x", "a/y", "c"]), ("two", ["a/x", "b/z", "c"])]
            .map(|(name, files)| program(place.path(), name, &files));
        std::fs::write(place.path().join("two/c"), "newer").unwrap();
        kernels.keep("t".to_owned(), &one);
        kernels.keep("t".to_owned(), &two);
        kernels.keep("other".to_owned(), program(place.path(), "third", &["secret"]));
        kernels.take("t", program(place.path(), "next", &[]));
        assert_eq!(files(&place.path().join("next")), ["a/x", "a/y", "b/z", "newer"]);
        // What is new comes first where there is no room for all.
        let large = program(place.path(), "large", &[]);
        File::create(place.path().join("large/large")).unwrap().set_len(BYTES_MAX - 4).unwrap();
        kernels.keep("t".to_owned(), &large);
        kernels.take("t", program(place.path(), "last", &[]));
        let lengths =
            place.path().join("last").read_dir().unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        assert!(lengths.filter(|len| *len == BYTES_MAX - 4).count() == 1);
        assert_eq!(kernels.folder.read_dir().unwrap().count(), 2, "one for each tenant");
    }

    #[test]
    fn a_program_finds_what_others_of_its_tenant_have_compiled_so_far() {
        let (place, kernels) = cache();
        let old = |name: &str| {
            let file = File::options().write(true).open(place.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
        };
        let runs = program(place.path(), "runs", &["a/x", "a/written"]);
        old("runs/a/x");
        kernels.share("t", &runs);
        let others = program(place.path(), "others", &["secret"]);
        old("others/secret");
        kernels.share("other", &others);
        for name in ["first", "second"] {
            kernels.take("t", program(place.path(), name, &[]));
            assert_eq!(files(&place.path().join(name)), ["a/x"], "what is settled");
        }
        drop(runs);
        kernels.take("t", program(place.path(), "third", &[]));
        assert!(files(&place.path().join("third")).is_empty(), "it has ended");
    }

    #[test]
    fn all_tenants_together_are_bounded() {
        let (place, kernels) = cache();
        let own = program(place.path(), "own", &[]);
        for number in 0..FILES_MAX {
            std::fs::write(place.path().join(format!("own/{number}")), "x").unwrap();
        }
        for tenant in 0..=FILES_OF_ALL / FILES_MAX {
            kernels.keep(tenant.to_string(), &own);
        }
        let kept: Vec<_> = lock(&kernels.kept).iter().map(|(tenant, kept)| (tenant.clone(), kept.files)).collect();
        let last = (1..=FILES_OF_ALL / FILES_MAX).map(|tenant| (tenant.to_string(), FILES_MAX));
        assert_eq!(kept, last.collect::<Vec<_>>());
    }
}
