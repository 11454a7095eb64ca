//! Where a program's patch comes from: its argument, or standard input.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Read};

use super::output;
use crate::{ParseOptions, Patch, ReadError};

/// The bytes of the patch.
pub(super) fn reader(argument: Option<&OsStr>) -> Box<dyn Read + '_> {
    match argument {
        Some(text) => Box::new(text.as_encoded_bytes()),
        None => {
            let stdin = io::stdin().lock();
            if stdin.is_terminal() {
                output::err("reading the patch from the terminal; end it with Ctrl-D\n");
            }
            Box::new(stdin)
        }
    }
}

/// The patch.
pub(super) fn patch(argument: Option<&OsStr>, options: &ParseOptions) -> Result<Patch, ReadError> {
    Patch::read(reader(argument), options)
}
