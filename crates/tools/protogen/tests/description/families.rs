//! A second family gets every form, each of which its own language reads, and shares nothing with the first.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{control, root};
use pcap_file::pcap::{PcapPacket, PcapWriter};
use protogen::{Form, Source, tshark};

pub(crate) fn toy() -> Source {
    Source { name: "toy".into(), text: include_str!("toy.toml").into() }
}

/// Both families, read from a folder of their own, with all their forms written there.
fn both() -> (tempfile::TempDir, Vec<Form>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("protocol")).unwrap();
    for source in [control(), toy()] {
        fs::write(folder.path().join("protocol").join(format!("{}.toml", source.name)), source.text).unwrap();
    }
    // The registers are no family.
    fs::copy(root().join(protogen::REGISTERS), folder.path().join(protogen::REGISTERS)).unwrap();
    let sources = protogen::sources(folder.path()).unwrap();
    assert_eq!(sources.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["control", "toy"]);
    let forms = protogen::forms(&sources).unwrap();
    for form in &forms {
        form.write(folder.path()).unwrap();
    }
    (folder, forms)
}

fn text<'a>(forms: &'a [Form], path: &str) -> &'a str {
    &forms.iter().find(|f| f.path == path).unwrap_or_else(|| panic!("no form {path}")).text
}

fn succeeds(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn a_second_family_has_every_form_and_leaves_the_first_alone() {
    let (_folder, forms) = both();
    let index = text(&forms, "crates/core/wire/src/generated/mod.rs");
    for wanted in ["pub mod control;\npub mod rules;\npub mod toy;", "0x88B5 => Some(Self::Toy)", "u16; 9] ="] {
        assert!(index.contains(wanted), "{wanted} is not in {index}");
    }
    let cases = [
        ("crates/core/wire/src/generated/toy.rs", "pub struct ToyHeader"),
        ("gateware/rtl/common/rl_toy_pkg.sv", "package rl_toy_pkg;"),
        ("gateware/rtl/common/rl_toy_pkg.sv", "ToyHeaderHopOffset = 20;"),
        ("gateware/firmware/toy.h", "#define TOY_PAYLOAD_WORD 6u"),
        ("gateware/tb/protocol.py", "TOY = Family("),
        ("protocol/rackloom.lua", "rackloom_toy"),
        ("docs/src/reference/toy.md", "`toy.stopped` | card | host | any | none | host | none"),
    ];
    for (path, wanted) in cases {
        assert!(text(&forms, path).contains(wanted), "{path} has no {wanted}");
    }
    for alone in protogen::forms(&[control()]).unwrap() {
        let own = ["/control.rs", "/rules.rs", "rl_wire_pkg.sv", "wire.h", "wire.md"];
        if own.iter().any(|end| alone.path.ends_with(end)) {
            assert_eq!(alone.text, text(&forms, &alone.path), "{} knows the other family", alone.path);
        }
    }
}

#[test]
fn c_and_python_read_their_forms() {
    let (folder, _forms) = both();
    let main = folder.path().join("main.c");
    fs::write(
        &main,
        "#include \"toy.h\"\n#include \"wire.h\"\n\
         _Static_assert(TOY_KIND_TOY_SPIN == 0x88B50001u && KIND_EXEC_GO == 0x80CC0002u, \"kinds\");\n\
         _Static_assert(TOY_WORDS_OF_TOY_SPIN == 2u && TOY_TOY_HEADER_HOP_WORD == 5u, \"words\");\n\
         int takes(uint32_t kind);\n\
         int takes(uint32_t kind) { switch ((enum toy_taken)kind) { case TOY_TAKEN_TOY_SPIN: return 1; } return 0; }\n",
    )
    .unwrap();
    let include = format!("-I{}", folder.path().join("gateware/firmware").display());
    succeeds(
        Command::new("clang").args(["-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", &include]).arg(&main),
    );
    let script = "import protocol as p; k = p.TOY.kinds['Toy.Spin']; s = p.TOY.structs[k.payload]; \
                  print(hex(k.number), k.to, sum(f.size for f in s), len(p.CONTROL.kinds) > 30)";
    let tb = folder.path().join("gateware/tb");
    let seen = succeeds(Command::new("python3").args(["-c", script]).env("PYTHONPATH", tb));
    assert_eq!(seen.trim(), "0x88b50001 card 8 True");
}

#[test]
fn wireshark_takes_both_families_apart() {
    let (folder, _forms) = both();
    let ethernet = [[2, 0, 0, 0, 0, 7], [2, 0, 0, 0, 0, 9]].concat();
    let spin = [0x88, 0xb5, 0x38, 1, 0, 8, 0, 5, 0, 0, 0, 6, 0, 0, 4, 0, 0, 0, 0, 90];
    let trailer = [&[0, 0, 0, 3][..], &[0, 0, 0, 0, 0, 0, 0, 9], &[0xab; 16]].concat();
    let ping = [&[0x80, 0xec, 0x10, 6, 0, 0, 0, 3, 0, 0, 0, 1][..], &[0; 8], &[0; 28]].concat();
    let file = folder.path().join("frames.pcap");
    let mut writer = PcapWriter::new(File::create(&file).unwrap()).unwrap();
    for frame in [[&ethernet[..], &spin, &trailer].concat(), [&ethernet[..], &ping].concat()] {
        let length = u32::try_from(frame.len()).unwrap();
        writer.write_packet(&PcapPacket::new(Duration::ZERO, length, &frame)).unwrap();
    }
    drop(writer);
    let seen = tshark::read_with(&folder.path().join("protocol/rackloom.lua"), Path::new(&file)).unwrap();
    assert_eq!(seen[0].protocols, "eth:ethertype:rackloom_toy");
    assert_eq!(seen[0].faults(), [""; 0], "{seen:?}");
    for (field, value) in [
        ("rackloom_toy.name", "toy.spin"),
        ("rackloom_toy.version", "3"),
        ("rackloom_toy.lane", "5"),
        ("rackloom_toy.hop", "6"),
        ("rackloom_toy.spin.speed", "1024"),
        ("rackloom_toy.spin.angle", "90"),
        ("rackloom_toy.flags.signed", "1"),
        ("rackloom_toy.toy_trailer.key", "3"),
        ("rackloom_toy.toy_trailer.counter", "9"),
    ] {
        assert_eq!(seen[0].get(field), Some(value), "{field} of {seen:?}");
    }
    assert_eq!((seen[1].protocols.as_str(), seen[1].name()), ("eth:ethertype:rackloom", Some("session.ping")));
}

#[test]
fn families_that_share_an_ethertype_or_a_name_are_refused() {
    let cases = [
        ("0x88B5", "0x80CC", "EtherType 0x80CC is claimed by the families control and toy"),
        ("filter = \"rackloom_toy\"", "filter = \"rackloom\"", "\"rackloom\" stands twice"),
        ("package = \"rl_toy_pkg\"", "package = \"rl_wire_pkg\"", "\"rl_wire_pkg\" stands twice"),
        ("c_file = \"toy.h\"", "c_file = \"wire.h\"", "\"wire.h\" stands twice"),
        ("c_prefix = \"TOY_\"", "c_prefix = \"\"", "\"\" stands twice"),
        ("page = \"toy\"", "page = \"wire\"", "\"wire\" stands twice"),
    ];
    for (from, to, wanted) in cases {
        let Source { name, text } = toy();
        let other = Source { name, text: text.replacen(from, to, 1) };
        let error = format!("{:#}", protogen::check(&[control(), other]).expect_err(to));
        assert!(error.contains(wanted), "{error} and not {wanted}");
    }
}
