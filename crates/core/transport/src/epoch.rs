//! Which life of a peer a frame belongs to.

use crate::seq::is_before;

/// The epochs of the two ends of a connection. Each end names in every frame its own epoch and the newest one that it
/// knows of the other, so that each knows whether the other speaks to its present life.
///
/// A node takes a new epoch each time it starts: one that rises, or a random one below 2^30 if it cannot remember. In
/// that case a peer that remembers a later one says so, and the node moves past it. A frame of a forgotten life may
/// still be taken if it is the first that its receiver hears of that life; epochs that rise have no such gap. 0 means
/// *unknown* and is no epoch. Epochs wrap; one that is less than 2^31 behind another is older. That is no order of
/// epochs all around the circle, hence the bound on random ones.
///
/// A peer is *established* once it has named our epoch: nobody can do that who does not hear us. Until then nothing of
/// it is taken, and from then on nothing of its earlier lives.
#[derive(Debug)]
pub struct Epochs {
    local: u32,
    remote: u32,
    is_established: bool,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
}

/// What a frame's epochs mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It belongs to the present lives of both ends: take it.
    Current,
    /// It is the first of a new life of the peer: start all numbers anew, answer, and take it.
    Restarted,
    /// It belongs to an earlier life of the peer: drop it, and answer in case the peer does not know better.
    Stale,
    /// The peer does not know our present life: drop it, and answer so that the peer learns of it.
    Unheard,
    /// The peer remembers a later life of ours than this one, whose epoch has been moved past it: drop it, start all
    /// numbers anew, and answer.
    Behind,
}

impl Epochs {
    /// Nothing was heard of the peer.
    ///
    /// # Panics
    /// If `local` is 0.
    pub const fn new(local: u32) -> Self {
        assert!(local != 0);
        Self {
            local,
            remote: 0,
            is_established: false,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// Our own epoch, for every frame to this peer.
    pub const fn local(&self) -> u32 {
        self.local
    }

    /// The newest epoch known of the peer, for every frame to it; 0: unknown.
    pub const fn remote(&self) -> u32 {
        self.remote
    }

    /// True when the peer has named our present epoch.
    pub const fn is_established(&self) -> bool {
        self.is_established
    }

    /// A frame has come, with its sender's epoch and the epoch that it means us by.
    pub const fn handle(&mut self, src: u32, dst: u32) -> Verdict {
        if src == 0 {
            return Verdict::Stale;
        }
        if dst != self.local {
            // What a peer knows of us only rises, so what its present life says still holds however late it comes.
            let is_present = !self.is_established || src == self.remote;
            let is_behind = is_present && dst != 0 && is_before(self.local, dst);
            if is_behind {
                self.local = past(dst, self.local);
                self.is_established = false;
            }
            if !self.is_established && (self.remote == 0 || is_before(self.remote, src)) {
                self.remote = src;
            }
            return if is_behind { Verdict::Behind } else { Verdict::Unheard };
        }
        if self.is_established && src == self.remote {
            return Verdict::Current;
        }
        if self.is_established && is_before(src, self.remote) {
            #[cfg(feature = "planted-bugs")]
            if matches!(self.planted, Some(crate::PlantedBug::AcceptStaleEpoch)) {
                return Verdict::Current;
            }
            return Verdict::Stale;
        }
        self.remote = src;
        self.is_established = true;
        Verdict::Restarted
    }
}

/// An epoch after `other` for a life that began as `own`. Two lives may hear the same late word of a third: by steps
/// that come from their random epochs they do not meet.
const fn past(other: u32, own: u32) -> u32 {
    let next = other.wrapping_add(1 + (own & 0xFFFF));
    if next == 0 { 1 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_that_start_learn_of_each_other_and_refuse_earlier_lives() {
        let (mut a, mut b) = (Epochs::new(u32::MAX), Epochs::new(9));
        assert_eq!(b.handle(a.local(), a.remote()), Verdict::Unheard);
        assert_eq!(a.handle(b.local(), b.remote()), Verdict::Restarted);
        assert_eq!(b.handle(a.local(), a.remote()), Verdict::Restarted);
        assert_eq!(a.handle(9, u32::MAX), Verdict::Current);
        assert_eq!(a.handle(8, u32::MAX), Verdict::Stale);
        assert_eq!(a.handle(10, u32::MAX), Verdict::Restarted);
        assert_eq!(a.handle(9, u32::MAX), Verdict::Stale);
        assert_eq!(a.handle(0, u32::MAX), Verdict::Stale);
    }

    #[test]
    fn one_that_has_forgotten_its_epoch_moves_past_what_the_other_remembers() {
        let mut a = Epochs::new(5);
        assert_eq!(a.handle(u32::MAX, 5), Verdict::Restarted);
        let mut b = Epochs::new(0xFFFF_0000);
        assert_eq!(a.handle(b.local(), b.remote()), Verdict::Unheard);
        assert_eq!(b.handle(a.local(), a.remote()), Verdict::Behind);
        assert_eq!((b.local(), b.remote()), (1, 5), "0 is no epoch");
        assert_eq!(a.handle(b.local(), b.remote()), Verdict::Restarted);
        assert_eq!(b.handle(a.local(), a.remote()), Verdict::Restarted);
        // Only the peer's present life moves an established one.
        assert_eq!(b.handle(4, 77), Verdict::Unheard);
        assert_eq!((b.local(), b.is_established()), (1, true));
        assert_eq!(b.handle(5, 77), Verdict::Behind);
        assert_eq!((b.local(), b.is_established()), (79, false));
    }
}
