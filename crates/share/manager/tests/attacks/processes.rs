//! Kernels that begin processes, or hold up the end of their own.

use crate::siege::Siege;

/// What each kernel does, after the function `sys` and `spin`.
const ATTACKS: [(&str, &str); 8] = [
    ("a thread that is traced", "sys(101, 0, 0, 0, 0, 0, 0); spin();"),
    ("a child that keeps all files open", "sys(57, 0, 0, 0, 0, 0, 0); spin();"),
    ("a child that outlives its parent", "if (sys(57, 0, 0, 0, 0, 0, 0) == 0) spin(); sys(231, 0, 0, 0, 0, 0, 0);"),
    (
        "a grandchild with a session of its own",
        "if (sys(57, 0, 0, 0, 0, 0, 0) == 0) { sys(112, 0, 0, 0, 0, 0, 0); sys(57, 0, 0, 0, 0, 0, 0); spin(); }
        sys(231, 0, 0, 0, 0, 0, 0);",
    ),
    ("many children", "for (int i = 0; i < 6; i++) sys(57, 0, 0, 0, 0, 0, 0); spin();"),
    ("a signal to all of its group", "sys(62, 0, 9, 0, 0, 0, 0); spin();"),
    ("a process that stops itself", "sys(62, sys(39, 0, 0, 0, 0, 0, 0), 19, 0, 0, 0, 0); spin();"),
    (
        "a process that dies with no parent",
        "sys(157, 1, 0, 0, 0, 0, 0); sys(157, 36, 1, 0, 0, 0, 0); sys(57, 0, 0, 0, 0, 0, 0); spin();",
    ),
];

#[test]
fn nothing_is_left_of_a_worker() {
    Siege::each(|siege| ATTACKS.iter().for_each(|(what, attack)| siege.withstands(what, attack)));
}
