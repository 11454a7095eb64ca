//! Links the programs statically where the C library of the machine allows it. Loading and relocating shared libraries
//! takes longer than all that the most common call, an edit of one small file, has to do: see `docs/performance.md`.
//!
//! `-C target-feature=+crt-static` is the compiler's own way and needs a named target, for it must not reach procedural
//! macros; `cargo install` cannot be told that by a package. So the linker is shown, in a directory of this package, the
//! archives in the place of the shared libraries. That is tried first with an empty program; where anything is missing,
//! or `RESTITCH_LINK=dynamic` is set, the programs are linked as usual. The library is never concerned.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script works with files and programs; it is no part of the crate"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the standard library names to the linker, and the archives that stand in for it.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("gcc_s", &["libgcc_eh.a", "libc.a"]),
    ("util", &["libutil.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("m", &["libm.a"]),
    ("dl", &["libdl.a"]),
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RESTITCH_LINK");
    let Some(archives) = is_wanted().then(archives).flatten() else { return };
    let mut programs = vec!["apply_patch"];
    if env::var_os("CARGO_FEATURE_HARNESS").is_none() && env::var_os("CARGO_FEATURE_MCP").is_none() {
        // With these it looks up the names of hosts, which the C library does by shared libraries only.
        programs.push("restitch");
    }
    for program in programs {
        for argument in arguments(&archives) {
            println!("cargo::rustc-link-arg-bin={program}={argument}");
        }
    }
}

/// Whether this is a build of the programs to use, for this machine, with the usual linker.
fn is_wanted() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    env::var_os("CARGO_FEATURE_CLI").is_some()
        && !is("OPT_LEVEL", "0")
        && !is("RESTITCH_LINK", "dynamic")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var_os("HOST") == env::var_os("TARGET")
        && env::var_os("RUSTC_LINKER").is_none()
        && !flags.contains("link")
        && !features.split(',').any(|feature| feature == "crt-static")
}

/// A directory in which the linker finds archives only, if a program can be linked with them.
fn archives() -> Option<PathBuf> {
    let directory = PathBuf::from(env::var_os("OUT_DIR")?).join("archives");
    fs::create_dir_all(&directory).ok()?;
    for (name, parts) in LIBRARIES {
        let parts: Option<Vec<String>> = parts.iter().map(|part| archive(part)).collect();
        fs::write(directory.join(format!("lib{name}.a")), format!("GROUP ( {} )\n", parts?.join(" "))).ok()?;
    }
    let names = LIBRARIES.map(|(name, _)| format!("-l{name}"));
    let trial = Command::new("cc")
        .args(["-Wl,--defsym=main=0", "-Wl,-Bdynamic", "-nodefaultlibs", "-pie"])
        .args(names)
        .args(arguments(&directory))
        .arg("-o")
        .arg(directory.join("trial"))
        .output();
    trial.is_ok_and(|trial| trial.status.success()).then_some(directory)
}

/// The path of an archive of the C compiler; one with a space could not be written into a linker script.
fn archive(name: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (Path::new(&path).is_absolute() && !path.contains(char::is_whitespace)).then_some(path)
}

fn arguments(archives: &Path) -> [String; 3] {
    [format!("-L{}", archives.display()), "-no-pie".to_owned(), "-static".to_owned()]
}
