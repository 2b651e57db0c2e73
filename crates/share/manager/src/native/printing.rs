//! Whether the kernels of a program may print, judged by its text: to look at what was printed is a system call after
//! each launch, and most programs print nothing.

use std::sync::atomic::{AtomicBool, Ordering};

/// What the text of a program that prints has at least one of: the function's name, or a way to spell it otherwise or
/// elsewhere. Those are `##` and its other forms (`%:`, `??=`), lines that go on behind a backslash, included files,
/// and assembly, by which a kernel may write to the output itself.
const SIGNS: [&[u8]; 7] = [b"printf", b"include", b"##", b"%:", b"??", b"\\", b"asm"];

/// Whether kernels may print.
#[derive(Debug, Default)]
pub(super) struct Printing(AtomicBool);

impl Printing {
    /// Of a program whose text nobody here knows.
    pub(super) const fn unknown() -> Self {
        Self(AtomicBool::new(true))
    }

    /// Takes a part of a program's text, or an option that it is compiled with, into account.
    pub(super) fn learn(&self, text: &[u8]) {
        let has = |sign: &&[u8]| text.windows(sign.len()).any(|part| part == *sign);
        if !self.is_possible() && SIGNS.iter().any(has) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether they may.
    pub(super) fn is_possible(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_print(text: &str) -> bool {
        let printing = Printing::default();
        printing.learn(text.as_bytes());
        printing.is_possible()
    }

    #[test]
    fn who_prints_is_known_however_the_name_is_spelt() {
        assert!(!may_print("") && !may_print("kernel void k(global int *a) { a[0] = 1 % 2; } // print f # 1"));
        for text in [
            "kernel void k() { printf(\"x\"); }",
            "kernel void k() { __builtin_printf(\"x\"); }",
            "#define J(a, b) a##b\nkernel void k() { J(prin, tf)(\"x\"); }",
            "%:define J(a, b) a%:%:b\nkernel void k() { J(prin, tf)(\"x\"); }",
            "??=define J(a, b) a??=??=b\nkernel void k() { J(prin, tf)(\"x\"); }",
            "kernel void k() { prin\\\ntf(\"x\"); }",
            "kernel void k() { prin??/\ntf(\"x\"); }",
            "# include \"text.h\"\nkernel void k() { say(); }",
            "kernel void k() { __asm__ volatile(\"syscall\"); }",
        ] {
            assert!(may_print(text), "{text}");
        }
        assert!(may_print("-cl-fast-relaxed-math -DSAY=printf") && !may_print("-cl-fast-relaxed-math -DN=4"));
        assert!(Printing::unknown().is_possible());
    }
}
