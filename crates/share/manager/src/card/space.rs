//! A tenant's space on a card: creation of objects, and operations.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::{
    CL_COMPILER_NOT_AVAILABLE, CL_INVALID_KERNEL_NAME, CL_INVALID_VALUE, CL_LINKER_NOT_AVAILABLE,
    CL_PROGRAM_BINARY_TYPE_NONE,
};
use rackloom_ipc::Given;
use rackloom_opencl_wire::{Build, Form, KernelInfo, Times};
use rackloom_sync::lock;

use super::arguments;
use super::objects::{CardBuffer, CardKernel, CardSpace};
use super::program::CardProgram;
use super::work::{self, Ticket};
use crate::board::{Headers, Operation, Space};
use crate::code::Code;
use crate::quota::Charge;

impl Space for CardSpace {
    type Buffer = CardBuffer;
    type Program = CardProgram;
    type Kernel = CardKernel;
    type Sampler = Infallible;
    type Ticket = Ticket;

    fn buffer(&self, _: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<CardBuffer, Code> {
        if size == 0 || backing.as_ref().is_some_and(|given| given.len() as u64 != size) {
            return Err(Code(CL_INVALID_VALUE));
        }
        let block = Arc::new(self.card.take(size, charge)?);
        Ok(CardBuffer { block, offset: 0, size, backing, mappings: Mutex::default(), _charge: None })
    }

    fn size(buffer: &CardBuffer) -> u64 {
        buffer.size
    }

    fn sub_buffer(
        &self,
        parent: &Arc<CardBuffer>,
        _: u64,
        offset: u64,
        size: u64,
        charge: Charge,
    ) -> Result<CardBuffer, Code> {
        let within = offset.checked_add(size).is_some_and(|end| end <= parent.size);
        if !within || size == 0 || parent.size != parent.block.size {
            return Err(Code(CL_INVALID_VALUE));
        }
        let (block, mappings, _charge) = (Arc::clone(&parent.block), Mutex::default(), Some(charge));
        Ok(CardBuffer { block, offset, size, backing: None, mappings, _charge })
    }

    fn program(&self, form: Form, bytes: Vec<u8>, charge: Charge) -> Result<CardProgram, Code> {
        CardProgram::new(form, bytes, charge)
    }

    fn binary_type(&self, _: &CardProgram) -> u32 {
        CL_PROGRAM_BINARY_TYPE_NONE
    }

    fn build(&self, program: &CardProgram, _: &str) -> Result<Build, Code> {
        program.build(self)
    }

    fn compile(&self, _: &CardProgram, _: &str, _: &Headers<Self>) -> Result<Build, Code> {
        Err(Code(CL_COMPILER_NOT_AVAILABLE))
    }

    fn link(&self, _: &[Arc<CardProgram>], _: &str, _: Charge) -> Result<(CardProgram, Build), Code> {
        Err(Code(CL_LINKER_NOT_AVAILABLE))
    }

    fn binary_size(&self, program: &CardProgram) -> Result<u64, Code> {
        Ok(program.built()?.image.bytes().len() as u64)
    }

    fn binary(&self, program: &CardProgram, into: &Given) -> Result<(), Code> {
        let built = program.built()?;
        let file = built.image.bytes();
        if file.len() > into.len() {
            return Err(Code(CL_INVALID_VALUE));
        }
        into.write(0, file);
        Ok(())
    }

    fn kernel_info(&self, program: &CardProgram, name: &str) -> Result<KernelInfo, Code> {
        let built = program.built()?;
        let (_, kernel) = built.image.manifest().kernel(name).ok_or(Code(CL_INVALID_KERNEL_NAME))?;
        Ok(arguments::describe(kernel))
    }

    fn kernel(&self, program: &CardProgram, name: &str, charge: Charge) -> Result<CardKernel, Code> {
        let built = program.built()?;
        let (number, kernel) = built.image.manifest().kernel(name).ok_or(Code(CL_INVALID_KERNEL_NAME))?;
        let (number, slots) = (number as u16, Mutex::new(vec![None; kernel.args.len()]));
        Ok(CardKernel {
            built,
            card: Arc::clone(&self.card),
            number,
            slots,
            last_ns: AtomicU64::new(0),
            _charge: charge,
        })
    }

    fn last_launch_ns(kernel: &CardKernel) -> Option<u64> {
        // A launch that has to configure the card first takes longer than the last one.
        let is_active = kernel.card.has_active(&kernel.built.digest);
        Some(kernel.last_ns.load(Ordering::Relaxed)).filter(|ns| is_active && *ns > 0)
    }

    fn start(&self, operation: &mut Operation<Self>, _: bool) -> Result<Ticket, Code> {
        work::start(&self.card, operation)
    }

    fn skip(&self, operation: &Operation<Self>) {
        if let Operation::Launch { kernel, arguments, .. } = operation {
            let description = &kernel.built.image.manifest().kernels[usize::from(kernel.number)];
            // What is wrong fails the next launch, too.
            let _ = arguments::set_all(description, &mut lock(&kernel.slots), arguments);
        }
    }

    fn leave(&self) {
        self.gone.set();
    }

    fn flush(&self) {}

    fn finish(&self, ticket: Ticket, operation: &mut Operation<Self>) -> Result<Times, Code> {
        work::finish(&self.card, ticket, operation)
    }
}
