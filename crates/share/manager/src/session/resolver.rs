//! Resolution of operations: numbers become objects, references become memory, and every range is checked against its
//! buffer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opencl_sys::{
    CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_KERNEL, CL_INVALID_MEM_OBJECT,
    CL_INVALID_SAMPLER, CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION, CL_OUT_OF_RESOURCES,
};
use rackloom_ipc::{ChannelError, Peer};
use rackloom_opencl_wire::{Area, Argument, INLINE_MAX, Id, Image, Op, Payload, Place, Rect};

use super::object_table::Table;
use crate::board::{Operation, Shape, Sink, Source, Space, Value};
use crate::code::Code;

/// How long bulk data that a command names may take to arrive, over TCP.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);

/// Resolves the numbers and references of a session.
pub(crate) struct Resolver<'a, S: Space> {
    pub(crate) peer: &'a Peer,
    pub(crate) buffers: &'a Table<S::Buffer>,
    pub(crate) kernels: &'a Table<S::Kernel>,
    pub(crate) samplers: &'a Table<S::Sampler>,
}

/// The code for a buffer number that names nothing.
pub(crate) const NO_BUFFER: Code = Code(CL_INVALID_MEM_OBJECT);
/// The code for a sampler number that names nothing.
pub(crate) const NO_SAMPLER: Code = Code(CL_INVALID_SAMPLER);
/// The code for a kernel number that names nothing.
pub(crate) const NO_KERNEL: Code = Code(CL_INVALID_KERNEL);

const BAD_VALUE: Code = Code(CL_INVALID_VALUE);

