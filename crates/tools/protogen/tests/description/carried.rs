//! A family that IPv6 packets carry: what it has to say, and what follows from it.

use crate::common::{bridge, control};
use crate::families::toy;
use protogen::{Form, Source};

/// The bridge family's description with edits, which must be possible.
fn edited(edits: &[(&str, &str)]) -> Source {
    let Source { name, mut text } = bridge();
    for (from, to) in edits {
        assert!(text.contains(from), "the description has no {from:?} to change: adapt this test");
        text = text.replacen(from, to, 1);
    }
    Source { name, text }
}

fn error_after(from: &str, to: &str) -> String {
    let error = protogen::check(&[edited(&[(from, to)])]).expect_err(&format!("{from:?} -> {to:?} is taken"));
    format!("{error:#}")
}

fn text<'a>(forms: &'a [Form], end: &str) -> &'a str {
    &forms.iter().find(|f| f.path.ends_with(end)).unwrap_or_else(|| panic!("no form {end}")).text
}

#[test]
fn the_description_itself_is_sound() {
    protogen::check(&[bridge()]).unwrap();
}

#[test]
fn one_that_is_half_described_is_refused_by_the_key() {
    let table = "[family.ipv6]\nethertype = 0x86DD\nnext_header = 253 # RFC 3692: experiments.\nhop_limit = 255\n\
                 subnet = \"fd52:4c00::/64\"\nstruct = \"Ipv6\"\n";
    let trailer = "flag = \"AUTH\" }";
    let cases: &[(&str, &str, &str)] = &[
        (table, "", "`ipv6` is missing"),
        ("ethertype = 0x86DD\n", "", "missing field `ethertype`"),
        ("next_header = 253", "", "missing field `next_header`"),
        ("hop_limit = 255", "", "missing field `hop_limit`"),
        ("subnet = \"fd52:4c00::/64\"", "", "missing field `subnet`"),
        ("struct = \"Ipv6\"", "", "missing field `struct`"),
        ("struct = \"Ipv6\"", "struct = \"Ipv6\"\nmtu = 1500", "unknown field `mtu`"),
        ("struct = \"Ipv6\"", "struct = \"Ipv7\"", "no struct Ipv7 for IPv6's header"),
        ("struct = \"Ipv6\"", "struct = \"Sack\"", "Sack: IPv6's header is version_class_flow u32, payload_length u16"),
        ("name = \"hop_limit\", type = \"u8\"", "name = \"hop_limit\", type = \"u16\"", "Ipv6: IPv6's header is"),
        ("fd52:4c00::/64", "fd52:4c00::/48", "`subnet` is \"fd52:4c00::/48\", and not of 64 bits"),
        ("fd52:4c00::/64", "fd52:4c00::1/64", "`subnet`: \"fd52:4c00::1/64\" has bits behind the 64th"),
        ("fd52:4c00::/64", "2001:db8::/64", "`subnet`: \"2001:db8::/64\" is not within fc00::/7"),
        ("fd52:4c00::/64", "rack/64", "`subnet`"),
        (
            "recognised_by = \"ipv6\"",
            "recognised_by = \"ethertype\"",
            "`ipv6`: the family is recognised by its EtherTypes",
        ),
        (
            "[[kind]]\nname = \"ReadRequest\"",
            "[[ethertype]]\nname = \"Other\"\nvalue = 1\ndoc = \"\"\nkinds = []\n[[kind]]\nname = \"ReadRequest\"",
            "`ethertype`: the family has that of `ipv6`",
        ),
        // What follows from the packets is not stated twice.
        ("name = \"STREAMS\"", "name = \"SUBNET\"", "\"SUBNET\" stands twice"),
        ("value = 96", "value = 32", "HEADER_END is 32, and Header ends at byte 96"),
        ("name = \"channel\", type = \"u16\"", "name = \"channel\", type = \"u8\"", "Header ends at byte 95"),
        // Kinds.
        ("value = 7\nfrom", "value = 6\nfrom", "`kind`: 6 stands twice"),
        ("reach = \"unicast\"\n", "", "kind.ReadRequest: `reach` is missing"),
        ("claim = \"window\"", "claim = \"epoch\"", "`claim` is \"epoch\", expected one of none, window"),
        ("from = \"both\"", "from = \"host\"", "`from` is \"host\", expected one of both"),
        ("taken_by = \"bridge\"", "taken_by = \"firmware\"", "expected one of bridge, transport"),
        (
            "taken_by = \"bridge\"",
            "taken_by = \"transport\"",
            "kind.ReadRequest: `claim`: the transport knows no windows",
        ),
        ("reach = \"unicast\"", "reach = \"any\"", "expected one of unicast"),
        ("order = \"none\"", "order = \"barrier\"", "`order` is \"barrier\", expected one of none"),
        ("payload = \"*\"\n", "payload = \"*\"\noptional = true\n", "kind.WriteRequest: only a struct is `optional`"),
        ("payload = \"Atomic\"", "payload = \"Atom\"", "kind.AtomicRequest: no struct Atom"),
        // No firmware takes its kinds.
        ("page = \"bridge\"", "page = \"bridge\"\nc_file = \"bridge.h\"", "`c_prefix` is missing"),
        ("page = \"bridge\"", "page = \"bridge\"\nc_prefix = \"B_\"", "`c_file` is missing"),
        (
            "page = \"bridge\"",
            "page = \"bridge\"\nc_file = \"bridge.h\"\nc_prefix = \"B_\"",
            "`c_file`: no kind that IPv6 packets carry is the firmware's",
        ),
        (trailer, "flag = \"SIGNED\" }", "no flag SIGNED for the trailer"),
    ];
    for (from, to, wanted) in cases {
        let error = error_after(from, to);
        assert!(error.contains(wanted), "{from:?} -> {to:?} gives {error:?} and not {wanted:?}");
        assert!(error.starts_with("protocol/bridge.toml"), "{error}");
    }
    let text = bridge().text;
    let (first, behind) = (text.find("[[kind]]\nname").unwrap(), text.find("[[struct]]\nname = \"Sack\"").unwrap());
    let text = [&text[..first], &text[behind..]].concat();
    let error = format!("{:#}", protogen::check(&[Source { text, ..bridge() }]).unwrap_err());
    assert!(error.contains("`kind`: no kinds"), "{error}");
}

