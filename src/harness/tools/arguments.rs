//! One text field out of a JSON object that is still being written.

/// Reads the text of one top-level field as it arrives, whatever the pieces.
///
/// What is no JSON object gives nothing sensible and no error: the whole arguments are checked when they are complete.
#[derive(Debug)]
pub(super) struct Field {
    name: &'static str,
    depth: u32,
    place: Place,
    /// The key before the last colon at the top level, as far as it was read.
    key: String,
    /// What the next string at the top level is.
    value_next: bool,
    /// The first half of a character outside the basic plane.
    half: Option<u16>,
}

/// Where in the text the reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    String,
    Escape,
    /// In a `\u` escape: digits read, value so far.
    Code(u8, u16),
}

impl Field {
    pub(super) fn new(name: &'static str) -> Self {
        Field { name, depth: 0, place: Place::Outside, key: String::new(), value_next: false, half: None }
    }

    /// Takes the next piece and adds what it holds of the field's text to `out`.
    pub(super) fn feed(&mut self, piece: &str, out: &mut String) {
        for c in piece.chars() {
            match self.place {
                Place::Outside => self.outside(c),
                Place::String => self.inside(c, out),
                Place::Escape => self.escape(c, out),
                Place::Code(digits, value) => self.code(c, digits, value, out),
            }
        }
    }

    fn outside(&mut self, c: char) {
        match c {
            '"' => {
                self.place = Place::String;
                if self.depth == 1 && !self.value_next {
                    self.key.clear();
                }
            }
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            ':' if self.depth == 1 => self.value_next = true,
            ',' if self.depth == 1 => self.value_next = false,
            _ => {}
        }
    }

    fn inside(&mut self, c: char, out: &mut String) {
        match c {
            '"' => self.place = Place::Outside,
            '\\' => self.place = Place::Escape,
            c => self.push(c, out),
        }
    }

    fn escape(&mut self, c: char, out: &mut String) {
        self.place = Place::String;
        match c {
            'n' => self.push('\n', out),
            't' => self.push('\t', out),
            'r' => self.push('\r', out),
            'b' => self.push('\u{8}', out),
            'f' => self.push('\u{c}', out),
            'u' => self.place = Place::Code(0, 0),
            c => self.push(c, out),
        }
    }

    fn code(&mut self, c: char, digits: u8, value: u16, out: &mut String) {
        let digit = u16::try_from(c.to_digit(16).unwrap_or_default()).unwrap_or_default();
        let value = value << 4 | digit;
        if digits < 3 {
            self.place = Place::Code(digits + 1, value);
            return;
        }
        self.place = Place::String;
        match (self.half.take(), value) {
            (None, 0xD800..=0xDBFF) => self.half = Some(value),
            (Some(half), value) => {
                for c in char::decode_utf16([half, value]) {
                    self.push(c.unwrap_or(char::REPLACEMENT_CHARACTER), out);
                }
            }
            (None, value) => {
                self.push(char::from_u32(u32::from(value)).unwrap_or(char::REPLACEMENT_CHARACTER), out);
            }
        }
    }

    fn push(&mut self, c: char, out: &mut String) {
        if self.depth != 1 {
            return;
        }
        if !self.value_next {
            self.key.push(c);
        } else if self.key == self.name {
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    fn read(text: &str, cuts: &[usize]) -> String {
        let mut field = Field::new("patch");
        let mut out = String::new();
        let mut from = 0;
        for cut in cuts.iter().map(|cut| cut % (text.len() + 1)) {
            if cut > from && text.is_char_boundary(cut) {
                field.feed(&text[from..cut], &mut out);
                from = cut;
            }
        }
        field.feed(&text[from..], &mut out);
        out
    }

    #[test]
    fn only_the_field_at_the_top_is_read() {
        let text = r#"{"note": "\"patch\": x", "deep": {"patch": "no"}, "list": ["patch", "no"], "patch": "y\u00e9\ud83d\ude00\\n\n"}"#;
        assert_eq!(read(text, &[]), "yé😀\\n\n");
        assert_eq!(read("not json at all", &[]), "");
    }

    proptest! {
        #[test]
        fn any_pieces_give_what_a_parser_of_the_whole_gives(
            patch in "\\PC{0,60}|[\\x00-\\x7f]{0,60}",
            other in "\\PC{0,20}",
            cuts in proptest::collection::vec(0usize..400, 0..20),
            first in any::<bool>(),
        ) {
            let mut object = Map::new();
            object.insert(if first { "zzz" } else { "aaa" }.into(), json!([other, {"patch": other}]));
            object.insert("patch".into(), patch.clone().into());
            let mut cuts = cuts;
            cuts.sort_unstable();
            prop_assert_eq!(read(&Value::Object(object).to_string(), &cuts), patch);
        }
    }
}
