//! `apply_patch`: several edits of several files as one transaction.

use serde_json::{Value, json};

use super::preview::PatchPreview;
use super::{Call, Intent, Outcome, Preview, Running, Settled, Tool, ToolDef, change};
use crate::harness::manifest::Effects;
use crate::{Patch, Report};

const DESCRIPTION: &str = "Edits files with a patch: all of it is applied, or nothing. The patch is\n\
*** Begin Patch\n\
*** Update File: PATH        (or *** Add File: PATH with + lines, or *** Delete File: PATH)\n\
*** Move to: PATH            (optional, after Update)\n\
@@ ANCHOR                    (optional: a line above the change, such as a function's head)\n\
 context line\n\
-removed line\n\
+added line\n\
*** End Patch\n\
Give about three lines of context; they must stand in the file. Paths are relative to the workspace. A patch that \
does not fit is refused with the lines of the file as it is now, and nothing is changed.";

/// The tool `apply_patch`.
#[derive(Debug)]
pub struct ApplyPatch {
    def: ToolDef,
}

impl Default for ApplyPatch {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"patch": {"type": "string", "description": "The whole patch, from Begin to End."}},
            "required": ["patch"],
            "additionalProperties": false
        });
        ApplyPatch { def: ToolDef::new("apply_patch", DESCRIPTION, schema, Effects::Idempotent) }
    }
}

fn parse(call: &Call) -> Result<Patch, Box<Outcome>> {
    let text = call.text("patch").unwrap_or_default();
    Patch::parse(text.as_bytes()).map_err(|error| Box::new(Outcome::error(crate::ApplyError::Parse(error).explain())))
}

impl Tool for ApplyPatch {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn preview(&self, call: Call) -> Option<Box<dyn Preview>> {
        Some(Box::new(PatchPreview::new(call)))
    }

    fn intent(&self, call: &Call) -> Result<Intent, Box<Outcome>> {
        change::intent(call, &parse(call)?, change::policy(), Report::text)
    }

    fn run(&self, call: Call, intent: Option<Value>) -> Running {
        super::blocking(move || match parse(&call) {
            Ok(patch) => change::run(&call, &patch, change::policy(), intent),
            Err(outcome) => *outcome,
        })
    }

    fn settle(&self, call: &Call, checkpoint: Option<&Value>) -> Settled {
        change::settle(call, checkpoint)
    }
}
