//! `--undo-file F`: the reverse patch, in a file of the user's.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file, opened before the patch is applied: one that cannot be written must not be found out too late.
pub(super) struct UndoFile {
    path: PathBuf,
    file: File,
    /// It was not there before.
    made: bool,
}

impl UndoFile {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let refused = |error: io::Error| format!("the undo file `{}` cannot be written: {error}", path.display());
        #[expect(clippy::disallowed_methods, reason = "a file of the user's, anywhere")]
        let (file, made) = match File::options().write(true).create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (File::options().write(true).open(path).map_err(refused)?, false)
            }
            Err(error) => return Err(refused(error)),
        };
        Ok(UndoFile { path: path.to_owned(), file, made })
    }

    /// Replaces what is in it.
    pub(super) fn write(mut self, patch: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all(patch)?;
        self.file.sync_all()
    }

    /// Nothing was applied, so there is nothing to undo: the file is as it was.
    pub(super) fn discard(self) {
        if self.made {
            #[expect(clippy::disallowed_methods, reason = "a file of the user's, anywhere")]
            let _an_empty_file_does_no_harm = std::fs::remove_file(&self.path);
        }
    }
}
