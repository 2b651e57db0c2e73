//! The system calls of packet sockets that no safe crate offers.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{addr_of, null_mut};

use rackloom_node::Frame;
use rackloom_wire::Carrier;

/// An interface as the kernel describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interface {
    pub(super) mtu: usize,
    pub(super) up: bool,
}

/// MTU and state of the interface `name`.
pub(super) fn interface(socket: &OwnedFd, name: &str) -> io::Result<Interface> {
    // SAFETY: an ifreq is plain data for which zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.len() >= libc::IFNAMSIZ || name.contains('\0') {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let mut ask = |what: libc::Ioctl| {
        // SAFETY: both requests used read the name from, and write one union field into, the ifreq that the pointer
        // names and that outlives the call.
        if unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(request)
    };
    // SAFETY: SIOCGIFMTU fills ifru_mtu.
    let mtu = unsafe { ask(libc::SIOCGIFMTU)?.ifr_ifru.ifru_mtu };
    // SAFETY: SIOCGIFFLAGS fills ifru_flags.
    let flags = unsafe { ask(libc::SIOCGIFFLAGS)?.ifr_ifru.ifru_flags };
    Ok(Interface { mtu: usize::try_from(mtu).unwrap_or(0), up: i32::from(flags) & libc::IFF_UP != 0 })
}

/// Names of the interfaces there are.
pub(super) fn interfaces() -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: if_nameindex has no precondition. It returns null, or an array that ends with a null name and is freed,
    // once, below; names are C strings that live as long as the array.
    unsafe {
        let all = libc::if_nameindex();
        if all.is_null() {
            return names;
        }
        let mut one = all;
        while !(*one).if_name.is_null() {
            names.push(CStr::from_ptr((*one).if_name).to_string_lossy().into_owned());
            one = one.add(1);
        }
        libc::if_freenameindex(all);
    }
    names.sort();
    names
}

/// Sets a socket option whose value is the plain data `T`.
fn set<T: Copy>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<T>()).expect("options are short");
    // SAFETY: the pointer and length describe `value`, which outlives the call and which the kernel only reads.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, addr_of!(*value).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets in only untagged frames that others sent: of these EtherTypes, and in such packets of IPv6.
pub(super) fn attach_filter(socket: &OwnedFd, ethertypes: &[u16], carriers: &[Carrier]) -> io::Result<()> {
    let program = filter(ethertypes, carriers);
    let length = u16::try_from(program.len()).expect("the program is short");
    // The kernel only reads the program, though the struct says `mut`.
    let fprog = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &fprog)
}

/// The classic BPF program of [`attach_filter`].
fn filter(ethertypes: &[u16], carriers: &[Carrier]) -> Vec<libc::sock_filter> {
    let op = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let ancillary = |what: libc::c_int| (libc::SKF_AD_OFF + what) as u32;
    let load = libc::BPF_LD | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    // The last two instructions drop and accept; jumps count the instructions between.
    let length = HEAD + ethertypes.len() + CARRIED * carriers.len() + 2;
    let (drop, accept) = (length - 2, length - 1);
    let over = |from: usize, to: usize| u8::try_from(to - from - 1).expect("the program is short");
    let mut program = vec![
        op(load | libc::BPF_B, 0, 0, ancillary(libc::SKF_AD_PKTTYPE)),
        op(equal, over(1, drop), 0, libc::PACKET_OUTGOING.into()), // Ours: drop.
        op(load | libc::BPF_B, 0, 0, ancillary(libc::SKF_AD_VLAN_TAG_PRESENT)),
        op(equal, 0, over(3, drop), 0), // Of a VLAN: drop.
        op(load | libc::BPF_H, 0, 0, ETHERTYPE_AT),
    ];
    for &ethertype in ethertypes {
        program.push(op(equal, over(program.len(), accept), 0, ethertype.into()));
    }
    for carrier in carriers {
        // What does not fit goes to the next one, or to the drop. A load beyond the frame's end drops it.
        let (start, next) = (program.len(), program.len() + CARRIED);
        program.extend([
            op(load | libc::BPF_H, 0, 0, ETHERTYPE_AT),
            op(equal, 0, over(start + 1, next), carrier.ethertype.into()),
            op(load | libc::BPF_B, 0, 0, NEXT_HEADER_AT),
            op(equal, 0, over(start + 3, next), carrier.next_header.into()),
            op(load | libc::BPF_B, 0, 0, DESTINATION_AT),
            op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, 0xfe),
            op(equal, over(start + 6, accept), over(start + 6, next), 0xfc), // fc00::/7.
        ]);
    }
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, 0)); // Drop.
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX)); // Accept the whole frame.
    program
}

