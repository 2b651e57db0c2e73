//! A session's objects of one kind, by the numbers that the client gave them.

use std::sync::Arc;

use rackloom_opencl_wire::Id;

use crate::code::Code;

/// Objects, or the codes with which their creation failed.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Option<Result<Arc<T>, Code>>>,
    most: u32,
    /// The code for a number that names no object.
    unknown: Code,
}

/// An invalid number: in use, unused, or above the limit. The client violates the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadNumber(pub(crate) Id);

impl<T> Table<T> {
    pub(crate) const fn new(most: u32, unknown: Code) -> Self {
        Self { slots: Vec::new(), most, unknown }
    }

    /// Stores an object, or the code with which its creation failed, under a free number.
    pub(crate) fn put(&mut self, id: Id, made: Result<T, Code>) -> Result<(), BadNumber> {
        if id >= self.most {
            return Err(BadNumber(id));
        }
        let at = id as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || None);
        }
        if self.slots[at].is_some() {
            return Err(BadNumber(id));
        }
        self.slots[at] = Some(made.map(Arc::new));
        Ok(())
    }

    /// The object of this number.
    pub(crate) fn get(&self, id: Id) -> Result<Arc<T>, Code> {
        match self.slots.get(id as usize) {
            Some(Some(made)) => made.clone(),
            _ => Err(self.unknown),
        }
    }

    /// Frees a number.
    pub(crate) fn release(&mut self, id: Id) -> Result<(), BadNumber> {
        let slot = self.slots.get_mut(id as usize).filter(|slot| slot.is_some()).ok_or(BadNumber(id))?;
        *slot = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_once_at_a_time_and_below_the_bound() {
        let mut table = Table::new(4, Code(-38));
        assert_eq!(table.put(3, Ok("a")), Ok(()));
        assert_eq!(table.put(3, Ok("b")), Err(BadNumber(3)));
        assert_eq!(table.put(4, Ok("c")), Err(BadNumber(4)));
        assert_eq!(table.put(u32::MAX, Ok("c")), Err(BadNumber(u32::MAX)));
        assert_eq!(table.get(3).as_deref(), Ok(&"a"));
        assert_eq!((table.get(2), table.get(u32::MAX)), (Err(Code(-38)), Err(Code(-38))));
        assert_eq!((table.release(3), table.release(3)), (Ok(()), Err(BadNumber(3))));
        assert_eq!(table.put(3, Err(Code(-4))), Ok(()));
        assert_eq!(table.get(3), Err(Code(-4)));
    }
}
