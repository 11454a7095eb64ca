//! When is a person asked before a tool runs? Pure: rules, a call, an answer.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use super::manifest::{Approval, Ask};
use super::tools::ToolDef;

/// Characters with which one shell command becomes several, or writes somewhere.
const SHELL: &[char] = &[';', '&', '|', '`', '$', '<', '>', '(', ')', '\n', '\r'];

/// The rules of an agent, ready to be asked.
#[derive(Debug, Default)]
pub struct Approvals {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    tool: GlobMatcher,
    input: Vec<(String, Pattern)>,
    ask: Ask,
    name: String,
}

#[derive(Debug)]
struct Pattern {
    glob: GlobMatcher,
    text: String,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Run,
    /// A person is asked. The name is that of a leave that lasts for the session, if a yes is one.
    Ask {
        /// Under which value a leave for the session is kept.
        leave: String,
        /// Whether a yes is such a leave.
        once: bool,
    },
}

/// A rule that is no glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the approval rule's pattern `{pattern}` is wrong: {message}")]
pub struct ApprovalError {
    pattern: String,
    message: String,
}

impl Approvals {
    /// The rules as written.
    ///
    /// # Errors
    /// The first pattern that is no glob.
    pub fn new(rules: &[Approval]) -> Result<Self, ApprovalError> {
        let rules = rules.iter().map(|rule| {
            let input = rule
                .input
                .iter()
                .map(|(field, text)| Ok((field.clone(), Pattern { glob: glob(text)?, text: text.clone() })));
            let fields: String = rule.input.iter().map(|(field, text)| format!(" {field}={text}")).collect();
            Ok(Rule {
                tool: glob(&rule.tool)?,
                input: input.collect::<Result<_, _>>()?,
                ask: rule.ask,
                name: format!("{}{fields}", rule.tool),
            })
        });
        Ok(Approvals { rules: rules.collect::<Result<_, _>>()? })
    }

    /// Decides on a call; `has_leave` tells whether a leave of that name was given.
    ///
    /// The first rule that fits decides, else the tool's own wish, else its effects: what is done anew each time it runs
    /// is always asked about, the rest never.
    #[must_use]
    pub fn decide(&self, def: &ToolDef, input: &Map<String, Value>, has_leave: impl Fn(&str) -> bool) -> Decision {
        let tool = &def.spec.name;
        let rule = self.rules.iter().find(|rule| rule.fits(tool, input));
        let (ask, rule) = match rule {
            Some(rule) => (rule.ask, rule.name.as_str()),
            None => (def.ask.unwrap_or(if def.effects.repeatable() { Ask::Never } else { Ask::Always }), ""),
        };
        let leave = format!("leave:{tool}:{rule}");
        match ask {
            Ask::Never => Decision::Run,
            _ if has_leave(&leave) => Decision::Run,
            Ask::Once => Decision::Ask { leave, once: true },
            Ask::Always => Decision::Ask { leave, once: false },
        }
    }
}

impl Rule {
    fn fits(&self, tool: &str, input: &Map<String, Value>) -> bool {
        self.tool.is_match(tool)
            && self.input.iter().all(|(field, pattern)| {
                let text = input.get(field).and_then(Value::as_str);
                text.is_some_and(|text| pattern.fits(text, tool == "bash" && self.ask != Ask::Always))
            })
    }
}

impl Pattern {
    /// Whether the text fits. In a rule that lets shell commands pass a wildcard stands for words, not for further
    /// commands: `cargo *` does not fit `cargo test; rm -r .`.
    fn fits(&self, text: &str, command: bool) -> bool {
        let smuggled = |c: &char| text.contains(*c) && !self.text.contains(*c);
        self.glob.is_match(text) && !(command && SHELL.iter().any(smuggled))
    }
}

fn glob(pattern: &str) -> Result<GlobMatcher, ApprovalError> {
    let glob = GlobBuilder::new(pattern).literal_separator(false).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ApprovalError { pattern: pattern.to_owned(), message: error.kind().to_string() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::harness::manifest::Effects;

    fn rules(rules: Value) -> Approvals {
        Approvals::new(&serde_json::from_value::<Vec<Approval>>(rules).unwrap()).unwrap()
    }

    fn decide(approvals: &Approvals, tool: &str, effects: Effects, input: Value) -> &'static str {
        let def = ToolDef::new(tool, "", json!({}), effects);
        match approvals.decide(&def, input.as_object().unwrap(), |_| false) {
            Decision::Run => "run",
            Decision::Ask { once: true, .. } => "once",
            Decision::Ask { once: false, .. } => "always",
        }
    }

    #[test]
    fn effects_decide_when_no_rule_does() {
        let none = Approvals::default();
        for (effects, want) in
            [(Effects::Pure, "run"), (Effects::Read, "run"), (Effects::Idempotent, "run"), (Effects::Once, "always")]
        {
            assert_eq!(decide(&none, "x", effects, json!({})), want, "{effects:?}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let approvals = rules(json!([
            {"tool": "bash", "input": {"command": "cargo *"}, "ask": "never"},
            {"tool": "ba*", "ask": "once"},
            {"tool": "read_file", "input": {"path": "secrets/*"}, "ask": "always"},
        ]));
        let table = [
            ("bash", json!({"command": "cargo test"}), "run"),
            ("bash", json!({"command": "rm x"}), "once"),
            ("bash", json!({"command": 7}), "once"),
            ("bash", json!({}), "once"),
            ("read_file", json!({"path": "secrets/a/b"}), "always"),
            ("read_file", json!({"path": "src/a"}), "run"),
        ];
        for (tool, input, want) in table {
            let effects = if tool == "bash" { Effects::Once } else { Effects::Read };
            assert_eq!(decide(&approvals, tool, effects, input.clone()), want, "{tool} {input}");
        }
    }

    #[test]
    fn a_wildcard_lets_no_second_command_through() {
        let approvals = rules(json!([{"tool": "bash", "input": {"command": "cargo *"}, "ask": "never"}]));
        for command in
            ["cargo test; rm -r .", "cargo test && x", "cargo $(x)", "cargo `x`", "cargo x > y", "cargo x\nrm y"]
        {
            assert_eq!(decide(&approvals, "bash", Effects::Once, json!({"command": command})), "always", "{command}");
        }
        let piped = rules(json!([{"tool": "bash", "input": {"command": "* | head"}, "ask": "never"}]));
        assert_eq!(decide(&piped, "bash", Effects::Once, json!({"command": "ls | head"})), "run");
        let refusing = rules(json!([{"tool": "bash", "input": {"command": "*rm *"}, "ask": "always"}]));
        assert_eq!(decide(&refusing, "bash", Effects::Read, json!({"command": "true; rm x"})), "always");
    }

    #[test]
    fn a_leave_lasts() {
        let approvals = rules(json!([{"tool": "t", "ask": "once"}]));
        let def = ToolDef::new("t", "", json!({}), Effects::Once);
        let Decision::Ask { leave, .. } = approvals.decide(&def, &Map::new(), |_| false) else { panic!() };
        assert_eq!(approvals.decide(&def, &Map::new(), |name| name == leave), Decision::Run);
    }

    #[test]
    fn a_wrong_pattern_is_named() {
        let wrong: Vec<Approval> = serde_json::from_value(json!([{"tool": "a{b", "ask": "once"}])).unwrap();
        assert!(Approvals::new(&wrong).unwrap_err().to_string().contains("`a{b`"));
    }
}