impl<S: Space> Resolver<'_, S> {
    /// Resolves an operation, or returns the code with which it fails.
    pub(crate) fn operation(&self, op: Op<'_>, tail: &[u8]) -> Result<Operation<S>, Code> {
        Ok(match op {
            Op::Write { buffer, offset, from } => {
                let (buffer, from) = (self.buffer(buffer)?, self.source(from, tail)?);
                within(S::size(&buffer), offset, from.len() as u64)?;
                Operation::Write { buffer, offset, from }
            }
            Op::Read { buffer, offset, len, into } => {
                let buffer = self.buffer(buffer)?;
                within(S::size(&buffer), offset, len)?;
                Operation::Read { buffer, offset, into: self.sink(into, len)? }
            }
            Op::WriteRect { buffer, rect, from } => {
                let (buffer, from) = (self.buffer(buffer)?, self.source(from, tail)?);
                if rect_within(S::size(&buffer), &rect)? != from.len() as u64 {
                    return Err(BAD_VALUE);
                }
                Operation::WriteRect { buffer, rect, from }
            }
            Op::ReadRect { buffer, rect, into } => {
                let buffer = self.buffer(buffer)?;
                let len = rect_within(S::size(&buffer), &rect)?;
                Operation::ReadRect { buffer, rect, into: self.sink(into, len)? }
            }
            Op::Copy { from, from_offset, to, to_offset, len } => {
                let (from, to) = (self.buffer(from)?, self.buffer(to)?);
                within(S::size(&from), from_offset, len)?;
                within(S::size(&to), to_offset, len)?;
                Operation::Copy { from, from_offset, to, to_offset, len }
            }
            Op::CopyRect { from, source, to, target } => {
                let (from, to) = (self.buffer(from)?, self.buffer(to)?);
                rect_within(S::size(&from), &source)?;
                rect_within(S::size(&to), &target)?;
                if source.region != target.region {
                    return Err(BAD_VALUE);
                }
                Operation::CopyRect { from, source, to, target }
            }
            Op::Fill { buffer, offset, len, pattern } => {
                let buffer = self.buffer(buffer)?;
                within(S::size(&buffer), offset, len)?;
                let unit = pattern.len() as u64;
                let even = unit.is_power_of_two() && unit <= 128;
                if !even || !offset.is_multiple_of(unit) || !len.is_multiple_of(unit) {
                    return Err(BAD_VALUE);
                }
                Operation::Fill { buffer, offset, len, pattern: pattern.into() }
            }
            Op::WriteImage { image, area, from } => {
                let (image, from) = (self.image(image)?, self.source(from, tail)?);
                if Self::area(&image, &area)? != from.len() as u64 {
                    return Err(BAD_VALUE);
                }
                Operation::WriteImage { image, area, from }
            }
            Op::ReadImage { image, area, into } => {
                let image = self.image(image)?;
                let len = Self::area(&image, &area)?;
                Operation::ReadImage { image, area, into: self.sink(into, len)? }
            }
            Op::CopyImage { from, source, to, origin } => {
                let (from, to) = (self.image(from)?, self.image(to)?);
                let target = Area { origin, region: source.region };
                let len = Self::area(&from, &source)?;
                Self::area(&to, &target)?;
                let format = |image: &S::Buffer| S::description(image).map(|description| description.format);
                if format(&from) != format(&to) {
                    return Err(Code(CL_IMAGE_FORMAT_MISMATCH));
                }
                Operation::CopyImage { from, source, to, target, len }
            }
            Op::CopyImageToBuffer { from, area, to, offset } => {
                let (from, to) = (self.image(from)?, self.buffer(to)?);
                let len = Self::area(&from, &area)?;
                within(S::size(&to), offset, len)?;
                Operation::CopyImageToBuffer { from, area, to, offset, len }
            }
            Op::CopyBufferToImage { from, offset, to, area } => {
                let (from, to) = (self.buffer(from)?, self.image(to)?);
                let len = Self::area(&to, &area)?;
                within(S::size(&from), offset, len)?;
                Operation::CopyBufferToImage { from, offset, to, area, len }
            }
            Op::FillImage { image, area, color } => {
                let image = self.image(image)?;
                let len = Self::area(&image, &area)?;
                Operation::FillImage { image, area, len, color }
            }
            Op::Map { buffer, flags, offset, len } => {
                let buffer = self.buffer(buffer)?;
                within(S::size(&buffer), offset, len)?;
                Operation::Map { buffer, flags, offset, len }
            }
            Op::Unmap { buffer, offset, len } => {
                let buffer = self.buffer(buffer)?;
                within(S::size(&buffer), offset, len)?;
                Operation::Unmap { buffer, offset, len }
            }
            Op::Launch { kernel, dimensions, offset, global, local, arguments, reaches } => {
                if !(1..=3).contains(&dimensions) {
                    return Err(Code(CL_INVALID_WORK_DIMENSION));
                }
                let narrow = |sizes: [u64; 3]| sizes.map(|size| size as usize);
                let items = global[..usize::from(dimensions)].iter().try_fold(1u64, |n, size| n.checked_mul(*size));
                if items.is_none() {
                    return Err(Code(CL_INVALID_GLOBAL_WORK_SIZE));
                }
                let shape = Shape {
                    dimensions: dimensions.into(),
                    offset: narrow(offset),
                    global: narrow(global),
                    local: local.map(narrow),
                };
                let kernel = self.kernels.get(kernel)?;
                let arguments = arguments.into_iter().map(|(index, argument)| (index, self.value(argument)));
                let arguments = arguments.collect();
                let reached = |ids: Vec<Id>| ids.into_iter().map(|id| self.buffers.get(id)).collect();
                Operation::Launch { kernel, shape, arguments, reaches: reaches.map(reached).transpose()? }
            }
            Op::Marker => Operation::Marker,
        })
    }

    /// A buffer that is no image.
    pub(crate) fn buffer(&self, id: Id) -> Result<Arc<S::Buffer>, Code> {
        self.buffers
            .get(id)
            .and_then(|buffer| if S::description(&buffer).is_none() { Ok(buffer) } else { Err(NO_BUFFER) })
    }

    /// An image.
    fn image(&self, id: Id) -> Result<Arc<S::Buffer>, Code> {
        self.buffers.get(id).and_then(|image| if S::description(&image).is_some() { Ok(image) } else { Err(NO_BUFFER) })
    }

    /// Checks that an area lies in an image. Returns its number of bytes.
    fn area(image: &S::Buffer, area: &Area) -> Result<u64, Code> {
        let description = S::description(image).filter(|image: &&Image| image.contains(area));
        description.and_then(|image| image.bytes_of(area.region)).ok_or(BAD_VALUE)
    }

    /// The bytes that came with a command.
    pub(crate) fn source(&self, from: Payload, tail: &[u8]) -> Result<Source, Code> {
        match from {
            Payload::Inline if tail.len() > INLINE_MAX => Err(BAD_VALUE),
            Payload::Inline => Ok(Source::Inline(tail.into())),
            Payload::Bulk(place) => {
                let taken = self.peer.take(&place.into(), Some(Instant::now() + TRANSFER_TIMEOUT));
                taken.map(Source::Bulk).map_err(refused)
            }
        }
    }

    /// A place for `len` bytes.
    fn sink(&self, into: Option<Place>, len: u64) -> Result<Sink, Code> {
        match into {
            None if len > INLINE_MAX as u64 => Err(BAD_VALUE),
            None => Ok(Sink::Inline(vec![0; len as usize].into())),
            Some(place) => {
                let given = self.peer.give(&place.into()).map_err(refused)?;
                if given.len() as u64 == len { Ok(Sink::Bulk(given)) } else { Err(BAD_VALUE) }
            }
        }
    }

    fn value(&self, argument: Argument<'_>) -> Value<S> {
        match argument {
            Argument::Value(bytes) => Value::Plain(bytes.into()),
            Argument::Buffer(None) => Value::Buffer(None),
            // The other arguments of the message are set all the same.
            Argument::Buffer(Some(id)) => {
                self.buffers.get(id).map_or_else(Value::Missing, |buffer| Value::Buffer(Some(buffer)))
            }
            Argument::Svm { memory, offset } => match self.buffers.get(memory) {
                Ok(memory) if offset < S::size(&memory) => Value::Svm(memory, offset),
                Ok(_) => Value::Missing(BAD_VALUE),
                Err(code) => Value::Missing(code),
            },
            Argument::Sampler(id) => self.samplers.get(id).map_or_else(Value::Missing, Value::Sampler),
            Argument::Local(bytes) => Value::Local(bytes),
        }
    }
}

