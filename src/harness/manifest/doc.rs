//! TOML and YAML as one tree of values that know where they stand, so that every finding has a line and a column.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use toml::de::{DeTable, DeValue};

use super::diagnostic::Place;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) place: Option<Place>,
    pub(super) data: Data,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A date or time as it is written.
    Time(String),
    List(Vec<Item>),
    Table(Table),
    Null,
}

/// Keys with their places, in the order of the file.
pub(super) type Table = Vec<(Key, Item)>;

/// A key and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) place: Option<Place>,
}

/// Why a text does not parse.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Misfit {
    pub(super) place: Option<Place>,
    pub(super) message: String,
}

impl Data {
    /// What it is, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Data::Text(_) => "a text",
            Data::Integer(_) => "an integer",
            Data::Float(_) => "a number",
            Data::Bool(_) => "a boolean",
            Data::Time(_) => "a date or time",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
            Data::Null => "nothing",
        }
    }

    /// The same value as JSON; dates become texts.
    pub(super) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Data::Text(text) | Data::Time(text) => Value::String(text.clone()),
            Data::Integer(number) => Value::from(*number),
            Data::Float(number) => Value::from(*number),
            Data::Bool(flag) => Value::Bool(*flag),
            Data::List(items) => Value::Array(items.iter().map(|item| item.data.to_json()).collect()),
            Data::Table(table) => {
                Value::Object(table.iter().map(|(key, item)| (key.name.clone(), item.data.to_json())).collect())
            }
            Data::Null => Value::Null,
        }
    }
}

/// From byte offsets to places, for many of them in one text.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Lines { text, starts }
    }

    fn place(&self, offset: usize) -> Option<Place> {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let column = self.text.get(start..offset)?.chars().count() + 1;
        Some(Place { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()? })
    }
}

/// The table a TOML text is, or all that is wrong with it.
pub(super) fn toml(text: &str) -> Result<Table, Vec<Misfit>> {
    let lines = Lines::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(from_toml_table(table.get_ref(), &lines));
    }
    let misfit = |error: &toml::de::Error| Misfit {
        place: error.span().and_then(|span| lines.place(span.start)),
        message: error.message().to_owned(),
    };
    let mut misfits: Vec<Misfit> = errors.iter().map(misfit).collect();
    misfits.sort_by_key(|misfit| misfit.place);
    misfits.dedup();
    Err(misfits)
}

fn from_toml_table(table: &DeTable<'_>, lines: &Lines<'_>) -> Table {
    let mut out: Table = table
        .iter()
        .map(|(key, value)| {
            let key = Key { name: key.get_ref().to_string(), place: lines.place(key.span().start) };
            (key, Item { place: lines.place(value.span().start), data: from_toml(value.get_ref(), lines) })
        })
        .collect();
    out.sort_by_key(|(key, _)| key.place);
    out
}

fn from_toml(value: &DeValue<'_>, lines: &Lines<'_>) -> Data {
    match value {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Data::Integer(number),
            // Too large for the type: as a float it fails the bounds of whatever reads it.
            Err(_) => Data::Float(f64::INFINITY),
        },
        DeValue::Float(number) => Data::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Data::Bool(*flag),
        DeValue::Datetime(time) => Data::Time(time.to_string()),
        DeValue::Array(items) => Data::List(
            items
                .iter()
                .map(|item| Item { place: lines.place(item.span().start), data: from_toml(item.get_ref(), lines) })
                .collect(),
        ),
        DeValue::Table(table) => Data::Table(from_toml_table(table, lines)),
    }
}

/// The table a YAML text is; its places are `before` lines further down. An empty text is an empty table.
pub(super) fn yaml(text: &str, before: u32) -> Result<Table, Misfit> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Table::new());
    }
    let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    let pairs: Pairs = serde_saphyr::from_str_with_options(text, options).map_err(|error| Misfit {
        place: error.location().and_then(|location| place(location, before)),
        message: first_line(&error.to_string()),
    })?;
    let item = |(key, value): Pair| {
        let key = Key { place: place(key.referenced, before), name: key.value };
        (key, Item { place: place(value.referenced, before), data: from_json(value.value) })
    };
    Ok(pairs.0.into_iter().map(item).collect())
}

fn place(location: serde_saphyr::Location, before: u32) -> Option<Place> {
    let (line, column) = (u32::try_from(location.line()).ok()?, u32::try_from(location.column()).ok()?);
    (line > 0).then(|| Place { line: line + before, column })
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    // The place within the front matter alone would only confuse: it is told as the file's.
    line.split_once(" at line ").map_or(line, |(message, _)| message).trim_end_matches('.').to_owned()
}

fn from_json(value: serde_json::Value) -> Data {
    use serde_json::Value;
    let item = |value| Item { place: None, data: from_json(value) };
    match value {
        Value::Null => Data::Null,
        Value::Bool(flag) => Data::Bool(flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Data::Integer(number),
            None => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Data::Text(text),
        Value::Array(items) => Data::List(items.into_iter().map(item).collect()),
        Value::Object(map) => {
            Data::Table(map.into_iter().map(|(name, value)| (Key { name, place: None }, item(value))).collect())
        }
    }
}

type Pair = (serde_saphyr::Spanned<String>, serde_saphyr::Spanned<serde_json::Value>);

/// A mapping in the order of the file.
struct Pairs(Vec<Pair>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Option<Place> {
        Some(Place { line, column })
    }

    #[test]
    fn toml_values_know_their_places() {
        let table = toml("a = \"x\"\n[b]\nc = [1, 0x10, 1_000]\nd = { e = 1.5, f = 2020-01-01 }\n").unwrap();
        assert_eq!(table[0].0, Key { name: "a".into(), place: at(1, 1) });
        assert_eq!(table[0].1, Item { place: at(1, 5), data: Data::Text("x".into()) });
        let Data::Table(b) = &table[1].1.data else { panic!("a table") };
        let Data::List(list) = &b[0].1.data else { panic!("a list") };
        assert_eq!(list.iter().map(|item| item.place).collect::<Vec<_>>(), [at(3, 6), at(3, 9), at(3, 15)]);
        assert_eq!(table[1].1.data.to_json().to_string(), r#"{"c":[1,16,1000],"d":{"e":1.5,"f":"2020-01-01"}}"#);
    }

    #[test]
    fn every_error_of_a_toml_text_is_told() {
        let errors = toml("a = \nb = 1\nc = [1\nb = 2\n").unwrap_err();
        assert!(errors.len() > 1, "{errors:?}");
        assert_eq!(errors[0].place, at(1, 5));
    }

    #[test]
    fn yaml_values_know_their_places() {
        let table = yaml("name: x\nmetadata:\n  a: 1\nlist: [a, true]\n", 1).unwrap();
        let places: Vec<_> = table.iter().map(|(key, item)| (key.place, item.place)).collect();
        assert_eq!(places[0], (at(2, 1), at(2, 7)));
        assert_eq!(places[1].0, at(3, 1));
        assert_eq!(table[1].1.data.to_json().to_string(), r#"{"a":1}"#);
        assert_eq!(yaml("\n# nothing\n", 1).unwrap(), []);
        let wrong = yaml("a: b\ndescription: Use when: always\n", 1).unwrap_err();
        assert_eq!(wrong.place.map(|place| place.line), Some(3), "{wrong:?}");
        assert!(yaml("- a\n- b\n", 0).is_err());
        assert!(yaml("a: 1\na: 2\n", 0).is_err());
    }
}
