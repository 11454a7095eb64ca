//! From pattern texts to a matcher, or to an error that shows the place.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::memmem::Finder;
use regex_syntax::ast;

use super::error::SearchError;
use super::matcher::Finds;
use super::options::{SearchOptions, Syntax};

/// Bytes that a compiled pattern may take.
const MOST_COMPILED: usize = 32 << 20;

/// Bytes that a thread's cache of a running pattern may take.
const MOST_CACHE: usize = 16 << 20;

/// Patterns, ready to be searched for.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) matcher: Finds,
    /// Lines end in LF or CRLF; otherwise the CR is a byte of the line (a pattern asks for it).
    pub(super) crlf: bool,
}

impl Pattern {
    /// Compiles patterns of which any may match.
    pub(super) fn new(patterns: &[String], options: &SearchOptions) -> Result<Self, SearchError> {
        if patterns.is_empty() {
            return Err(SearchError::NoPattern);
        }
        let literal = match options.syntax {
            Syntax::Literal => true,
            Syntax::Regex => false,
            Syntax::Auto => !patterns.iter().any(|pattern| pattern.chars().any(regex_syntax::is_meta_character)),
        };
        if !literal {
            patterns.iter().try_for_each(|pattern| check(pattern))?;
        }
        let plain = literal && !options.ignore_case && !options.word && !options.multiline;
        if let ([one], true) = (patterns, plain)
            && !one.is_empty()
            && !one.contains(['\r', '\n'])
        {
            let finder = Finder::new(one).into_owned();
            return Ok(Pattern { matcher: Finds::Literal(Box::new(finder)), crlf: true });
        }
        let regex = |crlf| build(patterns, options, literal, crlf);
        // A pattern that names a CR can only be met where the CR is a byte of the line.
        let (matcher, crlf) = match regex(true) {
            Ok(matcher) => (matcher, true),
            Err(_) => (regex(false).map_err(|error| explain(patterns, &error))?, false),
        };
        Ok(Pattern { matcher: Finds::Regex(Box::new(matcher)), crlf })
    }
}

fn build(
    patterns: &[String],
    options: &SearchOptions,
    literal: bool,
    crlf: bool,
) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .fixed_strings(literal)
        .case_insensitive(options.ignore_case)
        .word(options.word)
        .size_limit(MOST_COMPILED)
        .dfa_size_limit(MOST_CACHE);
    if crlf {
        builder.crlf(true);
    }
    match (options.multiline, crlf) {
        (true, _) => builder.line_terminator(None),
        (false, true) => &mut builder,
        (false, false) => builder.line_terminator(Some(b'\n')),
    };
    builder.build_many(patterns)
}

/// Parses a pattern by itself, so that the place of an error is one in the text as it was given.
fn check(pattern: &str) -> Result<(), SearchError> {
    let at = |error: String, offset: usize| SearchError::Regex {
        pattern: shortened(pattern),
        message: error,
        column: pattern.get(..offset).map_or(0, |before| before.chars().count()) + 1,
    };
    let parsed = ast::parse::ParserBuilder::new().nest_limit(250).build().parse(pattern);
    let parsed = parsed.map_err(|error| at(error.kind().to_string(), error.span().start.offset))?;
    let mut translator = regex_syntax::hir::translate::TranslatorBuilder::new().utf8(false).multi_line(true).build();
    translator.translate(pattern, &parsed).map_err(|error| at(error.kind().to_string(), error.span().start.offset))?;
    Ok(())
}

/// What is left to go wrong once the syntax is right.
fn explain(patterns: &[String], error: &grep_regex::Error) -> SearchError {
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) | grep_regex::ErrorKind::InvalidLineTerminator(_) => {
            let named = patterns.iter().find(|pattern| pattern.contains('\n')).unwrap_or(&patterns[0]);
            SearchError::LineEnd { pattern: shortened(&named.replace('\r', "\\r").replace('\n', "\\n")) }
        }
        _ => SearchError::TooLarge { message: shortened(&error.to_string()) },
    }
}

/// A text of at most 200 characters, for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher as _;

    use super::*;

    fn compiled(pattern: &str, options: &SearchOptions) -> Result<Pattern, SearchError> {
        Pattern::new(&[pattern.to_owned()], options)
    }

    #[test]
    fn a_pattern_is_literal_unless_it_has_a_special_character() {
        let auto = SearchOptions::new();
        for (pattern, text, want) in [
            ("workdir:", "workdir:", true),
            ("a.c", "abc", true),
            ("a-b", "a-b", true),
            ("--ctx|--npred", "--npred", true),
            ("done$", "done\r\n", true),
        ] {
            assert_eq!(compiled(pattern, &auto).unwrap().matcher.is_match(text.as_bytes()).unwrap(), want, "{pattern}");
        }
        let literal = auto.syntax(Syntax::Literal);
        assert!(!compiled("a.c", &literal).unwrap().matcher.is_match(b"abc").unwrap());
        assert!(compiled("foo(", &literal).unwrap().matcher.is_match(b"foo(x)").unwrap());
    }

    #[test]
    fn errors_show_the_place_in_the_pattern_as_given() {
        let auto = SearchOptions::new();
        for (pattern, message, column) in [
            ("foo(", "unclosed group", 4),
            ("ä[", "unclosed character class", 2),
            ("*", "repetition operator missing expression", 1),
            (r"x(?=y)", "look-around, including look-ahead and look-behind, is not supported", 2),
            (r"(a)\1", "backreferences are not supported", 4),
            (r"\p{Nope}", "Unicode property not found", 1),
        ] {
            let error = compiled(pattern, &auto).unwrap_err();
            let want = SearchError::Regex { pattern: pattern.into(), message: message.into(), column };
            assert_eq!(error, want);
            assert!(error.to_string().contains("--literal"));
        }
        assert_eq!(Pattern::new(&[], &auto).unwrap_err(), SearchError::NoPattern);
        let several = ["ok".to_owned(), "a(b".to_owned()];
        assert!(matches!(Pattern::new(&several, &auto), Err(SearchError::Regex { column: 2, .. })));
    }

    #[test]
    fn line_ends_need_a_multiline_search_and_a_cr_does_not() {
        let auto = SearchOptions::new();
        for pattern in ["a\nb", r"a\nb"] {
            assert!(matches!(compiled(pattern, &auto), Err(SearchError::LineEnd { .. })), "{pattern}");
            assert!(compiled(pattern, &auto.clone().multiline(true)).is_ok());
        }
        assert!(!compiled(r"\r$", &auto).unwrap().crlf);
        assert!(compiled(r"x\s*$", &auto).unwrap().crlf);
    }

    #[test]
    fn a_pattern_that_grows_too_large_is_refused() {
        let error = compiled(r"(\w{100}){100}{10}", &SearchOptions::new()).unwrap_err();
        assert!(matches!(error, SearchError::TooLarge { .. }), "{error:?}");
    }
}
