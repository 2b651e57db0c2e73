//! Kernels that begin processes, or hold up the end of their own.

use crate::siege::Siege;

/// What each kernel does, after the function `sys` and `spin`.
const ATTACKS: [(&str, &str); 11] = [
    ("a thread that is traced", "sys(101, 0, 0, 0, 0, 0, 0); spin();"),
    ("a child that keeps all files open", "sys(57, 0, 0, 0, 0, 0, 0); spin();"),
    ("a child that outlives its parent", "if (sys(57, 0, 0, 0, 0, 0, 0) == 0) spin(); sys(231, 0, 0, 0, 0, 0, 0);"),
    (
        "a grandchild with a session of its own",
        "if (sys(57, 0, 0, 0, 0, 0, 0) == 0) { sys(112, 0, 0, 0, 0, 0, 0); sys(57, 0, 0, 0, 0, 0, 0); spin(); }
        sys(231, 0, 0, 0, 0, 0, 0);",
    ),
    // A linker's parent waits in `vfork`, which is therefore allowed.
    ("a child for whom its parent waits", "sys(58, 0, 0, 0, 0, 0, 0); spin();"),
    ("a grandchild of that sort", "for (int i = 0; i < 2; i++) sys(58, 0, 0, 0, 0, 0, 0); spin();"),
    ("many of that sort", "for (int i = 0; i < 30; i++) sys(58, 0, 0, 0, 0, 0, 0); spin();"),
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
    Siege::each(|siege| siege.some(&ATTACKS).for_each(|(what, attack)| siege.withstands(what, attack)));
}

/// It may have a thousand; beyond that `clone` fails. Their stacks are the buffer's, and they only wait, at a futex.
#[test]
fn threads_without_end() {
    Siege::each(|siege| {
        let body = "long n = 0, flags = 0x50f00;
            while (n < 20000) {
                long r;
                __asm__ volatile(\"xorl %%r10d, %%r10d; xorl %%r8d, %%r8d; syscall; test %%rax, %%rax; jnz 2f;\"
                    \"leaq -1000(%%rsi), %%rdi; 1: movl $202, %%eax; xorl %%esi, %%esi; syscall; jmp 1b; 2:\"
                    : \"=a\"(r) : \"a\"(56L), \"D\"(flags), \"S\"((long)x + 4000), \"d\"(0L)
                    : \"rcx\", \"r8\", \"r10\", \"r11\", \"memory\");
                if (r < 0) break;
                n++;
            }
            x[0] = n;";
        let begun = siege.result(body);
        eprintln!("{begun} threads");
        assert!(begun < 1024 || siege.lacks("namespaces"), "{begun} threads");
        siege.is_served();
    });
}

#[test]
fn memory_without_end() {
    Siege::each(|siege| {
        let body = "for (;;) {
                long at = sys(9, 0, 1L << 26, 3, 0x22, -1, 0);
                if (at < 0 && at > -4096) break;
                ((volatile char *)at)[0] = 1;
            }
            spin();";
        siege.withstands("memory without end", body);
    });
}
