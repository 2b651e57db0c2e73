//! Kernels that take their process over, by what they do. Each ends its process or keeps it until others have waited
//! long enough, and nothing is left of it.
//!
//! A body has the buffer `x` of 512 words, `sys` for calls of the system by number, and `spin`.

use crate::siege::Siege;

/// Of how it ends.
const ENDS: &[(&str, &str)] = &[
    ("an end without a word", "sys(231, 0, 0, 0, 0, 0, 0);"),
    ("an end that looks like a failure", "sys(231, 120, 0, 0, 0, 0, 0);"),
    ("an end of the thread alone", "sys(60, 0, 0, 0, 0, 0, 0);"),
    ("a jump to nowhere", "__asm__ volatile(\"jmp *%0\" : : \"r\"(8L));"),
    ("an instruction that is none", "__asm__ volatile(\"ud2\");"),
    ("a breakpoint", "__asm__ volatile(\"int3\"); spin();"),
    ("an instruction of the system's", "__asm__ volatile(\"hlt\");"),
    ("a division by zero", "__asm__ volatile(\"xorl %%ecx, %%ecx; divl %%ecx\" : : : \"rax\", \"rcx\", \"rdx\");"),
    ("a stack without end", "__asm__ volatile(\"1: pushq %rax; jmp 1b\");"),
    ("no stack", "__asm__ volatile(\"xorl %esp, %esp; pushq %rax\");"),
    ("an abort", "sys(234, sys(39, 0, 0, 0, 0, 0, 0), sys(186, 0, 0, 0, 0, 0, 0), 6, 0, 0, 0); spin();"),
    ("no memory any more", "sys(11, 4096, 0x7ffffffde000, 0, 0, 0, 0);"),
    (
        "a linker in its place",
        "x[16] = 0x6e69622f7273752f; x[17] = 0x00646c2f; sys(59, (long)(x + 16), 0, 0, 0, 0, 0);",
    ),
];

/// Of how it stays.
const STAYS: &[(&str, &str)] = &[
    ("a loop", "spin();"),
    ("a sleep", "x[16] = 1L << 40; x[17] = 0; for (;;) sys(35, (long)(x + 16), 0, 0, 0, 0, 0);"),
    ("a wait for nobody", "x[16] = 0; for (;;) sys(202, (long)(x + 16), 0, 0, 0, 0, 0);"),
    ("a poll of nothing", "for (;;) sys(7, 0, 0, -1, 0, 0, 0);"),
    ("a mask for all signals", "x[16] = -1; sys(14, 0, (long)(x + 16), 0, 8, 0, 0); spin();"),
    ("one processor", "x[16] = 1; sys(203, 0, 8, (long)(x + 16), 0, 0, 0); spin();"),
];

/// Of what it does to its files, of which the manager has the other ends.
const FILES: &[(&str, &str)] = &[
    ("all files closed", "sys(436, 0, 0xffffffff, 0, 0, 0, 0); spin();"),
    ("all sockets shut", "for (long f = 0; f < 256; f++) sys(48, f, 2, 0, 0, 0, 0); spin();"),
    ("all files of the null device", "long null = next_null(x); for (long f = 0; f < 256; f++) sys(33, null, f, 0, 0, 0, 0); spin();"),
    ("nonsense on all sockets", "for (long i = 0; i < 512; i++) x[i] = i * 0x9e3779b97f4a7c15;
        for (long f = 0; f < 256; f++) for (long n = 1; n < 4096; n *= 2) sys(44, f, (long)x, n, 0x4040, 0, 0); spin();"),
    ("a flood of packets", "for (;;) for (long f = 0; f < 64; f++) sys(44, f, (long)x, 8, 0x4040, 0, 0);"),
    ("packets of no length", "for (;;) for (long f = 0; f < 64; f++) sys(44, f, (long)x, 0, 0x4040, 0, 0);"),
    ("all that comes read away", "for (;;) for (long f = 0; f < 64; f++) sys(45, f, (long)x, 4096, 0x40, 0, 0);"),
    ("its files passed on", "x[20] = x[21] = x[26] = 0; x[22] = (long)(x + 30); x[23] = 1; x[24] = (long)(x + 40);
        x[25] = 24; x[30] = (long)x; x[31] = 8; x[40] = 20; x[41] = 0x100000001;
        for (int i = 0; i < 50; i++) for (long to = 0; to < 48; to++) for (long f = 0; f < 48; f++) {
            x[42] = f; sys(46, to, (long)(x + 20), 0x4040, 0, 0, 0);
        } spin();"),
    ("files until there are no more", "while (next_null(x) >= 0); spin();"),
    ("pipes until there are no more", "while (sys(293, (long)(x + 16), 0, 0, 0, 0, 0) == 0); spin();"),
    ("timers until there are no more", "while (sys(283, 1, 0, 0, 0, 0, 0) >= 0); spin();"),
    ("files in memory", "for (int i = 0; i < 8; i++) {
            long f = sys(319, (long)x, 0, 0, 0, 0, 0); sys(285, f, 0, 0, 1L << 25, 0, 0);
        } spin();"),
    ("memory that stays in place", "long at = sys(9, 0, 1L << 28, 3, 0x22, -1, 0); sys(149, at, 1L << 28, 0, 0, 0, 0); spin();"),
    ("rings, arenas and the lease overwritten while they are read", "for (long n = 0;; n++) overwrite(x, n);"),
    ("the same with one value", "for (;;) overwrite(x, -1);"),
    ("the same, at rest afterwards", "for (long n = 0; n < 20; n++) overwrite(x, n * n);"),
];

/// What bodies call.
const HELP: &str = "
    long next_null(global long *x) {
        x[16] = 0x6c756e2f7665642f; x[17] = 0x6c;
        return sys(257, -100, (long)(x + 16), 2, 0, 0, 0);
    }
    /* All memory that it shares with others and may write, but the buffer's. */
    void overwrite(global long *x, long value) {
        char part[1024];
        long from = 0, to = 0, field = 0, got, seen = 0, is_written = 0, is_shared = 0;
        x[16] = 0x65732f636f72702f; x[17] = 0x007370616d2f666c;
        long file = sys(257, -100, (long)(x + 16), 0, 0, 0, 0);
        while ((got = sys(0, file, (long)part, 1024, 0, 0, 0)) > 0) {
            for (long i = 0; i < got; i++) {
                char c = part[i];
                long digit = c >= 'a' ? c - 'a' + 10 : c - '0';
                if (c == '\\n') {
                    for (long at = from; is_written && is_shared && at < to; at += 8)
                        ((volatile long *)at)[0] = value + at;
                    from = to = field = is_written = is_shared = 0;
                } else if (field == 0) {
                    if (c == '-') field = 1; else from = from * 16 + digit;
                } else if (field == 1) {
                    if (c == ' ') { field = 2; seen = 0; } else to = to * 16 + digit;
                } else if (field == 2) {
                    if (seen == 1) is_written = c == 'w';
                    if (seen == 3) is_shared = c == 's';
                    seen++;
                    if (c == ' ') field = 3;
                }
            }
        }
        sys(3, file, 0, 0, 0, 0, 0);
    }
";

#[test]
fn nothing_is_left_whatever_a_kernel_does() {
    Siege::each(|siege| {
        siege.some([ENDS, STAYS].concat()).for_each(|(what, body)| siege.withstands(what, body));
        siege.some(FILES).for_each(|(what, body)| siege.withstands_with(what, HELP, body));
    });
}