/// Instructions of [`filter`] before the EtherTypes, and for each family that IPv6 carries.
const HEAD: usize = 5;
const CARRIED: usize = 7;
/// Where a frame has its EtherType, and in a packet of IPv6 its next header and its destination.
const ETHERTYPE_AT: u32 = 12;
const NEXT_HEADER_AT: u32 = 20;
const DESTINATION_AT: u32 = 38;

/// Receives from interface `index` from now on.
pub(super) fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: a sockaddr_ll is plain data for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer and length describe `address`, which outlives the call and which the kernel only reads.
    let result = unsafe { libc::bind(socket.as_raw_fd(), addr_of!(address).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has the interface hand up frames for any address, as long as the socket is open.
pub(super) fn promiscuous(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Sends past the queueing discipline; and receives no copy of what is sent. Only speed depends on either.
pub(super) fn hasten(socket: &OwnedFd) {
    let on: libc::c_int = 1;
    let _ = set(socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &on);
    let _ = set(socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &on);
}

/// Frames the kernel dropped because the socket's buffer was full, since the last call.
pub(super) fn drops(socket: &OwnedFd) -> u64 {
    // SAFETY: tpacket_stats is plain data for which zeros are valid.
    let mut stats: libc::tpacket_stats = unsafe { zeroed() };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the pointers name `stats` and its length, which outlive the call; the kernel writes no more than that
    // length.
    let result = unsafe {
        let to = (&raw mut stats).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, to, &raw mut length)
    };
    if result < 0 { 0 } else { stats.tp_drops.into() }
}

/// Sends as many of these frames as the socket takes, at most [`VECTOR`]; how many. An error is that of the first
/// frame.
pub(super) fn send(socket: &OwnedFd, frames: &[Frame]) -> io::Result<usize> {
    // SAFETY: an mmsghdr is plain data for which zeros are valid: no address, no control data, no vectors.
    let mut headers: [libc::mmsghdr; VECTOR] = unsafe { zeroed() };
    let mut vectors = [libc::iovec { iov_base: null_mut(), iov_len: 0 }; VECTOR];
    let count = frames.len().min(VECTOR);
    for ((header, vector), frame) in headers.iter_mut().zip(&mut vectors).zip(frames) {
        // The kernel only reads it, though the struct says `mut`.
        *vector = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: the first `count` headers point to one vector each, these to the frames; all outlive the call, and a send
    // writes nothing but msg_len into the headers.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT as _)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives into `buffers`, at most [`VECTOR`] frames, one in each, without waiting; calls `each` with the buffer, now
/// of the frame's length, and whether the frame was longer. Returns how many there were.
pub(super) fn recv(
    socket: &OwnedFd,
    buffers: &mut [Vec<u8>],
    mut each: impl FnMut(&mut Vec<u8>, bool),
) -> io::Result<usize> {
    // SAFETY: as in `send`.
    let mut headers: [libc::mmsghdr; VECTOR] = unsafe { zeroed() };
    let mut vectors = [MaybeUninit::<libc::iovec>::uninit(); VECTOR];
    let count = buffers.len().min(VECTOR);
    for ((header, vector), buffer) in headers.iter_mut().zip(&mut vectors).zip(buffers.iter_mut()) {
        buffer.clear();
        let spare = buffer.spare_capacity_mut();
        header.msg_hdr.msg_iov =
            vector.write(libc::iovec { iov_base: spare.as_mut_ptr().cast(), iov_len: spare.len() });
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: the first `count` headers point to one vector each, these to the unused capacity of one buffer each,
    // which nobody else touches; all outlive the call.
    let received = unsafe {
        let flags = libc::MSG_DONTWAIT as _;
        libc::recvmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count as libc::c_uint, flags, null_mut())
    };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    for (header, buffer) in headers.iter().zip(buffers.iter_mut()).take(received) {
        let length = header.msg_len as usize;
        assert!(length <= buffer.capacity(), "the kernel wrote past a buffer");
        // SAFETY: the kernel has written `length` bytes from the buffer's beginning, within its capacity.
        unsafe { buffer.set_len(length) };
        each(buffer, header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0);
    }
    Ok(received)
}

/// Most frames in one system call.
pub(super) const VECTOR: usize = 64;

/// From linux/if_packet.h, since Linux 4.20.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

#[cfg(test)]
mod tests {
    use rackloom_wire::{BridgeHead, CARRIERS, MacAddr, bridge};

    use super::*;

    /// Runs a program of the instructions that `filter` uses, as the kernel would.
    fn accepts(program: &[libc::sock_filter], packet_type: u32, tagged: u32, frame: &[u8]) -> bool {
        let (mut pc, mut a) = (0, 0);
        loop {
            let i = program[pc];
            pc += 1;
            match u32::from(i.code) {
                c if c == libc::BPF_RET | libc::BPF_K => return i.k != 0,
                c if c == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => {
                    pc += usize::from(if a == i.k { i.jt } else { i.jf });
                }
                c if c == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => a &= i.k,
                c if c == libc::BPF_LD | libc::BPF_ABS | libc::BPF_H => {
                    let at = i.k as usize;
                    let Some(bytes) = frame.get(at..at + 2) else { return false };
                    a = u16::from_be_bytes(bytes.try_into().unwrap()).into();
                }
                c if c == libc::BPF_LD | libc::BPF_ABS | libc::BPF_B => {
                    a = match i.k {
                        k if k == (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32 => packet_type,
                        k if k == (libc::SKF_AD_OFF + libc::SKF_AD_VLAN_TAG_PRESENT) as u32 => tagged,
                        at => match frame.get(at as usize) {
                            Some(byte) => (*byte).into(),
                            None => return false,
                        },
                    };
                }
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    fn frame(ethertype: u16) -> Vec<u8> {
        [&[2; 12][..], &ethertype.to_be_bytes(), &[0; 46]].concat()
    }

    #[test]
    fn the_filter_lets_in_what_it_should() {
        let program = filter(&[0x80EF, 0x80AA, 0x80CB], &CARRIERS);
        let ours = [0x80EF, 0x80AA, 0x80CB].map(frame);
        let node = |n| MacAddr([2, 0, 0, 0, 0, n]);
        let carried = BridgeHead::new(node(1), node(2), bridge::Kind::Unack).frame(&[]).to_vec();
        for frame in ours.iter().chain([&carried]) {
            for packet_type in
                [libc::PACKET_HOST, libc::PACKET_BROADCAST, libc::PACKET_MULTICAST, libc::PACKET_OTHERHOST]
            {
                assert!(accepts(&program, packet_type.into(), 0, frame));
            }
            assert!(!accepts(&program, libc::PACKET_OUTGOING.into(), 0, frame), "what we sent");
            assert!(!accepts(&program, 0, 1, frame), "another VLAN's");
        }
        for ethertype in [0x0800, 0x0806, 0x86DD, 0x80AC, 0] {
            assert!(!accepts(&program, 0, 0, &frame(ethertype)));
        }
        // Other packets of IPv6 are the interface's owner's.
        for (at, value) in [(12, 0x08), (20, 17), (20, 58), (38, 0x20), (38, 0xfe), (38, 0xff)] {
            let mut other = carried.clone();
            other[at] = value;
            assert!(!accepts(&program, 0, 0, &other), "{at}");
        }
        assert!(!accepts(&program, 0, 0, &carried[..38]));
        // Of two families in packets each is found.
        let other = Carrier { next_header: 254, ..CARRIERS[0] };
        for carriers in [[other, CARRIERS[0]], [CARRIERS[0], other]] {
            let program = filter(&[], &carriers);
            assert!(accepts(&program, 0, 0, &carried));
            assert!(!accepts(&program, 0, 0, &ours[0]));
        }
    }
}
