//! Programs in C and C++ that use the library, compiled with every warning as an error.

use crate::header::root;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the library that was built for this test.
fn libraries() -> PathBuf {
    let binary = env::current_exe().expect("a test is a file");
    let of_tests = binary.parent().expect("it is in a folder");
    let places = [of_tests, of_tests.parent().expect("deps is in a folder")];
    let newest =
        places.iter().filter(|place| place.join("libfloatgate.so").exists()).max_by_key(|place| {
            fs::metadata(place.join("libfloatgate.so")).and_then(|m| m.modified()).ok()
        });
    newest.expect("cargo builds the library with its tests").to_path_buf()
}

/// A folder of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = libraries().join(format!("c-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target can be written");
    folder
}

/// Whether there is such a program; a test that needs it says so and passes where it is not.
fn there_is(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no `{program}`");
    }
    there
}

/// Runs a program to its end; its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}\n{errors}", output.status);
    text
}

fn compile(compiler: &str, standard: &str, source: &Path, to: &Path, also: &[&str]) {
    let include = root().join("include");
    let folder = libraries();
    run(Command::new(compiler)
        .arg(standard)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(include)
        .arg(source)
        .arg("-o")
        .arg(to)
        .args(also)
        .arg("-L")
        .arg(&folder)
        .arg("-lfloatgate")
        .arg(format!("-Wl,-rpath,{}", folder.display())));
}

#[test]
fn the_header_compiles_as_c99_and_as_c_plus_plus_17() {
    let folder = scratch("header");
    for (compiler, standard, name) in [("cc", "-std=c99", "h.c"), ("c++", "-std=c++17", "h.cpp")] {
        if there_is(compiler) {
            let source = folder.join(name);
            fs::write(
                &source,
                "#include \"floatgate.h\"\n#include \"floatgate.h\"\n\
                 int main(void) { return floatgate_abi_version() != FLOATGATE_ABI_VERSION; }\n",
            )
            .expect("it is written");
            let program = folder.join(format!("{name}.out"));
            compile(compiler, standard, &source, &program, &[]);
            run(&mut Command::new(&program));
        }
    }
    fs::remove_dir_all(folder).expect("it is there");
}

/// The example of the documentation: sixteen readers, one after another, and its results.
#[test]
fn the_example_in_c_reads_and_writes() {
    if !there_is("cc") {
        return;
    }
    let folder = scratch("example");
    let program = folder.join("readers");
    compile("cc", "-std=c99", &root().join("examples/c/readers.c"), &program, &[]);
    let text = run(&mut Command::new(&program));
    assert!(text.contains("16 reads, each done after 170000 ns"), "{text}");
    fs::remove_dir_all(folder).expect("it is there");
}

/// The two ways in which a build finds the library: pkg-config, and `CMake` that asks it.
#[test]
fn a_build_finds_the_library_by_pkg_config_and_by_cmake() {
    if !there_is("pkg-config") || !there_is("cmake") || !there_is("cc") {
        return;
    }
    let folder = scratch("cmake");
    let text = fs::read_to_string(root().join("include/floatgate.pc.in")).expect("it is there");
    let top = fs::canonicalize(root()).expect("it is there");
    let text = text
        .replace("@PREFIX@", &top.display().to_string())
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("${prefix}/target/release", &libraries().display().to_string());
    assert!(!text.contains('@'), "{text}");
    fs::write(folder.join("floatgate.pc"), text).expect("it is written");
    let with = |program: &str| {
        let mut command = Command::new(program);
        command.env("PKG_CONFIG_PATH", &folder);
        command
    };
    let version = run(with("pkg-config").args(["--modversion", "floatgate"]));
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
    let build = folder.join("build");
    run(with("cmake").arg("-S").arg(root().join("examples/c")).arg("-B").arg(&build));
    run(with("cmake").arg("--build").arg(&build).args(["--target", "readers"]));
    let text = run(&mut Command::new(build.join("readers")));
    assert!(text.contains("16 reads"), "{text}");
    fs::remove_dir_all(folder).expect("it is there");
}

/// The module of `SystemC`: each thread sees the latencies that the result has.
#[test]
fn threads_of_systemc_share_a_drive() {
    let folder = scratch("systemc");
    let probe = folder.join("probe.cpp");
    fs::write(&probe, "#include <systemc>\nint sc_main(int, char **) { return 0; }\n")
        .expect("it is written");
    let there = Command::new("c++")
        .args(["-std=c++17", "-o"])
        .arg(folder.join("probe"))
        .arg(&probe)
        .arg("-lsystemc")
        .output()
        .is_ok_and(|output| output.status.success());
    if there {
        let program = folder.join("two");
        let source = root().join("examples/c/two_initiators.cpp");
        compile("c++", "-std=c++17", &source, &program, &["-Wno-pedantic", "-lsystemc"]);
        let text = run(Command::new(&program).env("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1"));
        let result = text.lines().find(|line| line.starts_with('{')).expect("a result");
        let result: serde_json::Value = serde_json::from_str(result).expect("it is JSON");
        for (name, class) in [("reader", "read"), ("writer", "write")] {
            let line = text.lines().find(|line| line.starts_with(name)).expect("its sum");
            let sum: f64 = line[name.len()..].trim().parse().expect("a number of ns");
            let of = &result["host"][class];
            assert_eq!(of["requests"], 100);
            let mean = of["latency_ns"]["mean"].as_f64().expect("a mean");
            assert!((mean * 100.0 - sum).abs() < 1.0, "{class}: {mean} ns and {sum} ns");
        }
    } else {
        eprintln!("skipped: there is no SystemC (Debian: libsystemc-dev)");
    }
    fs::remove_dir_all(folder).expect("it is there");
}

/// No memory is lost, used after it was freed or read before it was written. More drives leave no more
/// memory in use at the end.
#[test]
#[ignore = "`make verify`: valgrind takes a minute"]
fn valgrind_has_nothing_to_say() {
    if !there_is("cc") || !there_is("valgrind") {
        return;
    }
    let folder = scratch("valgrind");
    let program = folder.join("many");
    compile("cc", "-std=c99", &root().join("crates/c/tests/programs/many.c"), &program, &[]);
    let left = |drives: &str| {
        let text = run(Command::new("valgrind")
            .args([
                "--log-fd=1",
                "--error-exitcode=9",
                "--leak-check=full",
                "--errors-for-leak-kinds=definite,indirect,possible",
            ])
            .arg(&program)
            .arg(drives));
        let left = text.split_once("in use at exit: ").and_then(|(_, left)| left.lines().next());
        left.expect("valgrind prints what is in use").to_owned()
    };
    assert_eq!(left("40"), left("8"));
    fs::remove_dir_all(folder).expect("it is there");
}

/// A thousand drives in one process take no more memory than a hundred: a closed drive is freed.
#[test]
fn a_thousand_drives_are_freed() {
    if !there_is("cc") {
        return;
    }
    let folder = scratch("many");
    let program = folder.join("many");
    compile("cc", "-std=c99", &root().join("crates/c/tests/programs/many.c"), &program, &[]);
    let peak = |count: &str| -> u64 {
        let text = run(Command::new(&program).arg(count));
        text.trim().parse().expect("a number of KiB")
    };
    let (some, all) = (peak("100"), peak("1000"));
    assert!(all < some + 2048, "{some} KiB for 100, {all} KiB for 1000");
    fs::remove_dir_all(folder).expect("it is there");
}
