//! Images and the part in them that gateware configures its role region from.

use rackloom_image::{ARGS_MAX, KERNELS_MAX, lay_out};
use rackloom_rolec::{Rtl, rtl_part_of};

use crate::Fault;

/// An image with these parts, each a target tag and its bytes. The manifest may be any bytes: firmware does not read
/// it.
pub(crate) fn build(shell: u16, manifest: &[u8], parts: &[(&[u8], &[u8])]) -> Result<Vec<u8>, Fault> {
    let named = |(target, body): &(&[u8], &[u8])| {
        let target = std::str::from_utf8(target).map_err(|_| Fault::Argument)?;
        Ok((target.to_owned(), body.to_vec()))
    };
    let parts: Vec<_> = parts.iter().map(named).collect::<Result<_, Fault>>()?;
    lay_out(shell, manifest, &parts).map_err(|_| Fault::Refused)
}

/// The `rtl` part of a role whose kernels take this many arguments each, `bytes` long.
pub(crate) fn rtl_part(role: u16, clock_khz: u32, args: &[u8], bytes: usize) -> Result<Vec<u8>, Fault> {
    if args.len() > KERNELS_MAX || args.iter().any(|&n| usize::from(n) > ARGS_MAX) {
        return Err(Fault::Argument);
    }
    rtl_part_of(Rtl { id: role, clock_khz }, args, Some(bytes)).map_err(|_| Fault::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_image::{Layout, TARGET_RTL};

    #[test]
    fn an_image_is_one_that_readers_accept() {
        let part = rtl_part(7, 100_000, &[1, 3], 112).unwrap();
        let manifest = br#"{"name": "x", "version": "1", "kernels": [{"name": "g", "args": []}]}"#;
        let file = build(1, manifest, &[(b"rtl", &part)]).unwrap();
        let layout = Layout::parse(&file).unwrap();
        assert_eq!(layout.part(&file, TARGET_RTL).unwrap(), part);
    }

    #[test]
    fn what_makes_no_image_is_refused() {
        assert_eq!(build(1, b"{}", &[]), Err(Fault::Refused));
        assert_eq!(build(1, b"", &[(b"rtl", b"x")]), Err(Fault::Refused));
        assert_eq!(build(1, b"{}", &[(b"Rtl", b"x")]), Err(Fault::Refused));
        assert_eq!(build(1, b"{}", &[(b"\xff", b"x")]), Err(Fault::Argument));
        assert_eq!(rtl_part(1, 1, &[0; 65], 96), Err(Fault::Argument));
        assert_eq!(rtl_part(1, 1, &[33], 96), Err(Fault::Argument));
        assert_eq!(rtl_part(1, 1, &[], 95), Err(Fault::Refused));
    }
}
