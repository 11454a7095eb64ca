use proptest::prelude::*;

use super::*;
use crate::search::hits::{Keep, Want};
use crate::search::pieces;
use crate::search::{RowKind, Syntax};

/// Numbers of matching lines and of context lines, found in one way.
type Lines = (Vec<u64>, Vec<u64>);

const KEEP: Keep = Keep {
    skip: 0,
    keep: u64::MAX,
    ahead: false,
    shortens: false,
    row_bytes: usize::MAX,
    bytes: usize::MAX,
    enough: u64::MAX,
};

fn searched(want: Want, by: impl FnOnce(&mut Hits<'_>)) -> (u64, Lines) {
    let mut keep = KEEP;
    let mut hits = Hits::new(want, &mut keep, false);
    by(&mut hits);
    let Some(found) = hits.found(|| (*b"f").into()) else { return (0, Lines::default()) };
    let of = |kind| found.lines.iter().filter(|line| line.kind == kind).map(|line| line.number).collect();
    (found.count, (of(RowKind::Match), of(RowKind::Context)))
}

/// The lines that match when each is asked alone, and those near them.
fn naive(pattern: &Pattern, text: &[u8], context: u64) -> Lines {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    let is_match = |line: &[u8]| pattern.matcher.is_match(trimmed(line)).unwrap();
    let matching: Vec<u64> = (1..).zip(&lines).filter(|(_, line)| is_match(line)).map(|(n, _)| n).collect();
    let near = |number: &u64| matching.iter().any(|one| one.abs_diff(*number) <= context);
    let others = (1..=lines.len() as u64).filter(near).filter(|number| !matching.contains(number)).collect();
    (matching, others)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_ways_of_searching_find_what_asking_each_line_finds(
        // No pattern that can match nothing at all: in ripgrep that can stand between the two bytes of a CRLF.
        pattern in r"(\^|\\b)?[abA.]{1,3}([+]|\|[ab])?[ab ]{0,2}(\$)?",
        text in "[abA \\n\\r]{0,120}",
        syntax in prop_oneof![Just(Syntax::Auto), Just(Syntax::Literal)],
        ignore_case: bool,
        word: bool,
        multiline: bool,
        context in 0usize..3,
    ) {
        // A CR that is no part of a line's end is a border of lines for `^`, but ends none: out of this question.
        let text = text.replace('\r', "").replace("aa\n", "aa\r\n");
        let options = SearchOptions::new().mode(Mode::Content).syntax(syntax).ignore_case(ignore_case).word(word);
        let options = options.multiline(multiline).context(context);
        let Ok(pattern) = Pattern::new(&[pattern], &options) else { return Ok(()) };
        let mut engine = Engine::new(&pattern, &options);
        let want = naive(&pattern, text.as_bytes(), context as u64);
        let text = text.as_bytes();
        let (count, slice) = searched(Want::Lines, |hits| engine.slice(text, hits).unwrap());
        prop_assert_eq!(&slice, &want);
        prop_assert_eq!(count, want.0.len() as u64);
        let (_, stream) = searched(Want::Lines, |hits| engine.stream(text, hits).unwrap());
        prop_assert_eq!(&stream, &want);
        let (_, in_pieces) =
            searched(Want::Lines, |hits| pieces::search(&mut engine, &mut &text[..], &mut Vec::new(), hits).unwrap());
        prop_assert_eq!(&in_pieces, &want);
        let (first, _) = searched(Want::First, |hits| engine.slice(text, hits).unwrap());
        prop_assert_eq!(first, u64::from(!want.0.is_empty()));
        if !engine.multiline {
            let (counted, _) = searched(Want::Count, |hits| engine.slice(text, hits).unwrap());
            prop_assert_eq!(counted, want.0.len() as u64);
        }
    }
}
