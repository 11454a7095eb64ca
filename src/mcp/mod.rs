//! The tools as a server of the Model Context Protocol, on standard input and output or over HTTP.
//!
//! A client of the crate's public API, as any other program could be. [`serve_stdio`] serves the one client that started
//! the program; [`HttpServer`] serves any number of them on the loopback interface, each of which must know a token.
//!
//! | Tool | What it does |
//! | --- | --- |
//! | `apply_patch` | applies a patch of any of the languages: all of it, or nothing |
//! | `edit` | replaces quoted text, inserts lines, writes whole files: all of it, or nothing |
//! | `check_patch` | says what a patch would do, with a diff; writes nothing |
//! | `undo` | undoes a patch |
//! | `grep`, `glob`, `read_file` | look at the files, within budgets |
//!
//! Every answer is text for the model, and the same as data in `structuredContent`. A refusal is an answer with
//! `isError`, so that the model reads why; only a call that cannot be understood at all is an error of the protocol.
//!
//! # Roots
//! Nothing outside a root is read or written. Which roots there are follows from [`ServeOptions::new`] and from what the
//! client says its roots are, as [`ClientRoots`] tells. Relative paths belong to the first root, absolute ones to the root
//! they lie in; one patch belongs to one root.
//!
//! # Bounds
//! A call takes at most [`ServeOptions::timeout`], and a little more to end what it had begun. Texts are bounded by the
//! budgets of each tool (64 KiB for searches, 50 KiB for files, 8 KiB for refusals), data by 256 KiB, messages of the
//! client by 16 MiB. At most four calls run at once; more wait, within their time. A call that is cancelled, or whose time
//! is over, ends before the files are changed, or not at all.
//!
//! # Several clients
//! Patches of several clients, and of other processes, in one tree wait for each other by the lock of the tree (see
//! [`Prepared`](crate::Prepared)).

mod answer;
mod call;
mod error;
mod http;
mod options;
mod roots;
mod server;
mod stdio;
mod tools;

pub use error::ServeError;
pub use http::HttpServer;
pub use options::{ClientRoots, ServeOptions};
pub use stdio::serve_stdio;

/// The longest message of a client, in bytes.
const MAX_MESSAGE: usize = 16 << 20;
