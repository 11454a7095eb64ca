//! What a patch changes, as the checks see it: images of the files before and after.

use std::collections::HashMap;
use std::sync::Arc;

use crate::path::RelPath;
use crate::plan::{After, Before, NewMode, Step};
use crate::workspace::Bytes;

/// A file's content and permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImage {
    /// The content.
    pub bytes: Arc<Bytes>,
    /// Type and permission bits; `None` when they are not known, as for a file that is yet to be made.
    pub mode: Option<u32>,
}

impl FileImage {
    /// An image of unknown mode.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        FileImage { bytes: Arc::new(Bytes::from(bytes.into())), mode: None }
    }

    /// Sets the permission bits.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }
}

/// One file that a patch made, changed, renamed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedFile {
    /// What it is called now, or was called if it is gone.
    pub path: RelPath,
    /// What it was called before, when that was something else.
    pub from: Option<RelPath>,
    /// What it was; `None`: nothing.
    pub before: Option<FileImage>,
    /// What it is; `None`: nothing.
    pub after: Option<FileImage>,
}

impl ChangedFile {
    /// A change of the file at `path`.
    #[must_use]
    pub fn new(path: RelPath, before: Option<FileImage>, after: Option<FileImage>) -> Self {
        ChangedFile { path, from: None, before, after }
    }

    /// Says that the file was at `from` before.
    #[must_use]
    pub fn renamed(mut self, from: RelPath) -> Self {
        self.from = Some(from);
        self
    }

    /// The changes that the steps of a plan make. Links are left out; a rename is one change.
    ///
    /// Copies the new contents that are not yet in one piece.
    #[must_use]
    pub fn from_steps(steps: &[Step]) -> Vec<ChangedFile> {
        let olds: HashMap<&RelPath, FileImage> =
            steps.iter().filter_map(|step| Some((&step.path, old_image(&step.before)?))).collect();
        let changes: Vec<ChangedFile> = steps.iter().filter_map(|step| ChangedFile::from_step(step, &olds)).collect();
        let moved: Vec<RelPath> = changes.iter().filter_map(|change| change.from.clone()).collect();
        // The place a file has left is no deletion of its own.
        changes.into_iter().filter(|change| change.after.is_some() || !moved.contains(&change.path)).collect()
    }

    fn from_step(step: &Step, olds: &HashMap<&RelPath, FileImage>) -> Option<ChangedFile> {
        let own = olds.get(&step.path).cloned();
        let source = match &step.after {
            After::Absent | After::Link { .. } => {
                return own.map(|own| ChangedFile::new(step.path.clone(), Some(own), None));
            }
            After::Content { like, .. } => like.as_ref(),
            After::Moved { from } => Some(from),
        };
        let before = source.and_then(|source| olds.get(source)).cloned().or(own);
        let after = match &step.after {
            After::Content { content, mode, .. } => FileImage {
                bytes: Arc::new(Bytes::from(content.to_vec())),
                mode: mode.map(NewMode::bits).or_else(|| before.as_ref().and_then(|before| before.mode)),
            },
            // A link that moves has no image.
            _ => before.clone()?,
        };
        let change = ChangedFile::new(step.path.clone(), before, Some(after));
        Some(match source {
            Some(source) if *source != step.path => change.renamed(source.clone()),
            _ => change,
        })
    }

    /// Where it was before.
    pub(super) fn old_path(&self) -> &RelPath {
        self.from.as_ref().unwrap_or(&self.path)
    }

    /// The old and the new content, empty where there is none.
    pub(super) fn contents(&self) -> (&[u8], &[u8]) {
        (
            self.before.as_ref().map_or(&[], |image| &image.bytes[..]),
            self.after.as_ref().map_or(&[], |image| &image.bytes[..]),
        )
    }
}

fn old_image(before: &Before) -> Option<FileImage> {
    match before {
        Before::File(data) => Some(FileImage { bytes: Arc::clone(&data.bytes), mode: Some(data.stamp.mode) }),
        Before::Absent | Before::Link(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NewContent;
    use crate::text::Spliced;
    use crate::workspace::{FileData, Stamp};

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn file(text: &str, mode: u32) -> Before {
        let stamp = Stamp { mode, ..Stamp::default() };
        Before::File(Arc::new(FileData { bytes: Arc::new(text.as_bytes().to_vec().into()), stamp }))
    }

    fn content(text: &str, like: Option<&str>, mode: Option<u32>) -> After {
        let content = NewContent { base: Arc::default(), spliced: Spliced::from_fresh(text.into()) };
        After::Content { content, like: like.map(path), mode: mode.map(NewMode::Exactly) }
    }

    fn step(at: &str, before: Before, after: After) -> Step {
        Step { path: path(at), before, after }
    }

    #[test]
    fn steps_become_changes() {
        let steps = [
            step("edit", file("a", 0o755), content("b", Some("edit"), None)),
            step("new", Before::Absent, content("n", None, None)),
            step("mode", file("m", 0o644), content("m", Some("mode"), Some(0o755))),
            step("gone", file("g", 0o644), After::Absent),
            step("from", file("f", 0o755), After::Absent),
            step("to", Before::Absent, After::Moved { from: path("from") }),
            step("old", file("o", 0o755), After::Absent),
            step("moved", Before::Absent, content("p", Some("old"), None)),
            step("one", file("1", 0o644), After::Moved { from: path("two") }),
            step("two", file("2", 0o644), After::Moved { from: path("one") }),
            step("link", Before::Link(b"x".to_vec()), After::Absent),
            step("link2", Before::Absent, After::Moved { from: path("link") }),
        ];
        let image = |text: &str, mode: u32| Some(FileImage::new(text).mode(mode));
        let want = [
            ChangedFile::new(path("edit"), image("a", 0o755), image("b", 0o755)),
            ChangedFile::new(path("new"), None, Some(FileImage::new("n"))),
            ChangedFile::new(path("mode"), image("m", 0o644), image("m", 0o755)),
            ChangedFile::new(path("gone"), image("g", 0o644), None),
            ChangedFile::new(path("to"), image("f", 0o755), image("f", 0o755)).renamed(path("from")),
            ChangedFile::new(path("moved"), image("o", 0o755), image("p", 0o755)).renamed(path("old")),
            ChangedFile::new(path("one"), image("2", 0o644), image("2", 0o644)).renamed(path("two")),
            ChangedFile::new(path("two"), image("1", 0o644), image("1", 0o644)).renamed(path("one")),
        ];
        assert_eq!(ChangedFile::from_steps(&steps), want);
    }
}
