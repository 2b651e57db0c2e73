//! Each rule of the description refuses what breaks it, and says where.

use crate::common::{control, edited};
use protogen::Source;

/// The error after one edit of the control family.
fn error_after(from: &str, to: &str) -> String {
    let error = protogen::check(&[edited(from, to)]).expect_err(&format!("{from:?} -> {to:?} is taken"));
    format!("{error:#}")
}

#[test]
fn the_description_itself_is_sound() {
    protogen::check(&[control()]).unwrap();
}

#[test]
fn each_broken_rule_is_named() {
    let poll = "name = \"Poll\"\ndoc = \"Payload of a poll.\"\nfields = [";
    let cases: &[(&str, &str, &str)] = &[
        // Shape.
        ("version = 1", "version = 16", "four bits"),
        ("version = 1", "version = 1\ncolour = 3", "unknown field `colour`"),
        ("type = \"u16\"\nvalue = 32", "type = \"u24\"\nvalue = 32", "unknown type u24"),
        // The header.
        ("name = \"Header\"", "name = \"Heading\"", "no struct Header for the header"),
        (
            "{ name = \"addr\", type = \"u64\"",
            "{ name = \"addr\", type = \"u32\"",
            "Header ends at byte 28 of the frame",
        ),
        ("{ name = \"addr\", type = \"u64\"", "{ name = \"addr\", type = \"bytes16\"", "HEADER_END is 32"),
        (
            "{ name = \"length\", type = \"u16\"",
            "{ name = \"size\", type = \"u16\"",
            "a header begins with version_flags",
        ),
        ("{ name = \"addr\", type", "{ name = \"place\", type", "Session.Counters: counters need a header"),
        // The family.
        ("name = \"control\"", "name = \"remote\"", "the family is called remote, and its file control"),
        ("recognised_by = \"ethertype\"", "recognised_by = \"colour\"", "unknown variant `colour`"),
        ("struct = \"AuthTrailer\"", "struct = \"AuthTail\"", "no struct AuthTail for the trailer"),
        ("flag = \"AUTH\"", "flag = \"SIGNED\"", "no flag SIGNED for the trailer"),
        ("{ name = \"tag\", type = \"bytes16\"", "{ name = \"tag\", type = \"bytes8\"", "a trailer is key u32"),
        // Names.
        ("name = \"Solicit\"\ndoc", "name = \"Announce\"\ndoc", "\"Announce\" stands twice"),
        ("name = \"CardKind\"", "name = \"Pong\"", "\"Pong\" stands twice"),
        ("name = \"BULK_JUMBO\"", "name = \"BULK_STANDARD\"", "\"BULK_STANDARD\" stands twice"),
        ("name = \"HOSTS\"", "name = \"BEAT\"", "\"BEAT\" stands twice"),
        ("name = \"ACK_NOW\"", "name = \"RESEND\"", "\"RESEND\" stands twice"),
        ("name = \"rx_bytes\"", "name = \"rx_frames\"", "\"rx_frames\" stands twice"),
        ("name = \"Session\"", "name = \"Discovery\"", "\"Discovery\" stands twice"),
        ("name = \"Grant\", value", "name = \"Claim\", value", "\"SessionClaim\" stands twice"),
        ("name = \"Rtl\"", "name = \"Model\"", "CardKind: \"Model\" stands twice"),
        ("name = \"mac1\"", "name = \"mac0\"", "Announce: \"mac0\" stands twice"),
        // Numbers.
        ("type = \"u16\"\nvalue = 32", "type = \"u8\"\nvalue = 256", "256 does not fit 8 bits"),
        ("type = \"u16\"\nvalue = 32", "type = \"mac\"\nvalue = 32", "a constant is an integer"),
        ("name = \"CardKind\"\ntype = \"u8\"", "name = \"CardKind\"\ntype = \"u32\"", "CardKind is not u8 or u16"),
        ("name = \"Board\", value = 3", "name = \"Board\", value = 256", "CardKind.Board: 256 does not fit"),
        ("name = \"Board\", value = 3", "name = \"Board\", value = 2", "CardKind: 2 stands twice"),
        ("value = 0x80EC", "value = 0x80EF", "EtherTypes: 33007 stands twice"),
        ("name = \"Grant\", value = 2", "name = \"Grant\", value = 1", "Session: 1 stands twice"),
        ("bit = 1\n", "bit = 0\n", "flags: 0 stands twice"),
        ("bit = 2\n", "bit = 4\n", "flags have four bits"),
        ("03:52:4c:00:00:02", "02:52:4c:00:00:02", "HOSTS is not a locally administered group address"),
        ("03:52:4c:00:00:02", "03:52:4c:00:02", "not a MAC address"),
        // Structs.
        (poll, &format!("{poll}\n  {{ name = \"odd\", type = \"bytes7\", doc = \"Odd.\" }},"), "not a multiple of 8"),
        ("{ name = \"fuel\", type = \"u64\"", "{ name = \"fuel\", type = \"u4\"", "unknown type u4"),
        ("enum = \"CardKind\"", "enum = \"CardSort\"", "Announce: no enum CardSort"),
        ("type = \"u8\", enum = \"CardKind\"", "type = \"u8\", enum = \"ErrorCode\"", "not as wide as ErrorCode"),
        // Kinds.
        ("payload = \"Solicit\"", "payload = \"Solicitation\"", "no struct Solicitation"),
        ("payload = \"Grant\"", "payload = \"Grant\", content = \"text\"", "only a payload of `*` has a content"),
        // Tails.
        ("of = \"ChunkRange\"", "of = \"ByteRange\"", "no struct ByteRange for its tail"),
        ("of = \"ChunkRange\"", "of = \"Launch\"", "elements of a tail have none themselves"),
        ("count = \"ranges\"", "count = \"rangers\"", "no field rangers to count its tail"),
        ("count = \"ranges\", max", "max", "needs `count` and `max`"),
        ("max = \"LAUNCH_ARGS\"", "max = \"LUNCH_ARGS\"", "no constant LUNCH_ARGS to bound its tail"),
        ("of = \"text\"", "of = \"text\", count = \"code\"", "is not counted"),
    ];
    for (from, to, wanted) in cases {
        let error = error_after(from, to);
        assert!(error.contains(wanted), "{from:?} -> {to:?} gives {error:?} and not {wanted:?}");
    }
}

