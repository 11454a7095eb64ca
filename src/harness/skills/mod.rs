//! Skills: procedures the model reads when it needs them.
//!
//! The prompt lists them; [`Skills::load_skill`] gives one's text. A skill is looked up by its id, which is never made
//! into a path, and it adds text, never a tool.

use super::manifest::{self, FileError, FileRef, Node, Source, body, nearest};
use crate::{Digest, RelPath};

/// Names that an answer about an unknown skill lists at most.
const MAX_LISTED: usize = 20;

/// The skills of one node, their texts in memory.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    skills: Vec<Loaded>,
    connections: Vec<String>,
}

#[derive(Clone, Debug)]
struct Loaded {
    skill: manifest::Skill,
    body: String,
}

/// Why there is no text for a name. The words are an answer to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// There is no skill of that name.
    #[error("there is no skill `{name}`; {hint}")]
    Unknown {
        /// The name, shortened.
        name: String,
        /// Which there are.
        hint: String,
    },
    /// The name is a connection's.
    #[error("`{0}` is a connection, not a skill: it is used through its tools `{0}__…` and has no text to load")]
    Connection(String),
}

impl Skills {
    /// Reads the texts of a node's skills.
    ///
    /// # Errors
    /// [`FileError`] when a file is missing, or not the one the manifest was made from.
    pub fn load(node: &Node, source: &dyn Source) -> Result<Self, FileError> {
        let load = |skill: &manifest::Skill| {
            let text = text(&skill.file, source)?;
            Ok(Loaded { skill: skill.clone(), body: body(&text).to_owned() })
        };
        Ok(Skills {
            skills: node.skills.iter().map(load).collect::<Result<_, FileError>>()?,
            connections: node.connections.iter().map(|slot| slot.name.clone()).collect(),
        })
    }

    /// The skills, sorted by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &manifest::Skill> {
        self.skills.iter().map(|loaded| &loaded.skill)
    }

    /// The text of the skill `name`, without its front matter.
    ///
    /// # Errors
    /// [`SkillError`] says which skills there are.
    pub fn load_skill(&self, name: &str) -> Result<&str, SkillError> {
        if let Some(loaded) = self.skills.iter().find(|loaded| loaded.skill.id == name) {
            return Ok(&loaded.body);
        }
        if let Some(connection) = self.connections.iter().find(|connection| *connection == name) {
            return Err(SkillError::Connection(connection.clone()));
        }
        Err(SkillError::Unknown { name: name.chars().take(80).collect(), hint: self.hint(name) })
    }

    fn hint(&self, name: &str) -> String {
        let ids = || self.skills.iter().map(|loaded| loaded.skill.id.as_str());
        if let Some(near) = nearest(name, ids()) {
            return format!("did you mean `{near}`?");
        }
        match ids().len() {
            0 => "this agent has no skills".to_owned(),
            all => {
                let mut listed = ids().take(MAX_LISTED).collect::<Vec<_>>().join(", ");
                if all > MAX_LISTED {
                    listed.push_str(&format!(" and {} more", all - MAX_LISTED));
                }
                format!("there is {listed}")
            }
        }
    }
}

/// The text of a file of the manifest.
fn text(file: &FileRef, source: &dyn Source) -> Result<String, FileError> {
    let path = RelPath::new(file.path.as_bytes()).map_err(|_| FileError::Path(file.path.clone()))?;
    let bytes = source
        .read(&path, file.bytes.saturating_add(1))
        .map_err(|error| FileError::Unreadable { path: file.path.clone(), error })?;
    match String::from_utf8(bytes) {
        Ok(text) if Digest::of(text.as_bytes()).to_string() == file.hash => Ok(text),
        _ => Err(FileError::Changed(file.path.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::manifest::{CompileOptions, MemSource, ROOT, compile};

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn tree() -> MemSource {
        MemSource::new()
            .file(path("instructions.md"), "Help.")
            .file(path("skills/release.md"), "---\ndescription: How a release is made\n---\n\n# Steps\n1. Tag\n")
            .file(path("skills/review/SKILL.md"), "---\nname: review\ndescription: Reads changes\n---\nRead.\n")
            .file(path("connections/git.toml"), "")
    }

    fn skills(source: &MemSource) -> (Node, Skills) {
        let manifest = compile(source, CompileOptions::new()).manifest.unwrap();
        let node = manifest.nodes[ROOT].clone();
        let skills = Skills::load(&node, source).unwrap();
        (node, skills)
    }

    #[test]
    fn a_skill_gives_its_body_and_a_wrong_name_an_answer() {
        let (_, skills) = skills(&tree());
        assert_eq!(skills.load_skill("release"), Ok("# Steps\n1. Tag\n"));
        assert_eq!(skills.load_skill("review"), Ok("Read.\n"));
        let cases = [
            ("relaese", "there is no skill `relaese`; did you mean `release`?"),
            ("deploy", "there is no skill `deploy`; there is release, review"),
            ("../../etc/passwd", "there is no skill `../../etc/passwd`; there is release, review"),
            ("review/SKILL.md", "there is no skill `review/SKILL.md`; there is release, review"),
            (
                "git",
                "`git` is a connection, not a skill: it is used through its tools `git__…` and has no text to load",
            ),
        ];
        for (name, want) in cases {
            assert_eq!(skills.load_skill(name).unwrap_err().to_string(), want);
        }
        let none = Skills::default().load_skill("x").unwrap_err();
        assert_eq!(none.to_string(), "there is no skill `x`; this agent has no skills");
    }

    #[test]
    fn a_skill_that_changed_since_the_build_is_not_loaded() {
        let (node, _) = skills(&tree());
        for content in ["", "---\ndescription: How a release is made\n---\n\n# Steps\n2. Tag\n"] {
            let changed = tree().file(path("skills/release.md"), content);
            assert_eq!(Skills::load(&node, &changed).unwrap_err(), FileError::Changed("skills/release.md".into()));
        }
        let gone = tree().without(&path("skills/release.md"));
        assert!(matches!(Skills::load(&node, &gone).unwrap_err(), FileError::Unreadable { .. }));
    }
}
