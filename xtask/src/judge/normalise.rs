use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Content};
use super::symbols::Symbols;

/// Makes the answers of one server comparable with another's: what must be different has a
/// symbol afterwards, and everything else is as it was.
#[derive(Debug)]
pub(super) struct Normaliser {
    symbols: Symbols,
    /// Times near to it are the server's, others were given to it.
    now: Timestamp,
    /// Columns of the newest table that hold durations: the rows of a watch come without
    /// their definitions.
    age_columns: Vec<usize>,
    /// The `generateName` of the request.
    prefix: Option<String>,
}

/// A time further away is one that a request had in it.
const NEAR: SignedDuration = SignedDuration::from_hours(24);

// === impl Normaliser ===

impl Normaliser {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            symbols: Symbols::default(),
            now,
            age_columns: Vec::new(),
            prefix: None,
        }
    }

    /// Tells of the body that was sent: a refusal of it names an object that nobody made.
    pub(super) fn sent(&mut self, body: &str) {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let prefix = body["metadata"]["generateName"].as_str();
        self.prefix = prefix.map(ToOwned::to_owned);
    }

    pub(super) fn answer(&mut self, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        for value in answer.headers.values_mut().flatten() {
            *value = self.symbols.text(value);
        }
        answer.content = match &answer.content {
            Content::Json(body) => Content::Json(self.value("", body, false)),
            Content::Text(body) => Content::Text(self.symbols.text(body)),
            Content::Events { events, end } => {
                let event = |event| self.value("", event, false);
                let mut events: Vec<Value> = events.iter().map(event).collect();
                // How many there are of those that only say that nothing was missed is chance.
                events.dedup_by(|event, before| {
                    let says_no_more = event["object"]["metadata"]["annotations"].is_null();
                    let both = event["type"] == "BOOKMARK" && before["type"] == "BOOKMARK";
                    both && says_no_more
                });
                Content::Events { events, end: *end }
            }
            Content::Unread => Content::Unread,
        };
        answer
    }

    /// `key` is the field that holds it. The resourceVersion of a collection is that of
    /// whatever happened last, on the real server also elsewhere.
    fn value(&mut self, key: &str, value: &Value, collection: bool) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.object(fields, collection)),
            Value::Array(entries) if key == "managedFields" => {
                let mut entries: Vec<Value> =
                    entries.iter().map(|entry| self.owner(entry)).collect();
                // By time on both servers, which is in whole seconds: chance decides.
                entries.sort_by_cached_key(|entry| {
                    ["operation", "manager", "apiVersion", "subresource"]
                        .map(|field| entry[field].as_str().unwrap_or_default().to_owned())
                });
                entries.into()
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(key, item, false));
                items.collect()
            }
            Value::String(text) => match key {
                "resourceVersion" if text.len() > 1 && text.parse::<u64>().is_ok() => {
                    match collection {
                        true => "<version>".into(),
                        false => self.symbols.version(text).into(),
                    }
                }
                "continue" if !text.is_empty() => "<continue>".into(),
                "clusterIP" | "clusterIPs" if text.starts_with("10.") => "<address>".into(),
                "serverRelativeURL" => text.split('?').next().into(),
                _ => match self.time(text) {
                    Some(symbol) => symbol.into(),
                    None => self.message(text).into(),
                },
            },
            Value::Number(_) if matches!(key, "nodePort" | "healthCheckNodePort") => {
                "<port>".into()
            }
            other => other.clone(),
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, collection: bool) -> Map<String, Value> {
        let text = |field: &str| fields.get(field).and_then(Value::as_str);
        if let (Some(prefix), Some(name)) = (text("generateName"), text("name")) {
            self.symbols.learn_name(prefix, name);
        }
        if let (Some(prefix), Some(details)) = (&self.prefix, fields.get("details")) {
            let name = details["name"].as_str().unwrap_or_default();
            self.symbols.learn_name(prefix, name);
        }
        if let Some(Value::Array(columns)) = fields.get("columnDefinitions") {
            self.learn_columns(columns);
        }
        let holds_others = ["items", "rows"]
            .iter()
            .any(|items| fields.contains_key(*items));
        let bookmark = text("type") == Some("BOOKMARK");
        let mut shown = Map::new();
        for (key, value) in fields {
            let collection = match key.as_str() {
                "metadata" => holds_others || collection,
                "object" => bookmark,
                _ => collection && key == "resourceVersion",
            };
            let value = match (key.as_str(), value) {
                ("cells", Value::Array(cells)) => self.cells(cells),
                _ => self.value(key, value, collection),
            };
            shown.insert(key.clone(), value);
        }
        shown
    }

    /// An entry of `managedFields`, in the grain that both servers keep: two levels deep,
    /// and single labels and annotations.
    fn owner(&mut self, entry: &Value) -> Value {
        let mut entry = self.value("", entry, false);
        if let Some(Value::Object(fields)) = entry.get_mut("fieldsV1") {
            *fields = coarse(fields);
        }
        entry
    }

    fn learn_columns(&mut self, columns: &[Value]) {
        let is_age = |column: &Value| {
            let name = column["name"].as_str().unwrap_or_default();
            matches!(
                name,
                "Age" | "Last Seen" | "First Seen" | "Duration" | "Last Schedule"
            )
        };
        let ages = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| is_age(column));
        self.age_columns = ages.map(|(at, _)| at).collect();
    }

    fn cells(&mut self, cells: &[Value]) -> Value {
        let shown = cells.iter().enumerate().map(|(at, cell)| {
            let age = self.age_columns.contains(&at);
            match cell.as_str() {
                Some(text) if age && is_duration(text) => "<age>".into(),
                Some(text) if text.starts_with("10.96.") => "<address>".into(),
                _ => self.value("", cell, false),
            }
        });
        shown.collect()
    }

    /// A text with symbols in it. An object that a refusal quotes has its fields in the order
    /// of the server; what stands behind it is compared.
    fn message(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("Invalid value: \"{") {
            let (before, quotation) = rest.split_at(at + "Invalid value: ".len());
            shown.push_str(before);
            rest = quotation;
            let mut quoted = serde_json::Deserializer::from_str(quotation).into_iter::<String>();
            let Some(Ok(object)) = quoted.next() else {
                continue;
            };
            if let Ok(object) = serde_json::from_str(&object) {
                rest = &quotation[quoted.byte_offset()..];
                let object = self.value("", &object, false).to_string();
                shown.push_str(&Value::from(object).to_string());
            }
        }
        shown.push_str(rest);
        self.symbols.text(&shown)
    }

    /// A time of now keeps its form: seconds or microseconds.
    fn time(&self, text: &str) -> Option<&'static str> {
        if !text.ends_with('Z') || !text.contains('T') {
            return None;
        }
        let time: Timestamp = text.parse().ok()?;
        let near = time.duration_since(self.now).abs() <= NEAR;
        near.then_some(match text.split_once('.') {
            Some((_, fraction)) if fraction.len() == 7 => "<time in µs>",
            Some(_) => "<time in other fractions>",
            None => "<time>",
        })
    }
}

fn coarse(fields: &Map<String, Value>) -> Map<String, Value> {
    let below = |value: &Value| {
        let below = value.as_object().into_iter().flatten();
        let names = below.filter(|(name, _)| name.starts_with("f:"));
        names.map(|(name, _)| (name.clone(), json!({}))).collect()
    };
    let mut shown = Map::new();
    for (name, value) in fields {
        let mut kept: Map<String, Value> = below(value);
        if name == "f:metadata" {
            for name in ["f:labels", "f:annotations"] {
                if let Some(keys) = kept.get_mut(name) {
                    *keys = Value::Object(below(&value[name]));
                }
            }
        }
        shown.insert(name.clone(), Value::Object(kept));
    }
    shown
}

/// `5s`, `2m30s`, `1d`, as a table has them.
fn is_duration(text: &str) -> bool {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    digits
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "smhdy".contains(c))
        && !text.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
