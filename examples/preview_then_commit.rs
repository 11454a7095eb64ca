//! Shows what a patch would do before it is done: plan, look, prepare, commit.
//!
//! `cargo run --example preview_then_commit`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use restitch::{CommitOptions, DiffOptions, Patch, Plan, PlanOptions, Report, Workspace, prepare};

const PATCH: &str = "*** Begin Patch
*** Update File: settings.toml
@@
-retries = 1
+retries = 3
*** Delete File: old.toml
*** End Patch
";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-preview-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("settings.toml"), "name = \"demo\"\nretries = 1\n")?;
    std::fs::write(root.join("old.toml"), "unused = true\n")?;

    // Planning reads, and never writes.
    let workspace = Workspace::open(&root)?;
    let plan = Plan::new(Patch::parse(PATCH.as_bytes())?, &workspace, &PlanOptions::default())?;
    let report = Report::planned(plan, Vec::new());
    print!("{}", String::from_utf8_lossy(&report.diff(&DiffOptions::default())));
    assert!(root.join("old.toml").exists());

    // Here a person would say yes. Preparing takes the lock, compares the disk with what the plan was made from, and writes
    // the new files beside the old ones; committing only renames. Dropping `prepared` instead leaves the tree as it was.
    let prepared = prepare(&workspace, report.plan().steps(), &CommitOptions::default())?;
    prepared.commit()?;
    assert_eq!(std::fs::read_to_string(root.join("settings.toml"))?, "name = \"demo\"\nretries = 3\n");
    assert!(!root.join("old.toml").exists());
    println!("committed");

    std::fs::remove_dir_all(&root)?;
    Ok(())
}
