//! The system calls of TAP interfaces that no safe crate offers.
#![allow(unsafe_code)]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};

use rackloom_wire::MacAddr;

/// Has the kernel make the TAP interface `name`, which must not be there yet; its other end is `device`.
pub(super) fn create(device: &impl AsFd, name: &str) -> io::Result<()> {
    let mut request = request(name);
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_TUN_EXCL;
    request.ifr_ifru.ifru_flags = flags as libc::c_short; // The kernel takes the 16 bits, whatever their sign.
    ask(device, libc::TUNSETIFF, &mut request)?;
    // SAFETY: this request takes a number; it affects no memory.
    let result = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), libc::TUNSETOFFLOAD, OFFLOADS) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Checksums, and TCP over IPv4 and IPv6 in large pieces: `TUN_F_CSUM`, `TUN_F_TSO4` and `TUN_F_TSO6`.
const OFFLOADS: libc::c_ulong = 1 | 2 | 4;

/// Sets the address of an interface that is down.
pub(super) fn set_address(socket: &impl AsFd, name: &str, MacAddr(bytes): MacAddr) -> io::Result<()> {
    let mut request = request(name);
    // SAFETY: a sockaddr is plain data for which zeros are valid.
    let mut address: libc::sockaddr = unsafe { zeroed() };
    address.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in address.sa_data.iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_hwaddr = address;
    ask(socket, libc::SIOCSIFHWADDR as libc::Ioctl, &mut request)
}

/// Sets the MTU.
pub(super) fn set_mtu(socket: &impl AsFd, name: &str, mtu: usize) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_mtu = libc::c_int::try_from(mtu).unwrap_or(libc::c_int::MAX);
    ask(socket, libc::SIOCSIFMTU as libc::Ioctl, &mut request)
}

/// Switches the interface on.
pub(super) fn bring_up(socket: &impl AsFd, name: &str) -> io::Result<()> {
    let mut request = request(name);
    ask(socket, libc::SIOCGIFFLAGS as libc::Ioctl, &mut request)?;
    // SAFETY: SIOCGIFFLAGS has filled ifru_flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    ask(socket, libc::SIOCSIFFLAGS as libc::Ioctl, &mut request)
}

/// A request about the interface `name`, which was checked: it has room, with the zero that ends it.
fn request(name: &str) -> libc::ifreq {
    assert!(name.len() < libc::IFNAMSIZ, "the name was checked");
    // SAFETY: an ifreq is plain data for which zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn ask(fd: &impl AsFd, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: all requests used read from, and write into, the one ifreq that the pointer names and that outlives the
    // call.
    let result = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), what, &raw mut *request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
