//! A cache of compiled kernels, kept for the next program of the same tenant and nobody else: kernels are code, and
//! whoever could write another tenant's would run in its process.
//!
//! A worker's folder may be on a file system that only the worker sees, so files are copied, by an open folder.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, mkdirat, open, openat, unlinkat};

use crate::home::remove;

/// Kernels of tenants.
#[derive(Debug)]
pub(super) struct KernelCache {
    folder: PathBuf,
    /// In the order in which they were kept.
    kept: Mutex<VecDeque<(String, Arc<Kept>)>>,
    next: AtomicU64,
}

/// A tenant's folder, removed when nobody copies from it any more.
#[derive(Debug)]
struct Kept(PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        let Self(folder) = self;
        let _ = remove(folder); // Else it goes with the others.
    }
}

/// Most tenants whose kernels are kept.
const KEPT_MAX: usize = 64;

/// Most bytes of a tenant that are kept: with all tenants 2 GiB of the disk.
const BYTES_MAX: u64 = 32 << 20;

/// Most files and folders of a tenant that are kept.
const FILES_MAX: u64 = 8192;

/// Folders within folders; PoCL has five.
const DEPTH_MAX: u32 = 8;

impl KernelCache {
    /// An empty cache in a new folder.
    pub(super) fn new(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&folder)?;
        Ok(Self { folder, kept: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// Copies a tenant's kernels to a worker that has no client yet.
    pub(super) fn take(&self, tenant: &str, to: impl AsFd) {
        let kept = lock(&self.kept).iter().find(|(of, _)| of == tenant).map(|(_, kept)| Arc::clone(kept));
        if let Some(from) = kept.and_then(|kept| enter(&kept.0).ok()) {
            let _ = Copier::new().copy(&from, to.as_fd(), DEPTH_MAX); // Or it starts with a part.
        }
    }

    /// Keeps a tenant's kernels, whose worker has ended.
    pub(super) fn keep(&self, tenant: String, from: impl AsFd) {
        let kept = Kept(self.folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string()));
        let made = std::fs::create_dir(&kept.0).and_then(|()| enter(&kept.0));
        let Ok(to) = made else { return };
        let mut copier = Copier::new();
        if copier.copy(from.as_fd(), to.as_fd(), DEPTH_MAX).is_err() || copier.is_new() {
            return; // The disk is full, or there were no kernels.
        }
        let mut all = lock(&self.kept);
        let before = all.iter().position(|(of, _)| *of == tenant);
        let before = before.and_then(|at| all.remove(at));
        all.push_back((tenant, Arc::new(kept)));
        let oldest = if all.len() > KEPT_MAX { all.pop_front() } else { None };
        drop(all);
        drop((before, oldest)); // Removed while nobody waits.
    }
}

fn enter(folder: &Path) -> io::Result<OwnedFd> {
    Ok(open(folder, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Copies what a hostile worker may have made: files and folders only, and not too many.
struct Copier {
    bytes: u64,
    files: u64,
}

impl Copier {
    const fn new() -> Self {
        Self { bytes: BYTES_MAX, files: FILES_MAX }
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
        for entry in Dir::read_from(from)? {
            let entry = entry?;
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(source) = openat(from, name, flags, Mode::empty()) else { continue }; // It is a link.
            let what = fstat(&source)?;
            let size = u64::try_from(what.st_size).unwrap_or(u64::MAX);
            match FileType::from_raw_mode(what.st_mode) {
                FileType::Directory if depth > 0 && self.counts(0) => {
                    let _ = mkdirat(to, name, Mode::RWXU); // Or it is there.
                    self.copy(source, openat(to, name, flags | OFlags::DIRECTORY, Mode::empty())?, depth - 1)?;
                }
                FileType::RegularFile if self.counts(size) => {
                    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | flags;
                    let mut target = File::from(openat(to, name, flags, Mode::RUSR | Mode::WUSR)?);
                    let copied = io::copy(&mut File::from(source).take(size), &mut target);
                    if copied.as_ref().ok() != Some(&size) {
                        // A part of a library would crash whoever loads it.
                        unlinkat(to, name, AtFlags::empty())?;
                    }
                    copied?;
                }
                _ => {}
            }
        }
        Ok(())
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
}
