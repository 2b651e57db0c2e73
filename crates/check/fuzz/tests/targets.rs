//! Every target, by name: `cargo test -p rackloom-fuzz`, or one of them under libFuzzer with
//! `crates/check/fuzz/guided.sh`.

use rackloom_fuzz::{bridge, channel, frame, host, image, opencl, sack, signed};

/// A test for each target. Under libFuzzer the engine takes over; else it is a campaign of random inputs.
macro_rules! targets {
    ($($name:ident: $target:path;)*) => {$(
        #[cfg(fuzzing)]
        #[test]
        fn $name() {
            bolero::check!().for_each(|bytes: &[u8]| {
                let _ = $target(&mut arbitrary::Unstructured::new(bytes));
            });
        }

        #[cfg(not(fuzzing))]
        #[test]
        fn $name() {
            use rackloom_fuzz::campaign::{self, Options};
            let options = Options::from_env();
            match campaign::run($target, options) {
                Ok(inputs) => eprintln!("{}: {inputs} inputs, seed {:#x}", stringify!($name), options.seed),
                Err(failure) => panic!("{}: campaign {:#x}, {failure}", stringify!($name), options.seed),
            }
        }
    )*};
}

targets! {
    wire_frame: frame::read_frame;
    wire_address: frame::read_address;
    wire_bridge: bridge::read_frame;
    wire_sack: sack::agrees_with_a_set;
    image_file: image::read_image;
    image_manifest: image::read_manifest;
    image_signature: signed::read_signature;
    host_frames: host::frames;
    channel_greeting: channel::greeting;
    channel_ring: channel::ring;
    channel_stream: channel::stream;
    opencl_command: opencl::command;
    opencl_reply: opencl::reply;
}

#[cfg(feature = "card")]
targets! {
    card_frames: rackloom_fuzz::card::frames;
}
