//! Which provider a model id means, which protocol it speaks and where. Decided once, when an agent is compiled.

use super::config::{Api, Cassette, CassetteMode, Model, Price, Reasoning};
use super::diagnostic::{Code, nearest};
use super::doc::{Data, Key};
use super::fields::{Fields, Findings, Got, clip};
use super::reader::{self, Reader};
use crate::RelPath;

/// A provider whose name says all.
struct Known {
    name: &'static str,
    api: Api,
    base_url: Option<&'static str>,
    key_env: Option<&'static str>,
}

const fn known(name: &'static str, api: Api, base_url: Option<&'static str>, key_env: Option<&'static str>) -> Known {
    Known { name, api, base_url, key_env }
}

const KNOWN: &[Known] = &[
    known("anthropic", Api::Anthropic, None, Some("ANTHROPIC_API_KEY")),
    known("bootstrap", Api::Bootstrap, None, None),
    known("llamacpp", Api::OpenaiChat, Some("http://127.0.0.1:8080/v1"), None),
    known("lmstudio", Api::OpenaiChat, Some("http://127.0.0.1:1234/v1"), None),
    known("mock", Api::Mock, None, None),
    known("ollama", Api::OpenaiChat, Some("http://127.0.0.1:11434/v1"), None),
    known("openai", Api::OpenaiResponses, None, Some("OPENAI_API_KEY")),
    known("openai-compatible", Api::OpenaiChat, None, None),
    known("vllm", Api::OpenaiChat, Some("http://127.0.0.1:8000/v1"), None),
];

const APIS: &[(&str, Api)] = &[
    ("anthropic", Api::Anthropic),
    ("bootstrap", Api::Bootstrap),
    ("mock", Api::Mock),
    ("openai-chat", Api::OpenaiChat),
    ("openai-responses", Api::OpenaiResponses),
];

const REASONING: &[(&str, Reasoning)] = &[
    ("none", Reasoning::None),
    ("minimal", Reasoning::Minimal),
    ("low", Reasoning::Low),
    ("medium", Reasoning::Medium),
    ("high", Reasoning::High),
    ("max", Reasoning::Max),
];

/// Reads the field `model` of `agent.toml` (an id, or a table with one); files it names are in the directory `dir`.
pub(super) fn read(
    fields: &mut Fields<'_>,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) -> Option<Model> {
    let Some(item) = fields.take("model") else {
        let help = "write `model = \"provider/name\"`, for example \"anthropic/…\", \"openai/…\" or \"ollama/…\"";
        out.push(fields.finding(Code::NoModel, "no model is named; the built-in echo will answer", help));
        return Some(Model::default());
    };
    let mut table = match item.data {
        // The short form is a table with an id and nothing else.
        Data::Text(_) => fields.inner("model", item.place, vec![(Key { name: "id".into(), place: None }, item)]),
        Data::Table(table) => fields.inner("model", item.place, table),
        _ => return fields.wrong_type("model", &item, "an id such as \"openai/name\", or a table `[model]`", out),
    };
    let api = table.choice("api", APIS, out);
    let model = match table.said("id", 200, out) {
        Some(id) => route(id, &table, api, out),
        None if table.tells("id") => None,
        None => {
            table.missing("id", "write `id = \"provider/name\"`", out);
            None
        }
    };
    // All fields are read even when there is no model to put them in: every mistake is told in one run.
    let mut model = model;
    let mut scratch = Model::default();
    details(&mut table, model.as_mut().unwrap_or(&mut scratch), dir, reader, out);
    table.finish(out);
    model
}

