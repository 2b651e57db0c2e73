//! The newest version of each role that a card has run, so that nothing older runs there again.

use std::collections::BTreeMap;

use crate::{ROLES_MAX, Refusal, SignerId};

/// A version of a role, as its signer has signed it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// Who signed it.
    pub signer: SignerId,
    /// The role's name, as the image's manifest has it.
    pub role: String,
    /// Which version.
    pub version: u64,
}

/// The newest versions that a card has run. Its board keeps them over restarts.
///
/// Each signer counts for itself and for each role, so no signer stands in another's way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    newest: BTreeMap<SignerId, BTreeMap<String, u64>>,
}

impl Versions {
    /// The newest version of this role that has run; 0 before the first.
    pub fn newest(&self, signer: &SignerId, role: &str) -> u64 {
        self.newest.get(signer).and_then(|roles| roles.get(role)).copied().unwrap_or(0)
    }

    /// Whether this may run after all that has.
    ///
    /// # Errors
    /// [`Refusal::Older`], and [`Refusal::Full`] if there is no room to remember it.
    pub fn check(&self, release: &Release) -> Result<(), Refusal> {
        let roles = self.newest.get(&release.signer);
        let newest = self.newest(&release.signer, &release.role);
        if release.version < newest {
            return Err(Refusal::Older { version: release.version, newest });
        }
        if newest == 0 && roles.is_some_and(|roles| roles.len() >= ROLES_MAX) {
            return Err(Refusal::Full);
        }
        Ok(())
    }

    /// This runs. True if it is newer than what ran before.
    ///
    /// # Panics
    /// If [`check`](Self::check) refuses it.
    pub fn raise(&mut self, release: &Release) -> bool {
        self.check(release).expect("it was checked");
        let roles = self.newest.entry(release.signer).or_default();
        roles.insert(release.role.clone(), release.version).is_none_or(|before| before < release.version)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Release> + '_ {
        self.newest.iter().flat_map(|(signer, roles)| {
            roles.iter().map(|(role, version)| Release { signer: *signer, role: role.clone(), version: *version })
        })
    }
}

impl FromIterator<Release> for Versions {
    /// Of a role that comes twice the newer version counts.
    fn from_iter<T: IntoIterator<Item = Release>>(releases: T) -> Self {
        let mut versions = Self::default();
        for Release { signer, role, version } in releases {
            let newest = versions.newest.entry(signer).or_default().entry(role).or_default();
            *newest = version.max(*newest);
        }
        versions
    }
}
