//! Files that sources include: they are the program's, wherever the board's compiler runs.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use common::Bench;
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// Builds a program, whose kernel tells a number; or the log.
fn told(bench: &Bench, source: &str, options: &CStr) -> Result<i32, String> {
    let cl = bench.cl;
    let program = bench.program(source);
    let built = cl!(cl, clBuildProgram(program, 0, null(), options.as_ptr(), None, null_mut()));
    let answer = if built == 0 { Ok(number(bench, program)) } else { Err(log(bench, program)) };
    let source_of = common::info(|s, v, r| cl!(cl, clGetProgramInfo(program, CL_PROGRAM_SOURCE, s, v, r))).unwrap();
    assert_eq!(source_of, CString::new(source).unwrap().into_bytes_with_nul(), "it is the program's own");
    ok!(cl, clReleaseProgram(program));
    answer
}

fn number(bench: &Bench, program: cl_program) -> i32 {
    let kernel = make!(bench.cl, clCreateKernel(program, c"k".as_ptr()));
    let buffer = bench.filled(&[0; 4]);
    bench.set(kernel, 0, &buffer);
    ok!(bench.cl, clReleaseEvent(bench.launch(bench.queue(), kernel, 1, &[])));
    let number = bench.read(bench.queue(), buffer, 4);
    ok!(bench.cl, clReleaseKernel(kernel));
    ok!(bench.cl, clReleaseMemObject(buffer));
    i32::from_ne_bytes(number.try_into().unwrap())
}

fn log(bench: &Bench, program: cl_program) -> String {
    let (device, name) = (bench.devices[0], CL_PROGRAM_BUILD_LOG);
    let log = common::info(|s, v, r| cl!(bench.cl, clGetProgramBuildInfo(program, device, name, s, v, r))).unwrap();
    CStr::from_bytes_with_nul(&log).unwrap().to_str().unwrap().to_owned()
}

/// One test: a process has one working folder.
#[test]
fn sources_include_files_of_the_program() {
    let devices = Bench::each(0); // The manager runs elsewhere.
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("n.h", "#pragma once\n#include \"inc/m.h\"\nconstant int n = M;\n");
    write("inc/m.h", "#ifndef M\n#define M 42\n#include \"../n.h\"\n#endif\n");
    write("inc/p.h", "#define P 1\n");
    write("wrong.h", "\n\nint f(void) { return nonsense; }\n");
    std::env::set_current_dir(folder.path()).unwrap();
    let body = "kernel void k(global int *x) { *x = n; }";
    for bench in devices {
        let cl = bench.cl;
        assert_eq!(told(&bench, &format!("#include \"n.h\"\n{body}"), c""), Ok(42));
        assert_eq!(told(&bench, &format!("#include \"./n.h\"\n#include <n.h>\n{body}"), c"-I."), Ok(42));
        let by_options = "#include \"m.h\"\nconstant int o = M + 1;\nkernel void k(global int *x) { *x = o; }";
        assert_eq!(told(&bench, by_options, c"-I inc"), Ok(43));
        assert!(told(&bench, by_options, c"").unwrap_err().contains("m.h"), "other options, other files");
        let large = format!("// {}\n#include \"n.h\"\n{body}", "x".repeat(100_000));
        assert_eq!(told(&bench, &large, c""), Ok(42));
        let wrong = told(&bench, &format!("#include \"wrong.h\"\n{body}"), c"").unwrap_err();
        assert!(wrong.contains("wrong.h:3:"), "{wrong}");

        // A program that is built again finds what its options name.
        let program = bench.program(by_options);
        let build = |options: &CStr| cl!(cl, clBuildProgram(program, 0, null(), options.as_ptr(), None, null_mut()));
        assert_eq!(build(c""), CL_BUILD_PROGRAM_FAILURE);
        assert_eq!(build(c"-Iinc"), 0);
        assert_eq!(number(&bench, program), 43);
        ok!(cl, clReleaseProgram(program));

        // A header that the program gives comes before a file of that name.
        let header = bench.program("constant int n = 7;");
        let main =
            bench.program("#include \"n.h\"\n#include \"inc/p.h\"\nkernel void k(global int *x) { *x = n + P; }");
        let mut name = c"n.h".as_ptr();
        let compiled =
            cl!(cl, clCompileProgram(main, 0, null(), null(), 1, &raw const header, &raw mut name, None, null_mut()));
        assert_eq!(compiled, 0, "{}", log(&bench, main));
        let (context, input) = (bench.context, &raw const main);
        let linked = make!(cl, clLinkProgram(context, 0, null(), null(), 1, input, None, null_mut()));
        assert_eq!(number(&bench, linked), 8);
        [header, main, linked].iter().for_each(|program| ok!(cl, clReleaseProgram(*program)));
    }
}