/// Finds the provider of an id.
fn route(id: Got<String>, fields: &Fields<'_>, api: Option<Api>, out: &mut Findings) -> Option<Model> {
    let (mode, plain) = wrapped(&id.value);
    let (provider, target) = plain.split_once('/').unwrap_or((plain, ""));
    let known = KNOWN.iter().find(|known| known.name == provider);
    let Some(api) = api.or(known.map(|known| known.api)) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        let help = match nearest(provider, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}/{target}`?"),
            None => format!(
                "write `provider/name` with one of {}; for any other, say its protocol in `api`",
                names.join(", ")
            ),
        };
        let message = format!("the model id `{}` names no known provider", clip(&id.value));
        out.push(fields.finding(Code::UnknownProvider, message, help).at(id.place));
        return None;
    };
    if target.is_empty() && !matches!(api, Api::Bootstrap | Api::Mock) {
        let message = format!("the model id `{}` has no name after the provider", clip(&id.value));
        fields.bad(id.place, message, format!("write `{provider}/name`"), out);
        return None;
    }
    let cassette = mode.map(|mode| Cassette { mode, path: format!("cassettes/{}.jsonl", slug(plain)) });
    Some(Model {
        provider: provider.into(),
        api,
        target: target.into(),
        base_url: known.and_then(|known| known.base_url).map(Into::into),
        key_env: known.and_then(|known| known.key_env).map(Into::into),
        cassette,
        id: id.value,
        ..Model::default()
    })
}

/// Takes `record:` or `replay:` off an id.
fn wrapped(id: &str) -> (Option<CassetteMode>, &str) {
    if let Some(rest) = id.strip_prefix("record:") {
        (Some(CassetteMode::Record), rest)
    } else if let Some(rest) = id.strip_prefix("replay:") {
        (Some(CassetteMode::Replay), rest)
    } else {
        (None, id)
    }
}

fn slug(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

/// Reads the fields of `[model]` besides `id` and `api`.
fn details(
    table: &mut Fields<'_>,
    model: &mut Model,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) {
    address(table, model, out);
    if let Some(effort) = table.choice("reasoning", REASONING, out) {
        model.reasoning = Some(effort);
    }
    if let Some(window) = table.integer("context_window", 1000, 100_000_000, out) {
        model.context_window = window;
    }
    model.max_output_tokens = table.integer("max_output_tokens", 1, 10_000_000, out);
    if let Some(mut price) = table.table("price", out) {
        let mut of = |name| price.number(name, |number| number >= 0.0, "of 0 or more", out);
        let (input, cached, output) = (of("input"), of("cached_input"), of("output"));
        let input = input.unwrap_or_default();
        model.price = Some(Price { input, cached_input: cached.unwrap_or(input), output: output.unwrap_or_default() });
        price.finish(out);
    }
    files(table, model, dir, reader, out);
}

/// Where the provider is and which variable holds its key.
fn address(table: &mut Fields<'_>, model: &mut Model, out: &mut Findings) {
    if let Some(url) = table.text("base_url", out) {
        let rest = url.value.strip_prefix("https://").or_else(|| url.value.strip_prefix("http://"));
        let host = rest.unwrap_or_default().split('/').next().unwrap_or_default();
        // Not shown: what stands before the `@` is a secret.
        if host.contains('@') {
            let help =
                "take the name and password out of the address; name the variable that holds the key in `key_env`";
            table.bad(url.place, "`model.base_url` holds a name or password", help, out);
        } else if host.is_empty() {
            let message = format!("`model.base_url` is `{}`", clip(&url.value));
            table.bad(url.place, message, "write an address such as \"http://127.0.0.1:8080/v1\"", out);
        } else {
            model.base_url = Some(url.value.trim_end_matches('/').to_owned());
            // A key goes to the place it was made for, and elsewhere only when the author says so.
            model.key_env = None;
        }
    } else if needs_address(model) && !table.tells("base_url") {
        table.missing("base_url", "write where the server is, for example \"http://127.0.0.1:8080/v1\"", out);
    }
    if let Some(name) = table.text("key_env", out) {
        let variable = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if !name.value.is_empty() && name.value.len() <= 64 && name.value.chars().all(variable) {
            model.key_env = Some(name.value);
        } else {
            // Not shown: it may be the key itself.
            let help = "write the name of the variable that holds the key (capitals, digits and `_`), never the key";
            table.bad(name.place, "`model.key_env` is not the name of an environment variable", help, out);
        }
    }
}

/// Whether nothing but the author can tell where the provider is.
fn needs_address(model: &Model) -> bool {
    let known = KNOWN.iter().any(|known| known.name == model.provider);
    model.base_url.is_none() && model.api == Api::OpenaiChat && (!known || model.provider == "openai-compatible")
}

/// The script of a mock model and the recording of any.
fn files(
    table: &mut Fields<'_>,
    model: &mut Model,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) {
    match table.text("script", out) {
        Some(script) if model.api == Api::Mock => {
            if let Some(path) = referred(table, &script, dir, reader, out) {
                model.script = reader.data(&path, out);
            }
        }
        Some(script) => {
            table.bad(
                script.place,
                "`model.script` is for a mock model only",
                "take it out, or write `id = \"mock\"`",
                out,
            );
        }
        None if model.api == Api::Mock && !table.tells("script") => {
            table.missing("script", "name the file with the mock model's replies", out);
        }
        None => {}
    }
    let written = table.text("cassette", out);
    let Some(cassette) = &mut model.cassette else {
        if let Some(written) = written {
            let help = "put `record:` or `replay:` before the model's id, or take it out";
            table.bad(written.place, "`model.cassette` is used only with a recording", help, out);
        }
        return;
    };
    let place = written.as_ref().and_then(|written| written.place);
    let given = written.map_or_else(|| cassette.path.clone(), |written| written.value);
    let given = Got { value: given, place };
    let path = match cassette.mode {
        CassetteMode::Replay => referred(table, &given, dir, reader, out),
        CassetteMode::Record => inside(table, &given, dir, out),
    };
    if let Some(path) = path {
        cassette.path = path.to_string();
    }
}

/// The path that a field refers to, inside the tree.
pub(super) fn inside(
    fields: &Fields<'_>,
    given: &Got<String>,
    dir: Option<&RelPath>,
    out: &mut Findings,
) -> Option<RelPath> {
    let path = reader::resolve(dir, &given.value);
    if path.is_none() {
        let message = format!("`{}` leads out of the agent's directory, or names no file", clip(&given.value));
        let help = "write a path inside it, relative to the file that names it";
        out.push(fields.finding(Code::Outside, message, help).at(given.place));
    }
    path
}

/// The file that a field refers to, which must be there.
pub(super) fn referred(
    fields: &Fields<'_>,
    given: &Got<String>,
    dir: Option<&RelPath>,
    reader: &Reader<'_>,
    out: &mut Findings,
) -> Option<RelPath> {
    let path = inside(fields, given, dir, out)?;
    if let Some(super::source::EntryKind::File { .. }) = reader.kind(&path) {
        return Some(path);
    }
    let message = format!("there is no file `{path}`");
    let help = format!("write it, or correct the name (it is looked for beside {})", fields.file());
    out.push(fields.finding(Code::MissingFile, message, help).at(given.place));
    None
}
