//! `agent.toml`: its fields, their defaults and their bounds.

use std::collections::BTreeMap;

use super::config::{Approval, Ask, Compaction, Config, Limit, Limits, Then};
use super::diagnostic::{Code, Diagnostic, nearest};
use super::doc::{Data, Table};
use super::fields::{Fields, Findings, Got};
use super::model_id;
use super::reader::Reader;
use super::types::{BUILTINS, FileRef};
use crate::RelPath;

/// Characters of a description.
pub(super) const MAX_DESCRIPTION: usize = 1024;

const THEN: &[(&str, Then)] = &[("ask", Then::Ask), ("stop", Then::Stop)];
pub(super) const ASK: &[(&str, Ask)] = &[("never", Ask::Never), ("once", Ask::Once), ("always", Ask::Always)];

/// What an `agent.toml` says.
pub(super) struct AgentToml {
    pub(super) file: Option<FileRef>,
    pub(super) config: Config,
    /// The default tools the agent has.
    pub(super) defaults: Vec<&'static str>,
    /// The rules' tool names with their places, to be compared with the tools there are.
    pub(super) rule_tools: Vec<Got<String>>,
}

impl Default for AgentToml {
    fn default() -> Self {
        AgentToml { file: None, config: Config::default(), defaults: BUILTINS.to_vec(), rule_tools: Vec::new() }
    }
}

/// Reads the table of an `agent.toml` in the directory `dir`; a subagent's must say more than the root's.
pub(super) fn read(
    file: &FileRef,
    table: Table,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) -> AgentToml {
    let mut fields = Fields::new(&file.path, table);
    let mut agent = AgentToml { file: Some(file.clone()), ..AgentToml::default() };
    match fields.said("description", MAX_DESCRIPTION, out) {
        Some(text) => agent.config.description = one_line(&text.value),
        None if dir.is_some() && !fields.tells("description") => {
            let help = "say in one or two sentences what the subagent is for; its parent's model reads it";
            fields.missing("description", help, out);
        }
        None => {}
    }
    if let Some(model) = model_id::read(&mut fields, dir, reader, out) {
        agent.config.model = model;
    }
    if let Some(mut limits) = fields.table("limits", out) {
        agent.config.limits = self::limits(&mut limits, out);
        limits.finish(out);
    }
    if let Some(mut compaction) = fields.table("compaction", out) {
        agent.config.compaction = self::compaction(&mut compaction, out);
        compaction.finish(out);
    }
    if let Some(mut tools) = fields.table("tools", out) {
        agent.defaults = defaults(&mut tools, out);
        tools.finish(out);
    }
    agent.config.cut_short = fields.boolean("cut_short", out).unwrap_or_default();
    for rule in fields.tables("approvals", out) {
        if let Some((rule, tool)) = approval(rule, out) {
            agent.config.approvals.push(rule);
            agent.rule_tools.push(tool);
        }
    }
    fields.finish(out);
    agent
}

fn limits(fields: &mut Fields<'_>, out: &mut Findings) -> Limits {
    const MANY: u64 = 1 << 40;
    let mut limits = Limits::default();
    let whole = |max: &mut Fields<'_>, name, out: &mut Findings| max.integer(name, 1, MANY, out);
    limits.tokens = limit(fields, "tokens", limits.tokens, whole, out);
    limits.steps = limit(fields, "steps", limits.steps, whole, out);
    limits.wall_ms = limit(fields, "wall", limits.wall_ms, |max, name, out| max.duration(name, out), out);
    let dollars =
        |max: &mut Fields<'_>, name, out: &mut Findings| max.number(name, |max| max > 0.0, "above 0, in dollars", out);
    limits.cost = limit(fields, "cost", limits.cost, dollars, out);
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    limits.depth = fields.integer("depth", 0, 16, out).map_or(limits.depth, small);
    limits.fan_out = fields.integer("fan_out", 1, 64, out).map_or(limits.fan_out, small);
    limits
}

