//! Only the matcher and the patch parser, on strings: no file system, no program.
//!
//! `cargo run --no-default-features --example match_strings`
#![allow(clippy::print_stdout, reason = "an example talks")]

use restitch::{ApplyOptions, DiffOptions, MemSource, Patch, Plan, PlanOptions, Policy, Report, Tier, seek_sequence};

const FILE: &str = "fn main() {\n\tlet price = “5”;\n\tpay(price);\n}\n";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Where do these lines stand, and how loosely had they to be compared?
    let lines: Vec<&str> = FILE.lines().collect();
    let found = seek_sequence(&lines, &["let price = \"5\";", "pay(price);"], 0, false).ok_or("not found")?;
    println!("found at line {} with tier `{}`", found.line + 1, found.tier.name());
    assert_eq!((found.line, found.tier), (1, Tier::Unicode));

    // A whole patch against a tree that is only in memory.
    let patch = b"*** Begin Patch\n*** Update File: pay.rs\n@@ fn main() {\n let price = \"5\";\n-pay(price);\n+pay(&price);\n*** End Patch\n";
    let tree = MemSource::new().file("pay.rs", FILE);
    let plan = Plan::new(Patch::parse(patch)?, &tree, &PlanOptions::default())?;
    let diff = Report::planned(plan, Vec::new()).diff(&DiffOptions::default());
    print!("{}", String::from_utf8_lossy(&diff));
    assert!(String::from_utf8_lossy(&diff).contains("-\tpay(price);\n+\tpay(&price);\n"));

    // A caller that wants no looseness says so.
    let strict = PlanOptions::default().policy(Policy::default().loosest_tier(Tier::Exact));
    assert!(Plan::new(Patch::parse(patch)?, &tree, &strict).is_err());
    // The same rules, should there be a disk after all.
    let _for_a_workspace = ApplyOptions::default().plan(strict);
    Ok(())
}