#[test]
fn a_field_that_crosses_its_alignment_is_refused() {
    let queued = "{ name = \"queued\", type = \"u8\", doc = \"Launches accepted and not finished.\" },";
    let error = error_after(queued, "");
    assert!(error.contains("not a multiple of 8"), "{error}");
    let error = error_after(
        &format!("{queued}\n  {{ name = \"reserved\", type = \"u16\", doc = \"Zero.\" }},"),
        &format!("{{ name = \"reserved\", type = \"u16\", doc = \"Zero.\" }},\n  {queued}"),
    );
    assert!(error.contains("Pong.reserved at 5 is not aligned"), "{error}");
}

#[test]
fn counters_that_a_card_may_lack_come_last() {
    let late = format!("{}\n[[counter]]\nname = \"late\"\ndoc = \"Late.\"\n", control().text);
    let error = format!("{:#}", protogen::check(&[Source { text: late, ..control() }]).unwrap_err());
    assert!(error.contains("late: a counter of every card stands before those that are `optional`"), "{error}");
}

#[test]
fn more_counters_than_gateware_can_number_are_refused() {
    let more: String = (0..257)
        .map(|i| format!("[[counter]]\nname = \"extra_{i}\"\noptional = true\ndoc = \"One more.\"\n"))
        .collect();
    let error = protogen::check(&[Source { text: format!("{}\n{more}", control().text), ..control() }]).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.contains("eight bits"), "{error}");
}
