//! The allocator of spans in arenas. The server does not see it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::limits::ARENA_KEEP;
use crate::sys::map::Mapping;

/// An arena that the server created.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    pub(super) id: u32,
    pub(super) map: Arc<Mapping>,
}

/// A part of an arena, aligned to [`ALIGN`].
#[derive(Debug)]
pub(super) struct Span {
    pub(super) arena: Arena,
    pub(super) offset: u64,
    len: u64,
}

/// The arenas and the gaps in them.
#[derive(Debug, Default)]
pub(super) struct Spans {
    arenas: Vec<Gaps>,
}

#[derive(Debug)]
struct Gaps {
    arena: Arena,
    /// Offset and length of each gap; no two touch.
    free: BTreeMap<u64, u64>,
}

/// Spans begin and end at multiples of this, which suits every vector type and device.
const ALIGN: u64 = 128;

/// Bytes that a span of `len` takes; `None` on overflow.
pub(super) const fn rounded(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(ALIGN)
}

impl Spans {
    /// The first gap that is long enough.
    pub(super) fn take(&mut self, len: u64) -> Option<Span> {
        let len = rounded(len)?;
        for gaps in &mut self.arenas {
            if let Some((&offset, &gap)) = gaps.free.iter().find(|(_, gap)| **gap >= len) {
                gaps.free.remove(&offset);
                if gap > len {
                    gaps.free.insert(offset + len, gap - len);
                }
                return Some(Span { arena: gaps.arena.clone(), offset, len });
            }
        }
        None
    }

    /// Bytes of all arenas.
    pub(super) fn bytes(&self) -> u64 {
        self.arenas.iter().map(|gaps| gaps.arena.map.len() as u64).sum()
    }

    /// Adds an empty arena.
    pub(super) fn add(&mut self, arena: Arena) {
        let free = BTreeMap::from([(0, arena.map.len() as u64)]);
        self.arenas.push(Gaps { arena, free });
    }

    /// Frees a span. Returns the arena to give back to the server, if enough others are empty.
    pub(super) fn put(&mut self, span: &Span) -> Option<u32> {
        let gaps = self.arenas.iter_mut().find(|g| g.arena.id == span.arena.id)?;
        let (mut start, mut end) = (span.offset, span.offset + span.len);
        if let Some((&before, &len)) = gaps.free.range(..start).next_back()
            && before + len == start
        {
            gaps.free.remove(&before);
            start = before;
        }
        if let Some(len) = gaps.free.remove(&end) {
            end += len;
        }
        gaps.free.insert(start, end - start);
        let empty: u64 = self.arenas.iter().filter(|g| g.is_empty()).map(|g| g.arena.map.len() as u64).sum();
        let at = self.arenas.iter().position(|g| g.arena.id == span.arena.id && g.is_empty())?;
        (empty > ARENA_KEEP).then(|| self.arenas.swap_remove(at).arena.id)
    }

    /// Removes an empty arena, to give back so that another fits.
    pub(super) fn spare(&mut self) -> Option<u32> {
        let at = self.arenas.iter().position(Gaps::is_empty)?;
        Some(self.arenas.swap_remove(at).arena.id)
    }
}

impl Gaps {
    fn is_empty(&self) -> bool {
        self.free.get(&0) == Some(&(self.arena.map.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::map;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spans_never_overlap_and_all_space_comes_back(
            acts in prop::collection::vec((any::<bool>(), 1..9000u64, any::<prop::sample::Index>()), 1..200),
        ) {
            let mut spans = Spans::default();
            let file = map::create(1 << 16).unwrap();
            spans.add(Arena { id: 1, map: Arc::new(Mapping::new(&file, 1 << 16).unwrap()) });
            let mut held: Vec<Span> = Vec::new();
            for (take, len, index) in acts {
                if take {
                    if let Some(span) = spans.take(len) {
                        prop_assert!(span.offset % ALIGN == 0 && span.len >= len && span.offset + span.len <= 1 << 16);
                        for other in &held {
                            let apart = |a: &Span, b: &Span| a.offset + a.len <= b.offset;
                            prop_assert!(apart(&span, other) || apart(other, &span));
                        }
                        held.push(span);
                    }
                } else if !held.is_empty() {
                    let span = held.swap_remove(index.index(held.len()));
                    prop_assert_eq!(spans.put(&span), None);
                }
            }
            held.iter().for_each(|span| assert_eq!(spans.put(span), None));
            prop_assert!(spans.take(1 << 16).is_some(), "the whole arena is one gap again");
            prop_assert!(spans.take(1).is_none());
        }
    }
}
