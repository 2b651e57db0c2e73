//! A cache of compiled kernels, kept for the next program of the same tenant and nobody else: kernels are code, and
//! whoever could write another tenant's would run in its process.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rackloom_sync::lock;

/// Kernel folders of tenants that have no worker at the moment.
#[derive(Debug)]
pub(super) struct KernelCache {
    folder: PathBuf,
    /// In the order in which they were kept.
    kept: Mutex<VecDeque<(String, PathBuf)>>,
    next: AtomicU64,
}

/// Most tenants whose kernels are kept.
const KEPT_MAX: usize = 64;

impl KernelCache {
    /// An empty cache in a new folder.
    pub(super) fn new(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&folder)?;
        Ok(Self { folder, kept: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// Moves a tenant's folder to `to`, over the one there, in which a runtime has tried whether it can write. A second
    /// worker of the tenant starts without kernels.
    pub(super) fn take(&self, tenant: &str, to: &Path) {
        let mut kept = lock(&self.kept);
        let Some(at) = kept.iter().position(|(of, _)| of == tenant) else { return };
        let (_, from) = kept.remove(at).expect("found above");
        drop(kept);
        // Or it starts without.
        let _ = std::fs::remove_dir_all(to).and_then(|()| std::fs::rename(from, to));
    }

    /// Keeps a tenant's folder, whose worker has ended.
    pub(super) fn keep(&self, tenant: String, from: &Path) {
        let to = self.folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        if std::fs::rename(from, &to).is_err() {
            return; // Full, or the worker has left none.
        }
        let mut kept = lock(&self.kept);
        let before = kept.iter().position(|(of, _)| *of == tenant);
        let before = before.and_then(|at| kept.remove(at));
        kept.push_back((tenant, to));
        let oldest = if kept.len() > KEPT_MAX { kept.pop_front() } else { None };
        drop(kept);
        for (_, folder) in before.into_iter().chain(oldest) {
            let _ = std::fs::remove_dir_all(folder); // Else it goes with the others.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tenant_has_what_it_has_left() {
        let place = tempfile::tempdir().unwrap();
        let kernels = KernelCache::new(place.path().join("kernels")).unwrap();
        let work = |tenant: &str, adds: &str| {
            let own = place.path().join("own");
            std::fs::create_dir(&own).unwrap();
            std::fs::write(own.join("tried"), "").unwrap();
            kernels.take(tenant, &own);
            let _ = std::fs::remove_file(own.join("tried"));
            let mut found: Vec<_> = own.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
            found.sort();
            std::fs::write(own.join(adds), "code").unwrap();
            kernels.keep(tenant.to_owned(), &own);
            assert!(!own.exists());
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
        let (first, second) = (place.path().join("first"), place.path().join("second"));
        [&first, &second].iter().for_each(|own| std::fs::create_dir(own).unwrap());
        [&first, &second].iter().for_each(|own| kernels.keep("a".to_owned(), own));
        assert_eq!(folders(), KEPT_MAX, "the last of two that ran at the same time stays");
    }
}
