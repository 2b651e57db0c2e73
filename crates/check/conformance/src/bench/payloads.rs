//! Payloads of a host's frames.

use rackloom_wire::{self as wire, IntoBytes, U16, U32, U64};

use super::GROUP;

/// What a launch says beyond kernel and arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Out {
    /// First byte of the output.
    pub addr: u64,
    /// Bytes of the output.
    pub length: u64,
    /// Chunks that the host takes unasked.
    pub credit: u16,
    /// Number of the Go that it waits for; 0: none.
    pub go: u32,
    /// Most cycles; 0: as many as the card allows.
    pub fuel: u64,
}

/// Payload of a launch.
pub fn launch_payload(args: &[u64], out: Out) -> Vec<u8> {
    let body = wire::Launch {
        fuel: U64::new(out.fuel),
        out_addr: U64::new(out.addr),
        out_length: U64::new(out.length),
        go: U32::new(out.go),
        credit: U16::new(out.credit),
        args: U16::new(args.len() as u16),
    };
    let mut payload = body.as_bytes().to_vec();
    payload.extend(args.iter().flat_map(|a| a.to_be_bytes()));
    payload
}

/// Payload of a load's begin.
pub fn begin_body(image: &[u8], chunk: u16) -> wire::ImageBegin {
    wire::ImageBegin {
        length: U64::new(image.len() as u64),
        chunk: U16::new(chunk),
        group: U16::new(GROUP),
        members: U32::new(1),
        digest: *blake3::hash(image).as_bytes(),
    }
}

/// Payload of an acknowledgement of a result's end and of chunks of it.
pub fn ack_body(next: u32, limit: u32, beyond: &[u32]) -> wire::ResultAck {
    let mut bitmap = [0u8; 32];
    for n in beyond {
        let bit = (n - next - 1) as usize;
        bitmap[bit / 8] |= 1 << (bit % 8);
    }
    wire::ResultAck { next: U32::new(next), limit: U32::new(limit), done: 1, reserved: [0; 7], bitmap }
}