/// The code for a failed reference: invalid by the client's mistake, or the channel is closed.
pub(crate) fn refused(why: ChannelError) -> Code {
    match why {
        ChannelError::BadReference { .. } => BAD_VALUE,
        _ => Code(CL_OUT_OF_RESOURCES),
    }
}

/// Checks that a range is not empty and lies within `size` bytes.
fn within(size: u64, offset: u64, len: u64) -> Result<(), Code> {
    let fits = len > 0 && offset.checked_add(len).is_some_and(|end| end <= size);
    if fits { Ok(()) } else { Err(BAD_VALUE) }
}

/// Checks that a rectangle is not empty, does not overlap itself, and lies within `size` bytes. Returns its number of
/// bytes.
fn rect_within(size: u64, rect: &Rect) -> Result<u64, Code> {
    let Rect { origin: [x, y, z], region: [width, height, depth], row_pitch, slice_pitch } = *rect;
    let wide = u128::from;
    if width == 0
        || height == 0
        || depth == 0
        || row_pitch < width
        || wide(slice_pitch) < wide(height) * wide(row_pitch)
    {
        return Err(BAD_VALUE);
    }
    // Numbers below 2^65 times numbers below 2^64: the sum may pass 2^128 only where each is far beyond any size.
    let rows = wide(y) + wide(height) - 1;
    let slices = wide(z) + wide(depth) - 1;
    let end = slices.checked_mul(wide(slice_pitch)).and_then(|at| at.checked_add(rows.checked_mul(wide(row_pitch))?));
    let end = end.and_then(|at| at.checked_add(wide(x) + wide(width)));
    if end.is_some_and(|end| end <= wide(size)) { Ok(width * height * depth) } else { Err(BAD_VALUE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_outside_are_refused() {
        assert_eq!(within(10, 0, 10), Ok(()));
        for (offset, len) in [(0, 11), (10, 1), (11, 0), (5, 0), (u64::MAX, 2), (2, u64::MAX)] {
            assert_eq!(within(10, offset, len), Err(BAD_VALUE), "{offset} {len}");
        }
    }

    proptest! {
        #[test]
        fn a_rect_is_within_if_each_of_its_bytes_is(
            origin in prop::array::uniform3(0..5u64), region in prop::array::uniform3(0..5u64),
            row_pitch in 0..12u64, slice_pitch in 0..60u64, size in 0..300u64,
        ) {
            let rect = Rect { origin, region, row_pitch, slice_pitch };
            let mut bytes = Vec::new();
            for z in 0..region[2] {
                for y in 0..region[1] {
                    let row = (origin[2] + z) * slice_pitch + (origin[1] + y) * row_pitch + origin[0];
                    bytes.extend(row..row + region[0]);
                }
            }
            let well_formed = row_pitch >= region[0] && slice_pitch >= region[1] * row_pitch;
            let good = !bytes.is_empty() && well_formed && bytes.iter().all(|byte| *byte < size);
            prop_assert_eq!(rect_within(size, &rect), if good { Ok(bytes.len() as u64) } else { Err(BAD_VALUE) });
        }

        #[test]
        fn no_rect_overflows(
            origin in prop::array::uniform3(any::<u64>()), region in prop::array::uniform3(any::<u64>()),
            row_pitch in any::<u64>(), slice_pitch in any::<u64>(), size in any::<u64>(),
        ) {
            let _ = rect_within(size, &Rect { origin, region, row_pitch, slice_pitch });
        }
    }
}
