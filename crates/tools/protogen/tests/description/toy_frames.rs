//! The second family's Rust form is compiled here, and its frames go through the parser that all families have.

use std::env;
use std::path::Path;

use rackloom_wire::{Frame, MacAddr, ParseError};

use crate::common::control;
use crate::families::toy;
use crate::generated::toy::{Kind, Toy, ethertype};

#[test]
fn its_form_is_the_one_that_is_compiled_here() {
    let forms = protogen::forms(&[control(), toy()]).unwrap();
    let form = forms.iter().find(|f| f.path.ends_with("generated/toy.rs")).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/description/generated/toy.rs");
    if env::var_os("PROTOGEN_WRITE").is_some() {
        std::fs::write(&file, &form.text).unwrap();
    }
    let here = std::fs::read_to_string(&file).unwrap();
    assert!(here == form.text, "{} is stale: run this test with PROTOGEN_WRITE=1", file.display());
}

/// A frame with a payload of eight bytes, and four of padding.
fn spin() -> Vec<u8> {
    let header = [0x88, 0xb5, 0x30, 1, 0, 8, 0, 5, 0, 0, 0, 6];
    [&[2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 9][..], &header, &[0, 0, 4, 0, 0, 0, 0, 90], &[0; 4]].concat()
}

#[test]
fn its_frames_are_parsed_by_its_own_header() {
    assert_eq!(ethertype::ALL, [0x88b5]);
    let bytes = spin();
    let frame = Frame::<Toy>::parse(&bytes).unwrap();
    assert_eq!((frame.dst, frame.src), (MacAddr([2, 0, 0, 0, 0, 7]), MacAddr([2, 0, 0, 0, 0, 9])));
    assert_eq!((frame.kind, frame.flags), (Kind::ToySpin, 0));
    assert_eq!((frame.header.lane.get(), frame.header.hop.get()), (5, 6));
    assert_eq!(frame.payload, [0, 0, 4, 0, 0, 0, 0, 90]);
}

#[test]
fn what_is_wrong_with_a_frame_has_a_name() {
    let with = |at: usize, value: u8| {
        let mut bytes = spin();
        bytes[at] = value;
        Frame::<Toy>::parse(&bytes).map(|frame| frame.kind)
    };
    assert_eq!(with(12, 0x80), Err(ParseError::Foreign(0x80b5)));
    assert_eq!(with(14, 0x40), Err(ParseError::Version { has: 4, speaks: 3 }));
    assert_eq!(with(15, 9), Err(ParseError::UnknownKind { ethertype: 0x88b5, kind: 9 }));
    assert_eq!(with(14, 0x38), Err(ParseError::Auth));
    assert_eq!(with(17, 13), Err(ParseError::Truncated { need: 37, have: 36 }));
    for end in 0..24 {
        assert!(matches!(Frame::<Toy>::parse(&spin()[..end]), Err(ParseError::Truncated { .. })));
    }
    // Frames of another family are foreign here.
    let mut control = spin();
    control[12..14].copy_from_slice(&[0x80, 0xec]);
    assert_eq!(Frame::<Toy>::parse(&control).unwrap_err(), ParseError::Foreign(0x80ec));
}
