//! The client's view of a buffer whose content is the board's own memory: mapping and unmapping move bytes between the
//! two, and do nothing where both are equal already.
#![allow(unsafe_code)]

use std::sync::Mutex;

use opencl_sys::{CL_INVALID_VALUE, CL_MAP_FAILURE, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION};
use rackloom_ipc::Given;
use rackloom_sync::lock;

use crate::code::Code;

/// Memory of a buffer's size that its client sees.
#[derive(Debug)]
pub(super) struct Mirror {
    pub(super) place: Given,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    size: u64,
    /// All of it equals the board's content, but for what the client writes to what it has mapped.
    is_current: bool,
    maps: Vec<Map>,
}

/// A mapped range.
#[derive(Debug, PartialEq, Eq)]
struct Map {
    offset: u64,
    len: u64,
    writes: bool,
}

/// Most ranges mapped at a time: programs map a few, and each costs memory here.
const MAPS_MAX: usize = 4096;

/// What to do with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Nothing.
    Nothing,
    /// Read it from the board, or write it to the board.
    Bytes,
}

impl Mirror {
    pub(super) fn new(place: Given) -> Self {
        let state = Mutex::new(State { size: place.len() as u64, is_current: false, maps: Vec::new() });
        Self { place, state }
    }

    /// A range is mapped, in the order of the stream.
    ///
    /// # Errors
    /// Too many are.
    pub(super) fn map(&self, flags: u64, offset: u64, len: u64) -> Result<Move, Code> {
        lock(&self.state).map(flags, offset, len)
    }

    /// A mapped range is given back, in the order of the stream.
    ///
    /// # Errors
    /// It is not mapped.
    pub(super) fn unmap(&self, offset: u64, len: u64) -> Result<Move, Code> {
        lock(&self.state).unmap(offset, len)
    }

    /// The board's content changes, or may have.
    pub(super) fn is_outdated(&self) {
        lock(&self.state).is_current = false;
    }

    /// The address of a range.
    ///
    /// # Errors
    /// It is outside.
    pub(super) fn at(&self, offset: u64, len: u64) -> Result<*mut u8, Code> {
        let within = offset.checked_add(len).is_some_and(|end| end <= self.place.len() as u64);
        // SAFETY: within the place.
        if within { Ok(unsafe { self.place.as_mut_ptr().add(offset as usize) }) } else { Err(Code(CL_INVALID_VALUE)) }
    }
}

impl State {
    fn map(&mut self, flags: u64, offset: u64, len: u64) -> Result<Move, Code> {
        if self.maps.len() >= MAPS_MAX {
            return Err(Code(CL_MAP_FAILURE));
        }
        let writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
        self.maps.push(Map { offset, len, writes });
        let wants_content = flags & (CL_MAP_READ | CL_MAP_WRITE) != 0;
        if self.is_current || !wants_content {
            return Ok(Move::Nothing);
        }
        self.is_current = self.is_whole(offset, len);
        Ok(Move::Bytes)
    }

    fn unmap(&mut self, offset: u64, len: u64) -> Result<Move, Code> {
        let at = self.maps.iter().rposition(|map| (map.offset, map.len) == (offset, len));
        let map = self.maps.remove(at.ok_or(Code(CL_INVALID_VALUE))?);
        if !map.writes {
            return Ok(Move::Nothing);
        }
        self.is_current |= self.is_whole(offset, len);
        Ok(Move::Bytes)
    }

    const fn is_whole(&self, offset: u64, len: u64) -> bool {
        offset == 0 && len == self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 100;

    fn state() -> State {
        State { size: SIZE, is_current: false, maps: Vec::new() }
    }

    #[test]
    fn bytes_move_only_where_the_sides_may_differ() {
        let mut state = state();
        assert_eq!(state.map(CL_MAP_READ, 0, 10), Ok(Move::Bytes));
        assert_eq!(state.unmap(0, 10), Ok(Move::Nothing), "it was read only");
        assert_eq!(state.map(CL_MAP_READ, 0, 10), Ok(Move::Bytes), "the rest was never read");
        assert_eq!(state.map(CL_MAP_WRITE, 0, SIZE), Ok(Move::Bytes));
        assert_eq!(state.unmap(0, SIZE), Ok(Move::Bytes));
        assert_eq!(state.map(CL_MAP_READ | CL_MAP_WRITE, 5, 10), Ok(Move::Nothing), "all is equal");
        assert_eq!(state.unmap(5, 10), Ok(Move::Bytes), "it may have been written");
        assert_eq!(state.unmap(5, 10), Err(Code(CL_INVALID_VALUE)), "it is not mapped");
        state.is_current = false;
        assert_eq!(state.map(CL_MAP_WRITE_INVALIDATE_REGION, 0, SIZE), Ok(Move::Nothing));
        assert_eq!(state.unmap(0, SIZE), Ok(Move::Bytes));
        assert!(state.is_current, "what is written is all there is");
    }

    #[test]
    fn ranges_are_counted() {
        let mut state = state();
        let maps = (0..MAPS_MAX).filter(|_| state.map(CL_MAP_READ, 0, 1).is_ok());
        assert_eq!(maps.count(), MAPS_MAX);
        assert_eq!(state.map(CL_MAP_READ, 0, 1), Err(Code(CL_MAP_FAILURE)));
        assert!(state.unmap(0, 1).is_ok() && state.map(CL_MAP_READ, 0, 1).is_ok());
    }
}
