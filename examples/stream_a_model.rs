//! Plans a patch while a model is still writing it: a hunk that will not fit is known at once, and the model can be stopped.
//!
//! `cargo run --example stream_a_model`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use restitch::{ApplyOptions, LiveApply, LiveEvent, LiveFiles, Workspace};

const WRONG: &str = "*** Begin Patch
*** Update File: tide.py
@@ def tide(hour):
-    return \"ebb\"
+    return \"flood\"
@@ def moon(day):
-    return \"full\"
+    return \"new\"
*** End Patch
";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-stream-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    std::fs::write(
        root.join("tide.py"),
        "def tide(hour):\n    return \"low\"\n\n\ndef moon(day):\n    return \"full\"\n",
    )?;
    let workspace = Workspace::open(&root)?;

    // The first hunk is wrong: the stream is ended before the second one is in.
    let taken = stream(&workspace, WRONG)?;
    assert!(taken < WRONG.len(), "the model was stopped");
    println!("stopped after {taken} of {} bytes\n", WRONG.len());

    // The mended patch goes through, and is applied at its end.
    let right = WRONG.replace("\"ebb\"", "\"low\"");
    assert_eq!(stream(&workspace, &right)?, right.len());
    assert!(std::fs::read_to_string(root.join("tide.py"))?.contains("flood"));

    std::fs::remove_dir_all(&root)?;
    Ok(())
}

/// Takes a text as a model writes it, a few bytes at a time; returns how many were needed.
fn stream(workspace: &Workspace, text: &str) -> Result<usize, Box<dyn std::error::Error>> {
    let (files, options) = (LiveFiles::new(), ApplyOptions::default());
    // What an interrupted commit may have left is put right before anything is planned.
    options.resume(workspace)?;
    let mut live = LiveApply::new(workspace, &files, &options);
    for (number, piece) in text.as_bytes().chunks(7).enumerate() {
        live.feed(piece);
        while let Some(event) = live.next_event()? {
            print!("{}", event.json());
            if matches!(event, LiveEvent::Misfit { .. }) {
                return Ok(number * 7 + piece.len());
            }
        }
    }
    print!("{}", live.finish()?.text());
    Ok(text.len())
}
