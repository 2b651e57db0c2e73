//! Cards of a manager that has a policy: an image by whom the policy does not name is no program for them, and the
//! build log says why. Through the library's table, as a program meets it.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "all arguments are right")]

#[macro_use]
#[path = "common/mod.rs"]
mod common;
#[path = "../../manager/tests/common/lab.rs"]
mod lab;

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::time::Duration;

use common::{Bench, info, open};
use lab::Lab;
use opencl_sys::*;
use rackloom::{Policy, RackOptions};
use rackloom_image::Image;
use rackloom_ipc::ServerConfig;
use rackloom_manager::Manager;
use rackloom_manager::card::Sharing;
use rackloom_opencl_wire::Limits;
use rackloom_rack::AnyCard;
use rackloom_sign::{Cards, Signer, SignerKey, sign};
use rackloom_wire::Counter;

/// A policy by which `lab` counts for all cards, and `guest` for one that is not there.
fn policy() -> Policy {
    let elsewhere = Cards::Only { macs: [rackloom::MacAddr([2; 6])].into(), units: [7].into() };
    let signer = |name: &str, n, cards| Signer { name: name.into(), key: SignerKey::new(&[n; 32]).id(), cards };
    Policy::new(vec![signer("lab", 1, Cards::All), signer("guest", 2, elsewhere)]).unwrap()
}

fn vadd() -> &'static [u8] {
    rackloom_builtin_roles::image("vadd").unwrap()
}

fn signed(n: u8) -> Vec<u8> {
    let image = Image::parse(vadd().into()).unwrap();
    sign(&image, &SignerKey::new(&[n; 32]), 1).unwrap().to_vec()
}

/// A program of an image, what building it gives, and the log.
fn build(bench: &Bench, binary: &[u8]) -> (cl_program, cl_int, String) {
    let (len, mut from, mut code) = (binary.len(), binary.as_ptr(), 1);
    let (devices, len, from, to) = (bench.devices.as_ptr(), &raw const len, &raw mut from, &raw mut code);
    let program = cl!(bench.cl, clCreateProgramWithBinary(bench.context, 1, devices, len, from, null_mut(), to));
    assert_eq!(code, 0, "it is an image");
    let code = cl!(bench.cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
    let (device, name) = (bench.devices[0], CL_PROGRAM_BUILD_LOG);
    let log = info(|s, v, r| cl!(bench.cl, clGetProgramBuildInfo(program, device, name, s, v, r))).unwrap();
    (program, code, CStr::from_bytes_with_nul(&log).unwrap().to_str().unwrap().to_owned())
}

#[test]
fn an_image_that_the_policy_is_against_is_no_program_and_the_log_says_why() {
    let lab = Lab::new(1, 16 << 20);
    let manager = Manager::default();
    let options = RackOptions { deadline: Duration::from_secs(8), policy: Some(policy()), ..RackOptions::default() };
    let _rack = lab.share(&manager, Sharing::Shared, options);
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("m.sock").display());
    let limits = Limits { memory: 1 << 30, objects: 1000, operations: 1000, program: 64 << 20 };
    let listener = manager.listen(&socket.parse().unwrap(), ServerConfig::default(), limits).unwrap();
    let cl = open(&[listener.endpoint().to_string()]);
    let bench = Bench::of(cl, &cl.devices(), 0);
    // What has come to the card.
    let loads = || {
        let count = |card: &mut AnyCard, _| {
            let counters = card.as_model().unwrap().counters();
            counters.get(Counter::ImagesActivated) + counters.get(Counter::ImagesFailed)
        };
        lab.cards.card(0).unwrap().with(count).unwrap()
    };
    let mut wrong = signed(1);
    *wrong.last_mut().unwrap() ^= 1;
    let stranger = SignerKey::new(&[3; 32]).id().short();
    let cases: [(&[u8], &str, &str); 4] = [
        (vadd(), "image-signature: ", "signed by nobody"),
        (&wrong, "image-part: ", "`signature` does not have the digest of the part table"),
        (&signed(2), "image-signature: ", "signed by guest, who may not sign for it"),
        (&signed(3), "image-signature: ", &format!("signed by {stranger}, whom nobody knows here")),
    ];
    for (image, code_name, why) in cases {
        let (program, code, log) = build(&bench, image);
        assert_eq!(code, CL_INVALID_BINARY, "{log}");
        assert!(log.starts_with(code_name) && log.contains(why), "{log}");
        let mut code = 0;
        let kernel = cl!(bench.cl, clCreateKernel(program, c"vadd".as_ptr(), &raw mut code));
        assert!(kernel.is_null() && code == CL_INVALID_PROGRAM_EXECUTABLE, "{code}");
        ok!(bench.cl, clReleaseProgram(program));
    }
    assert_eq!(loads(), 0, "the card has seen nothing of it");
    // And one that is signed as the policy asks runs.
    let (program, code, log) = build(&bench, &signed(1));
    assert_eq!(code, 0, "{log}");
    let kernel = make!(bench.cl, clCreateKernel(program, c"vadd".as_ptr()));
    let floats = |values: [f32; 3]| values.into_iter().flat_map(f32::to_ne_bytes).collect::<Vec<_>>();
    let (a, b, sum) = (bench.filled(&floats([1.0, 2.0, 3.0])), bench.filled(&floats([0.5; 3])), bench.buffer(0, 12));
    [a, b, sum].iter().zip(0..).for_each(|(buffer, index)| bench.set(kernel, index, buffer));
    bench.set(kernel, 3, &3u64);
    let event = bench.launch(bench.queue(), kernel, 1, &[]);
    assert!(bench.read(bench.queue(), sum, 12) == floats([1.5, 2.5, 3.5]));
    assert_eq!((bench.status(event), loads()), (0, 1));
}
