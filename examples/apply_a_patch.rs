//! Patches a tree: all of it, or nothing and the reason.
//!
//! `cargo run --example apply_a_patch`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use restitch::{ApplyOptions, Workspace};

const PATCH: &str = "*** Begin Patch
*** Update File: src/greet.py
@@ def greet(name):
-    return \"Hello \" + name
+    return f\"Hello, {name}!\"
*** Add File: notes.txt
+made by a patch
*** End Patch
";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-apply-{}", std::process::id()));
    std::fs::create_dir_all(root.join("src"))?;
    std::fs::write(root.join("src/greet.py"), "def greet(name):\n    return \"Hello \" + name\n")?;

    // Everything happens below this directory; no path of a patch leads out of it.
    let workspace = Workspace::open(&root)?;
    let report = ApplyOptions::default().apply(&workspace, PATCH.as_bytes())?;
    print!("{}", report.text());
    assert_eq!(
        std::fs::read_to_string(root.join("src/greet.py"))?,
        "def greet(name):\n    return f\"Hello, {name}!\"\n"
    );

    // The same patch a second time: refused, nothing written, and the text says why.
    let Err(error) = ApplyOptions::default().apply(&workspace, PATCH.as_bytes()) else {
        return Err("a patch that is applied already must be refused".into());
    };
    println!("\nAgain: {}", error.explain());

    std::fs::remove_dir_all(&root)?;
    Ok(())
}
