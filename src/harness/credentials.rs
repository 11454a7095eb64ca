//! Secrets: held so that they cannot be printed by accident, and cut out of other people's words.

use std::fmt;

/// A secret. Neither shown by `Debug`, nor serialisable, nor comparable.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret into custody. Surrounding white space is dropped: keys are pasted and read from files.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(secret.trim().to_owned())
    }

    /// The secret itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` with every occurrence of the secret replaced. Secrets shorter than six characters are left: they
    /// are placeholders for servers that want some key, and cutting them out would garble ordinary words.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < 6 { text.to_owned() } else { text.replace(&self.0, "[redacted]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new(" sk-very-secret\n");
        assert_eq!(secret.expose(), "sk-very-secret");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret([redacted]) Some(Secret([redacted]))");
        assert_eq!(secret.redact("key sk-very-secret is bad"), "key [redacted] is bad");
        assert_eq!(Secret::new("none").redact("none of these"), "none of these");
    }
}
