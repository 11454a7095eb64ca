//! Reads the fields of a table one by one and says all that is wrong with them, not only the first.

use super::diagnostic::{Code, Diagnostic, Place, nearest};
use super::doc::{Data, Item, Key, Table};

/// The findings so far.
pub(super) type Findings = Vec<Diagnostic>;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Got<T> {
    pub(super) value: T,
    pub(super) place: Option<Place>,
}

/// The fields of one table that have not been read yet.
pub(super) struct Fields<'f> {
    file: &'f str,
    /// What stands before a field's name in messages: empty, or `model.`.
    prefix: String,
    /// Where the table begins, for what is missing in it.
    place: Option<Place>,
    left: Table,
    known: Vec<&'static str>,
    /// The names of all fields, read or not.
    written: Vec<String>,
}

impl<'f> Fields<'f> {
    /// The fields of a file's top table.
    pub(super) fn new(file: &'f str, table: Table) -> Self {
        Fields::with(file, String::new(), Some(Place { line: 1, column: 1 }), table)
    }

    fn with(file: &'f str, prefix: String, place: Option<Place>, left: Table) -> Self {
        let written = left.iter().map(|(key, _)| key.name.clone()).collect();
        Fields { file, prefix, place, left, known: Vec::new(), written }
    }

    pub(super) fn file(&self) -> &'f str {
        self.file
    }

    /// A finding about this table.
    pub(super) fn finding(&self, code: Code, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.file, message, help).at(self.place)
    }

    /// Takes the field `name` as it is.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Item> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        let at = self.left.iter().position(|(key, _)| key.name == name)?;
        Some(self.left.remove(at).1)
    }

    /// Looks at the field `name` without taking it.
    pub(super) fn look(&self, name: &'static str) -> Option<&Data> {
        self.left.iter().find(|(key, _)| key.name == name).map(|(_, item)| &item.data)
    }

    /// Whether the field was written, rightly or wrongly.
    pub(super) fn tells(&self, name: &str) -> bool {
        self.written.iter().any(|written| written == name)
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &'static str, out: &mut Findings) -> Option<Got<String>> {
        let item = self.take(name)?;
        match item.data {
            Data::Text(value) => Some(Got { value, place: item.place }),
            _ => self.wrong_type(name, &item, "a text in quotes", out),
        }
    }

    /// Takes a text that must say something.
    pub(super) fn said(&mut self, name: &'static str, most: usize, out: &mut Findings) -> Option<Got<String>> {
        let got = self.text(name, out)?;
        let length = got.value.chars().count();
        if got.value.trim().is_empty() {
            let message = format!("`{}{name}` is empty", self.prefix);
            self.bad(got.place, message, "say it in a few words, or take the line out", out);
            return None;
        }
        if length > most {
            let message = format!("`{}{name}` has {length} characters, {most} are allowed", self.prefix);
            self.bad(got.place, message, "shorten it; details belong in the body or in a skill", out);
            return None;
        }
        Some(got)
    }

    /// Takes a boolean.
    pub(super) fn boolean(&mut self, name: &'static str, out: &mut Findings) -> Option<bool> {
        let item = self.take(name)?;
        match item.data {
            Data::Bool(flag) => Some(flag),
            _ => self.wrong_type(name, &item, "`true` or `false`", out),
        }
    }

    /// Takes a whole number between `least` and `most`.
    pub(super) fn integer(&mut self, name: &'static str, least: u64, most: u64, out: &mut Findings) -> Option<u64> {
        let item = self.take(name)?;
        self.as_integer(name, &item, least, most, out)
    }

    fn as_integer(&self, name: &str, item: &Item, least: u64, most: u64, out: &mut Findings) -> Option<u64> {
        let Data::Integer(number) = item.data else {
            return self.wrong_type(name, item, "a whole number", out);
        };
        let fits = u64::try_from(number).ok().filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            let message = format!("`{}{name}` is {number}", self.prefix);
            self.bad(item.place, message, format!("take a number from {least} to {most}"), out);
        }
        fits
    }

    /// Takes a number of which `allowed` holds; `range` says so in words.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        allowed: impl Fn(f64) -> bool,
        range: &str,
        out: &mut Findings,
    ) -> Option<f64> {
        let item = self.take(name)?;
        let number = match item.data {
            Data::Float(number) => number,
            // A price or a share never comes near the size where this loses anything.
            Data::Integer(number) => number as f64,
            _ => return self.wrong_type(name, &item, "a number", out),
        };
        if number.is_finite() && allowed(number) {
            return Some(number);
        }
        self.bad(item.place, format!("`{}{name}` is {number}", self.prefix), format!("take a number {range}"), out);
        None
    }

    /// Takes a length of time such as `30s`, as milliseconds.
    pub(super) fn duration(&mut self, name: &'static str, out: &mut Findings) -> Option<u64> {
        let item = self.take(name)?;
        let Data::Text(text) = &item.data else {
            return self.wrong_type(name, &item, "a length of time such as \"30s\"", out);
        };
        let millis = millis(text);
        if millis.is_none() {
            let message = format!("`{}{name}` is `{text}`, which is no length of time", self.prefix);
            self.bad(item.place, message, "write a whole number above 0 with its unit: ms, s, m or h", out);
        }
        millis
    }

    /// Takes one of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
        out: &mut Findings,
    ) -> Option<T> {
        let got = self.text(name, out)?;
        let found = words.iter().find(|(word, _)| *word == got.value).map(|(_, value)| *value);
        if found.is_none() {
            let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let near = nearest(&got.value, words.iter().map(|(word, _)| *word));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let message = format!("`{}{name}` is `{}`", self.prefix, clip(&got.value));
            self.bad(got.place, message, format!("{near}write one of {}", all.join(", ")), out);
        }
        found
    }

    /// Takes a list of texts.
    pub(super) fn texts(&mut self, name: &'static str, out: &mut Findings) -> Option<Vec<Got<String>>> {
        let item = self.take(name)?;
        let Data::List(items) = item.data else {
            return self.wrong_type(name, &item, "a list of texts", out);
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item.data {
                Data::Text(value) => texts.push(Got { value, place: item.place }),
                _ => return self.wrong_type(name, &item, "a list of texts", out),
            }
        }
        Some(texts)
    }

    /// Takes a table.
    pub(super) fn table(&mut self, name: &'static str, out: &mut Findings) -> Option<Fields<'f>> {
        let item = self.take(name)?;
        match item.data {
            Data::Table(table) => Some(self.inner(name, item.place, table)),
            _ => self.wrong_type(name, &item, "a table", out),
        }
    }

    /// Takes a list of tables.
    pub(super) fn tables(&mut self, name: &'static str, out: &mut Findings) -> Vec<Fields<'f>> {
        let Some(item) = self.take(name) else { return Vec::new() };
        let Data::List(items) = item.data else {
            self.wrong_type::<()>(name, &item, "a list of tables", out);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.data {
                Data::Table(table) => tables.push(self.inner(name, item.place, table)),
                _ => drop(self.wrong_type::<()>(name, &item, "a table", out)),
            }
        }
        tables
    }

    /// The fields of a table that was taken as `name`.
    pub(super) fn inner(&self, name: &str, place: Option<Place>, left: Table) -> Fields<'f> {
        Fields::with(self.file, format!("{}{name}.", self.prefix), place, left)
    }

    /// Says that `name` is missing.
    pub(super) fn missing(&self, name: &str, help: impl Into<String>, out: &mut Findings) {
        out.push(self.finding(Code::MissingField, format!("`{}{name}` is missing", self.prefix), help));
    }

    /// Says that a value is not allowed.
    pub(super) fn bad(
        &self,
        place: Option<Place>,
        message: impl Into<String>,
        help: impl Into<String>,
        out: &mut Findings,
    ) {
        out.push(Diagnostic::new(Code::BadValue, self.file, message, help).at(place.or(self.place)));
    }

    /// Says what was expected instead of `item`; `None`, so that it can end a reader.
    pub(super) fn wrong_type<T>(&self, name: &str, item: &Item, want: &str, out: &mut Findings) -> Option<T> {
        let message = format!("`{}{name}` is {}", self.prefix, item.data.kind());
        let diagnostic = Diagnostic::new(Code::WrongType, self.file, message, format!("write {want}"));
        out.push(diagnostic.at(item.place.or(self.place)));
        None
    }

    /// Takes all that is left, without a word.
    pub(super) fn rest(&mut self) -> Table {
        std::mem::take(&mut self.left)
    }

    /// Says of every field that was not taken that it is unknown.
    pub(super) fn finish(self, out: &mut Findings) {
        for (Key { name, place }, _) in &self.left {
            let help = match nearest(name, self.known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.known.is_empty() => "take it out".to_owned(),
                None => format!("take it out; known here: {}", self.known.join(", ")),
            };
            let message = format!("there is no field `{}{}`", self.prefix, clip(name));
            out.push(Diagnostic::new(Code::UnknownField, self.file, message, help).at(place.or(self.place)));
        }
    }
}

/// A text short enough to be shown.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `30s` as milliseconds; above zero.
fn millis(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let factor = match &text[digits..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(factor).filter(|millis| *millis > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_a_unit() {
        let cases = [
            ("30s", Some(30_000)),
            ("250ms", Some(250)),
            ("2h", Some(7_200_000)),
            ("1m", Some(60_000)),
            ("0s", None),
            ("30", None),
            ("s", None),
            ("1.5s", None),
            ("-1s", None),
            ("1 s", None),
            ("99999999999999999999s", None),
            ("9999999999999999999h", None),
        ];
        for (text, want) in cases {
            assert_eq!(millis(text), want, "{text}");
        }
    }
}
