//! The same operation on many cards.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use rackloom_wire::MacAddr;

use crate::{Error, Pending};

/// One operation per card, all in progress at once.
#[derive(Debug)]
#[must_use = "the operations' errors are reported only here"]
pub struct Batch<T> {
    cards: Vec<(MacAddr, Slot<T>)>,
}

#[derive(Debug)]
enum Slot<T> {
    Pending(Pending<T>),
    Done(Result<T, Error>),
}

impl<T> Batch<T> {
    pub(crate) fn new(cards: impl Iterator<Item = (MacAddr, Pending<T>)>) -> Self {
        Self { cards: cards.map(|(card, pending)| (card, Slot::Pending(pending))).collect() }
    }

    /// Blocks until all have ended; returns each result, in the order of the cards.
    pub fn wait(self) -> Vec<(MacAddr, Result<T, Error>)> {
        let end = |slot| match slot {
            Slot::Pending(pending) => pending.wait(),
            Slot::Done(result) => result,
        };
        self.cards.into_iter().map(|(card, slot)| (card, end(slot))).collect()
    }

    /// Blocks until all have ended; returns the values if none failed.
    ///
    /// # Errors
    /// The error of the first card that failed.
    pub fn wait_all(self) -> Result<Vec<T>, Error> {
        self.wait().into_iter().map(|(_, result)| result).collect()
    }
}

impl<T: Unpin> Future for Batch<T> {
    type Output = Vec<(MacAddr, Result<T, Error>)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut waiting = false;
        for (_, slot) in &mut self.cards {
            if let Slot::Pending(pending) = slot {
                match Pin::new(pending).poll(context) {
                    Poll::Ready(result) => *slot = Slot::Done(result),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            return Poll::Pending;
        }
        Poll::Ready(std::mem::replace(&mut *self, Self { cards: Vec::new() }).wait())
    }
}
