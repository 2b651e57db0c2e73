//! Handles: numbers that C programs have instead of what they name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;

use crate::failure::Failure;

/// What the handles of one kind name. No number is given twice, so one that was freed names nothing.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    what: &'static str,
    named: Mutex<(usize, BTreeMap<usize, Arc<T>>)>,
}

impl<T> Handles<T> {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, named: Mutex::new((1, BTreeMap::new())) }
    }

    pub(crate) fn add(&self, value: T) -> usize {
        let mut named = lock(&self.named);
        let number = named.0;
        named.0 += 1;
        named.1.insert(number, Arc::new(value));
        number
    }

    pub(crate) fn get(&self, number: usize) -> Result<Arc<T>, Failure> {
        lock(&self.named).1.get(&number).map(Arc::clone).ok_or_else(|| self.none())
    }

    pub(crate) fn remove(&self, number: usize) -> Result<Arc<T>, Failure> {
        lock(&self.named).1.remove(&number).ok_or_else(|| self.none())
    }

    fn none(&self) -> Failure {
        Failure::Invalid(format!("the handle names no {}: it was freed, or never made", self.what))
    }
}
