//! Programs that attack the compiler, which runs in their worker, or through it.

use std::time::Duration;

use rackloom_opencl_wire::{Argument, Command, Form, Payload};

use crate::common::Tenant;
use crate::siege::Siege;

/// Sources that take long, or whose compiler ends. `n` is put in place of what makes each new to the cache.
fn endless() -> Vec<(&'static str, String)> {
    let doubles = (1..40).map(|n| format!("#define A{n} A{} A{}\n", n - 1, n - 1)).collect::<String>();
    let kernel = |body: &str| format!("kernel void k(global int *x) {{ {body} }}");
    vec![
        ("a macro that doubles forty times", format!("#define A0 x[0]++;\n{doubles}{}", kernel("A39"))),
        ("a file that has no end", "#include \"/dev/zero\"\n".to_owned()),
        ("a file that waits", "#include \"/dev/stdin\"\n".to_owned()),
        ("a source that includes itself", format!("#include __FILE__\n{}", kernel(""))),
        ("a hundred thousand brackets", kernel(&format!("x[0] = {}1{};", "(".repeat(100_000), ")".repeat(100_000)))),
        ("a hundred thousand blocks", kernel(&format!("{}{}", "{".repeat(100_000), "}".repeat(100_000)))),
        ("an expression of a million terms", kernel(&format!("x[0] = x[1]{};", " + x[2]".repeat(1_000_000)))),
        ("nonsense", "\u{1}\u{2}kernel \"\\".repeat(1000)),
    ]
}

/// Sources that bring a file in by the compiler.
const INCLUDES: [&str; 2] = ["/etc/shadow", "/proc/1/environ"];

/// One that brings a file in by the assembler, and shows what it begins with.
const ASSEMBLES: &str = "kernel void k(global char *x) {
        global char *at;
        __asm__ volatile(\".pushsection .data; 77: .incbin \\\"/etc/shadow\\\"; .fill 16; .popsection; leaq 77b(%%rip), %0\"
            : \"=r\"(at));
        for (int i = 0; i < 8; i++) x[i] = at[i];
    }";

#[test]
fn nothing_is_left_of_a_compiler() {
    Siege::each(|siege| {
        for (what, source) in siege.some(endless()) {
            siege.outlives(what, |attacker| {
                let bulk = attacker.bulk(source.len() as u64);
                let bytes = Payload::Bulk(bulk.put(0, source.as_bytes()).unwrap().into());
                attacker.send(&Command::CreateProgram { program: 9, form: Form::Source, bytes }, &[]);
                attacker.send(&Command::Build { request: attacker.number(), program: 9, options: "" }, &[]);
                std::thread::sleep(Duration::from_millis(300)); // It compiles.
            });
        }
    });
}

#[test]
fn sources_that_bring_secrets_in() {
    let is_readable = std::fs::read("/etc/shadow").is_ok_and(|text| text.starts_with(b"root:"));
    Siege::each(|siege| {
        let attacker = siege.attacker();
        attacker.buffer(9, 64);
        assert_eq!(attacker.write(9, 0, &[0; 64]).status, 0);
        let shows = attacker.build(9, ASSEMBLES).status == 0 && {
            attacker.send(&Command::CreateKernel { kernel: 9, program: 9, name: "k" }, &[]);
            let launch = Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]);
            let event = attacker.enqueue_after(launch, &[], vec![], true);
            attacker.settles(event);
            let is_there = attacker.inbox.lock().unwrap().closed.is_none();
            is_there && attacker.read(9, 0, 5).tail == b"root:"
        };
        // A client of the manager's own user may read what that user may: so the attack is one.
        assert_eq!(shows, is_readable && !siege.reads_runtimes_only());
        drop(attacker);
        for path in INCLUDES.iter().filter(|_| siege.reads_runtimes_only()) {
            let build = siege.attacker().build(9, &format!("#include \"{path}\"\nkernel void k(global int *x) {{}}"));
            assert_ne!(build.status, 0, "{path}");
            assert!(!build.log.contains("root:"), "{}", build.log);
        }
        siege.is_served();
    });
}