/// What only such a family can state is no way around the rules of the others.
#[test]
fn families_with_ethertypes_cannot_state_the_rules_of_those_that_packets_carry() {
    let poll = "{ name = \"Ping\", value = 6, from = \"host\", to = \"card\", reach = \"unicast\", claim = \"none\", \
                taken_by = \"firmware\", order = \"none\",";
    let cases = [
        ("from = \"host\"", "from = \"both\"", "Session.Ping: `from` is \"both\", expected one of host, card"),
        ("claim = \"none\"", "claim = \"window\"", "expected one of none, epoch, group, load, member"),
        (
            "taken_by = \"firmware\"",
            "taken_by = \"bridge\"",
            "expected one of host, firmware, write, read, image, launch",
        ),
        ("taken_by = \"firmware\"", "taken_by = \"transport\"", "`taken_by` is \"transport\""),
    ];
    for (from, to, wanted) in cases {
        let text = control().text;
        assert!(text.contains(poll) && poll.contains(from));
        let text = text.replacen(poll, &poll.replacen(from, to, 1), 1);
        let error = format!("{:#}", protogen::check(&[Source { text, ..control() }]).unwrap_err());
        assert!(error.contains(wanted), "{error} and not {wanted}");
    }
    let kind = format!("{}\n[[kind]]\nname = \"Stray\"\nvalue = 1\n", toy().text);
    let error = format!("{:#}", protogen::check(&[Source { text: kind, ..toy() }]).unwrap_err());
    assert!(error.contains("`kind`: a family recognised by its EtherTypes has its kinds in them"), "{error}");
    let packets = toy().text.replacen(
        "[family.names]",
        "[family.ipv6]\nethertype = 0x86DD\nnext_header = 1\n\
        hop_limit = 1\nsubnet = \"fd00::/64\"\nstruct = \"Spin\"\n[family.names]",
        1,
    );
    let error = format!("{:#}", protogen::check(&[Source { text: packets, ..toy() }]).unwrap_err());
    assert!(error.contains("`ipv6`: the family is recognised by its EtherTypes"), "{error}");
}

