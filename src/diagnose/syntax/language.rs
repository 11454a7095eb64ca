//! Which language a file is in, by its name or its first line.

use crate::path::RelPath;

/// A language whose files can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Language {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
    Yaml,
    Code(Code),
}

/// A language that has a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Code {
    Bash,
    C,
    Cpp,
    Css,
    Go,
    Html,
    Java,
    JavaScript,
    Python,
    Ruby,
    Rust,
    Tsx,
    TypeScript,
}

impl Language {
    /// Whether its parser stops at the first fault.
    pub(super) fn parser_stops(self) -> bool {
        matches!(self, Language::Json | Language::Jsonc | Language::Yaml)
    }

    /// Its name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Language::Json => "JSON",
            Language::Jsonc => "JSON with comments",
            Language::Toml => "TOML",
            Language::Yaml => "YAML",
            Language::Code(Code::Bash) => "Bash",
            Language::Code(Code::C) => "C",
            Language::Code(Code::Cpp) => "C++",
            Language::Code(Code::Css) => "CSS",
            Language::Code(Code::Go) => "Go",
            Language::Code(Code::Html) => "HTML",
            Language::Code(Code::Java) => "Java",
            Language::Code(Code::JavaScript) => "JavaScript",
            Language::Code(Code::Python) => "Python",
            Language::Code(Code::Ruby) => "Ruby",
            Language::Code(Code::Rust) => "Rust",
            Language::Code(Code::Tsx) => "TSX",
            Language::Code(Code::TypeScript) => "TypeScript",
        }
    }
}

/// Endings and the languages they mean.
const ENDINGS: &[(&str, Language)] = &[
    ("bash", Language::Code(Code::Bash)),
    ("c", Language::Code(Code::C)),
    ("cc", Language::Code(Code::Cpp)),
    ("cjs", Language::Code(Code::JavaScript)),
    ("code-workspace", Language::Jsonc),
    ("cpp", Language::Code(Code::Cpp)),
    ("css", Language::Code(Code::Css)),
    ("cts", Language::Code(Code::TypeScript)),
    ("cxx", Language::Code(Code::Cpp)),
    ("gemspec", Language::Code(Code::Ruby)),
    ("geojson", Language::Json),
    ("go", Language::Code(Code::Go)),
    // A header may be either; what is C is nearly always C++ too.
    ("h", Language::Code(Code::Cpp)),
    ("hh", Language::Code(Code::Cpp)),
    ("hpp", Language::Code(Code::Cpp)),
    ("htm", Language::Code(Code::Html)),
    ("html", Language::Code(Code::Html)),
    ("hxx", Language::Code(Code::Cpp)),
    ("ipynb", Language::Json),
    ("java", Language::Code(Code::Java)),
    ("js", Language::Code(Code::JavaScript)),
    ("json", Language::Json),
    ("jsonc", Language::Jsonc),
    ("jsx", Language::Code(Code::JavaScript)),
    ("mjs", Language::Code(Code::JavaScript)),
    ("mts", Language::Code(Code::TypeScript)),
    ("py", Language::Code(Code::Python)),
    ("pyi", Language::Code(Code::Python)),
    ("rake", Language::Code(Code::Ruby)),
    ("rb", Language::Code(Code::Ruby)),
    ("rs", Language::Code(Code::Rust)),
    ("sarif", Language::Json),
    ("sh", Language::Code(Code::Bash)),
    ("toml", Language::Toml),
    ("ts", Language::Code(Code::TypeScript)),
    ("tsx", Language::Code(Code::Tsx)),
    ("webmanifest", Language::Json),
    ("yaml", Language::Yaml),
    ("yml", Language::Yaml),
];

/// The language of the file at `path` with this content.
pub(super) fn of(path: &RelPath, bytes: &[u8]) -> Option<Language> {
    let name = path.name().to_ascii_lowercase();
    match name.as_str() {
        "cargo.lock" | "pipfile" | "poetry.lock" | "uv.lock" => return Some(Language::Toml),
        "gemfile" | "rakefile" => return Some(Language::Code(Code::Ruby)),
        ".eslintrc" | ".eslintrc.json" | ".jshintrc" | ".swcrc" | "devcontainer.json" | "jsconfig.json" => {
            return Some(Language::Jsonc);
        }
        _ => {}
    }
    let Some((stem, ending)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return by_first_line(bytes);
    };
    let at = ENDINGS.binary_search_by_key(&ending, |(ending, _)| ending).ok()?;
    let in_editor_folder = path.parts().rev().nth(1).is_some_and(|dir| dir == ".vscode" || dir == ".devcontainer");
    Some(match ENDINGS[at].1 {
        Language::Json if in_editor_folder || stem.starts_with("tsconfig") => Language::Jsonc,
        Language::Yaml if is_template(path, bytes) => return None,
        language => language,
    })
}

/// Whether a YAML file is one only after a template engine has gone over it.
fn is_template(path: &RelPath, bytes: &[u8]) -> bool {
    path.parts().any(|part| part == "templates")
        && [&b"{{"[..], b"{%"].iter().any(|mark| memchr::memmem::find(bytes, mark).is_some())
}

/// A script without an ending says its program in its first line.
fn by_first_line(bytes: &[u8]) -> Option<Language> {
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    match program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.') {
        "bash" | "sh" | "dash" => Some(Language::Code(Code::Bash)),
        "python" => Some(Language::Code(Code::Python)),
        "ruby" => Some(Language::Code(Code::Ruby)),
        "node" => Some(Language::Code(Code::JavaScript)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_sorted_for_the_search() {
        assert!(ENDINGS.is_sorted_by_key(|(ending, _)| ending));
    }

    #[test]
    fn names_and_first_lines_tell() {
        let cases = [
            ("a.rs", "", Some("Rust")),
            ("A.JSON", "", Some("JSON")),
            ("web/tsconfig.build.json", "", Some("JSON with comments")),
            (".vscode/settings.json", "", Some("JSON with comments")),
            ("a/package.json", "", Some("JSON")),
            ("Cargo.lock", "", Some("TOML")),
            ("run", "#!/usr/bin/env -S bash -e\n", Some("Bash")),
            ("run", "#!/usr/bin/python3.11\n", Some("Python")),
            ("run", "#!/usr/bin/perl\n", None),
            ("run", "text", None),
            (".gitignore", "", None),
            ("chart/templates/a.yaml", "a: {{ .Values.a }}\n", None),
            ("chart/templates/a.yaml", "a: b\n", Some("YAML")),
            ("a.zsh", "", None),
        ];
        for (path, text, want) in cases {
            let found = of(&RelPath::new(path.as_bytes()).unwrap(), text.as_bytes());
            assert_eq!(found.map(Language::name), want, "{path}");
        }
    }
}