/// Reads one limit: `false`, the most alone, or a table with `max` and `then`.
fn limit<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    default: Option<Limit<T>>,
    max: impl Fn(&mut Fields<'_>, &'static str, &mut Findings) -> Option<T>,
    out: &mut Findings,
) -> Option<Limit<T>> {
    match fields.look(name) {
        Some(Data::Bool(false)) => {
            fields.take(name);
            None
        }
        Some(Data::Table(_)) => {
            let mut table = fields.table(name, out)?;
            let then = table.choice("then", THEN, out).unwrap_or_default();
            let most = max(&mut table, "max", out);
            if most.is_none() && !table.tells("max") {
                table.missing("max", "write the most that is allowed", out);
            }
            table.finish(out);
            most.map(|max| Limit { max, then })
        }
        _ => match max(fields, name, out) {
            Some(max) => Some(Limit { max, then: Then::default() }),
            None => default,
        },
    }
}

fn compaction(fields: &mut Fields<'_>, out: &mut Findings) -> Compaction {
    let default = Compaction::default();
    let share = |at: f64| at > 0.0 && at <= 1.0;
    Compaction {
        enabled: fields.boolean("enabled", out).unwrap_or(default.enabled),
        at: fields
            .number("at", share, "above 0 and at most 1, a share of the context window", out)
            .unwrap_or(default.at),
        keep_tokens: fields.integer("keep_tokens", 0, 100_000_000, out).unwrap_or(default.keep_tokens),
    }
}

/// Reads `[tools] defaults`: all, none, or the named ones.
fn defaults(fields: &mut Fields<'_>, out: &mut Findings) -> Vec<&'static str> {
    match fields.look("defaults") {
        Some(Data::Bool(all)) => {
            let all = *all;
            fields.take("defaults");
            return if all { BUILTINS.to_vec() } else { Vec::new() };
        }
        None => return BUILTINS.to_vec(),
        Some(_) => {}
    }
    let mut defaults = Vec::new();
    for Got { value, place } in fields.texts("defaults", out).unwrap_or_default() {
        if let Some(name) = BUILTINS.iter().find(|name| **name == value) {
            defaults.push(*name);
        } else {
            let near = nearest(&value, BUILTINS.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let help = format!("{near}the default tools are {}", BUILTINS.join(", "));
            fields.bad(place, format!("there is no default tool `{value}`"), help, out);
        }
    }
    defaults.sort_unstable();
    defaults.dedup();
    defaults
}

fn approval(mut fields: Fields<'_>, out: &mut Findings) -> Option<(Approval, Got<String>)> {
    let tool = fields.said("tool", 200, out);
    if tool.is_none() && !fields.tells("tool") {
        fields.missing("tool", "write the tool's name; `*` stands for any characters", out);
    }
    let ask = fields.choice("ask", ASK, out);
    if ask.is_none() && !fields.tells("ask") {
        fields.missing("ask", "write `never`, `once` or `always`", out);
    }
    let mut input = BTreeMap::new();
    if let Some(mut globs) = fields.table("input", out) {
        for (key, item) in globs.rest() {
            match item.data {
                Data::Text(glob) => drop(input.insert(key.name, glob)),
                _ => drop(globs.wrong_type::<()>(&key.name, &item, "a text; `*` stands for any characters", out)),
            }
        }
    }
    for glob in input.values().chain(tool.iter().map(|tool| &tool.value)) {
        if let Err(error) = globset::Glob::new(glob) {
            let help = "write names and `*`; a bracket that is meant as such needs a backslash";
            out.push(fields.finding(Code::BadValue, format!("`{glob}` is no pattern: {}", error.kind()), help));
        }
    }
    fields.finish(out);
    let tool = tool?;
    Some((Approval { tool: tool.value.clone(), input, ask: ask? }, tool))
}

/// Says of rules whose pattern fits none of `tools` that they do nothing.
pub(super) fn check_rules(file: &str, rules: &[Got<String>], tools: &[&str], out: &mut Findings) {
    for rule in rules {
        let Ok(glob) = globset::Glob::new(&rule.value) else { continue };
        let glob = glob.compile_matcher();
        if tools.iter().any(|tool| glob.is_match(tool)) {
            continue;
        }
        let help = match nearest(&rule.value, tools.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the agent's tools are {}", tools.join(", ")),
        };
        let message = format!("the rule for `{}` fits no tool of the agent", rule.value);
        out.push(Diagnostic::new(Code::UnknownTool, file, message, help).at(rule.place));
    }
}

/// A text with all runs of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
