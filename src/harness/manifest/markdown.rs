//! Instructions and skills: Markdown with front matter.

use super::agent_toml::{MAX_DESCRIPTION, one_line};
use super::diagnostic::{Code, Diagnostic, Place};
use super::discover::SkillFiles;
use super::fields::{Fields, Findings, Got, clip};
use super::front::{self, Front};
use super::reader::Reader;
use super::types::{FileRef, Instruction, Role, Skill};
use crate::RelPath;

const ROLES: &[(&str, Role)] = &[("system", Role::System), ("user", Role::User)];

/// What other programs that read skills know and this one does not need.
const SKILL_FIELDS: &[&str] = &["license", "compatibility", "metadata"];

/// Reads one file of instructions.
pub(super) fn instruction(path: &RelPath, reader: &mut Reader<'_>, out: &mut Findings) -> Option<Instruction> {
    let (file, text) = reader.text(path, out)?;
    let Front { table, body } = split(&file, &text, out)?;
    let mut fields = Fields::new(&file.path, table.unwrap_or_default());
    let role = fields.choice("role", ROLES, out).unwrap_or_default();
    fields.finish(out);
    if body.trim().is_empty() {
        out.push(Diagnostic::new(
            Code::Empty,
            &*file.path,
            "the instructions say nothing",
            "write some, or take the file out",
        ));
    }
    Some(Instruction { role, text: body.to_owned(), file })
}

/// Reads one skill.
pub(super) fn skill(files: &SkillFiles, reader: &mut Reader<'_>, out: &mut Findings) -> Option<Skill> {
    let resources = files.resources.iter().filter_map(|path| reader.data(path, out)).collect();
    let (file, text) = reader.text(&files.file, out)?;
    let Front { table, body } = split(&file, &text, out)?;
    let mut fields = Fields::new(&file.path, table.unwrap_or_default());
    let name = fields.text("name", out);
    let description = fields.said("description", MAX_DESCRIPTION, out);
    SKILL_FIELDS.iter().for_each(|field| drop(fields.take(field)));
    let said = fields.tells("description");
    for (key, _) in fields.rest() {
        let help = "it does no harm; in this program a skill adds text and nothing else";
        let message = format!("the field `{}` is not used", clip(&key.name));
        out.push(Diagnostic::new(Code::IgnoredField, &*file.path, message, help).at(key.place));
    }
    if let Some(Got { value, place }) = name.filter(|name| name.value != files.id) {
        let message = format!("the skill calls itself `{}`, but its id is `{}`", clip(&value), files.id);
        let help = format!("ids come from paths: write `name: {}`, or rename the file", files.id);
        out.push(Diagnostic::new(Code::SkillName, &*file.path, message, help).at(place));
    }
    if body.trim().is_empty() {
        out.push(Diagnostic::new(
            Code::Empty,
            &*file.path,
            "the skill has no text",
            "write what to do, or take the file out",
        ));
    }
    let description = match description {
        Some(description) => one_line(&description.value),
        None if said => return None,
        None => match first_line(body).filter(|_| !files.packaged) {
            Some(line) => line,
            None => {
                let help = "write `description: …` in the front matter: what the skill does and when to use it";
                let diagnostic = Diagnostic::new(Code::MissingField, &*file.path, "`description` is missing", help);
                out.push(diagnostic.at(Place { line: 1, column: 1 }));
                return None;
            }
        },
    };
    Some(Skill { id: files.id.clone(), description, file, resources })
}

/// The first line that says something, without the marks of a heading.
fn first_line(body: &str) -> Option<String> {
    let line = body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_DESCRIPTION).collect())
}

fn split<'t>(file: &FileRef, text: &'t str, out: &mut Findings) -> Option<Front<'t>> {
    front::split(&file.path, text).map_err(|diagnostic| out.push(diagnostic)).ok()
}