#[test]
fn every_form_follows_from_the_packets() {
    let changes = [
        ("next_header = 253", "next_header = 254"),
        ("hop_limit = 255", "hop_limit = 63"),
        ("fd52:4c00::/64", "fd00:0:0:77::/64"),
        ("ethertype = 0x86DD", "ethertype = 0x88B6"),
    ];
    let forms = protogen::forms(&[control(), edited(&changes)]).unwrap();
    assert!(!forms.iter().any(|f| f.path.starts_with("gateware/firmware/") && !f.path.ends_with("wire.h")), "no C");
    let index = text(&forms, "generated/mod.rs");
    assert!(index.contains("0x88B6 if bridge::CARRIER.carries(frame) => Some(Self::Bridge)"), "{index}");
    assert!(index.contains("ETHERTYPES: [u16; 8]"), "its EtherType alone says nothing: {index}");
    let cases: &[(&str, &[&str])] = &[
        (
            "generated/bridge.rs",
            &[
                "ETHER_TYPE: u16 = 0x88B6",
                "NEXT_HEADER: u8 = 254",
                "HOP_LIMIT: u8 = 63",
                "SUBNET: u64 = 0xFD00000000000077",
                "const CARRIER: Option<Carrier> = Some(CARRIER);",
                "ReadRequest = 1,",
                "1 => Self::ReadRequest",
                "\"bridge.read-request\"",
            ],
        ),
        (
            "rl_bridge_pkg.sv",
            &[
                "EtherType = 16'h88b6;",
                "NextHeader = 8'd254;",
                "Subnet = 64'hfd00000000000077;",
                "Ipv6DstOffset = 38;",
                "HeaderVersionFlagsOffset = 54;",
                "HeaderChannelOffset = 94;",
                "    ipv6_t ipv6;\n    header_t header;",
                "The first 96 bytes",
                "KindCount = 10;",
                "'{kind: KindReadRequest,",
            ],
        ),
        (
            "protocol.py",
            &[
                "BRIDGE = Family(",
                "\"SUBNET\": 0xFD00000000000077",
                "\"ReadRequest\": Kind(number=0x88B60001, to=\"both\"",
            ],
        ),
        (
            "rackloom.lua",
            &["ipv6 = { next_header = 254, hop_limit = 63, subnet = \"fd00000000000077\" },", "name = \"bridge.ack\""],
        ),
        (
            "bridge.md",
            &[
                "| 54 | `version_flags` | u8 |",
                "| 38-53 | `ipv6.dst` | 16 bytes |",
                "addresses of the subnet fd00:0:0:77::/64",
                "The hop limit is 63",
                "is 254 and the\ndestination",
                "the payload, byte 96 of the frame",
                "none or [Sack](#sack), 32 bytes",
            ],
        ),
    ];
    for (path, wanted) in cases {
        for wanted in *wanted {
            assert!(text(&forms, path).contains(wanted), "{path} has no {wanted}");
        }
    }
    // A rule's value has one number in all packages, and a package those that its kinds can have.
    assert!(text(&forms, "rl_bridge_pkg.sv").contains("ClaimRuleWindow = 3'h6"));
    assert!(!text(&forms, "rl_bridge_pkg.sv").contains("ClaimRuleEpoch"));
    for (path, absent) in
        [("rl_wire_pkg.sv", "ClaimRuleWindow"), ("wire.h", "CLAIM_RULE_WINDOW"), ("wire.md", "`window`:")]
    {
        assert!(!text(&forms, path).contains(absent), "{path} has {absent}");
    }
}

#[test]
fn packets_of_one_ethertype_may_carry_several_families() {
    let other = |changes: &[(&str, &str)]| {
        let names = [
            ("name = \"bridge\"", "name = \"tunnel\""),
            ("rackloom_bridge", "rackloom_tunnel"),
            ("rl_bridge_pkg", "rl_tunnel_pkg"),
            ("page = \"bridge\"", "page = \"tunnel\""),
        ];
        Source { name: "tunnel".into(), ..edited(&[&names, changes].concat()) }
    };
    protogen::check(&[bridge(), other(&[("next_header = 253", "next_header = 254")])]).unwrap();
    let error = format!("{:#}", protogen::check(&[bridge(), other(&[])]).unwrap_err());
    assert!(error.contains("EtherType 0x86DD is claimed by the families bridge and tunnel"), "{error}");
    let taken = Source { text: toy().text.replacen("0x88B5", "0x86DD", 1), ..toy() };
    let error = format!("{:#}", protogen::check(&[bridge(), taken]).unwrap_err());
    assert!(error.contains("EtherType 0x86DD is claimed by the families bridge and toy"), "{error}");
}
