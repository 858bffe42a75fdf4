use http::Method;
use serde_json::Value;

use super::{Case, Group, Scope, Step, Until};
use crate::judge::fixtures::Fixtures;
use crate::judge::media;

/// Reads one file. What makes no sense is an error with its line.
struct Parser<'a> {
    file: &'a str,
    words: Vec<(String, String)>,
    groups: Vec<Group>,
    title: Option<String>,
    /// Whether the lines belong to the newest case.
    in_case: bool,
}

// === impl Group ===

impl Group {
    /// Reads the groups of a file.
    pub(in crate::judge) fn parse(
        file: &str,
        text: &str,
        fixtures: &Fixtures,
    ) -> Result<Vec<Self>, String> {
        let mut parser = Parser {
            file,
            words: Vec::new(),
            groups: Vec::new(),
            title: None,
            in_case: false,
        };
        for (number, line) in (1..).zip(text.lines()) {
            parser
                .line(number, line)
                .map_err(|why| format!("{file}:{number}: {why}"))?;
        }
        let mut groups = parser.groups;
        for case in groups.iter_mut().flat_map(|group| &mut group.cases) {
            case.complete_body(fixtures)
                .map_err(|why| format!("{}: {why}", case.place))?;
        }
        Ok(groups)
    }

    /// The namespace of its own: what is left of the title.
    pub(in crate::judge) fn namespace(&self) -> String {
        let words = self.title.to_lowercase();
        let words = words.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let mut name = format!("judge-{}", words.join("-"));
        name.truncate(40);
        name.trim_end_matches('-').to_owned()
    }
}

// === impl Case ===

impl Case {
    /// Puts the object in that `< name {…}` means.
    fn complete_body(&mut self, fixtures: &Fixtures) -> Result<(), String> {
        if let Some(reference) = self.body.strip_prefix("< ") {
            let (name, patch) = reference.split_once([' ', '\n']).unwrap_or((reference, ""));
            let patch = match patch.trim() {
                "" => Value::Object(serde_json::Map::new()),
                text => serde_json::from_str(text).map_err(|error| error.to_string())?,
            };
            self.body = fixtures.object(name, &patch)?.to_string();
        }
        let typed = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        if matches!(self.step, Step::Request(_))
            && !self.body.is_empty()
            && !self.headers.iter().any(typed)
        {
            let header = ("Content-Type".to_owned(), media::JSON.to_owned());
            self.headers.push(header);
        }
        Ok(())
    }
}

// === impl Parser ===

impl Parser<'_> {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        let comment = line.starts_with('#') && !line.starts_with("##");
        if line.trim().is_empty() {
            self.in_case = false;
            return Ok(());
        }
        if comment && !self.in_case {
            return Ok(());
        }
        if self.in_case {
            self.detail(line)?;
        } else if let Some(title) = line.strip_prefix("== ") {
            self.groups.push(Group {
                title: title.to_owned(),
                cases: Vec::new(),
            });
        } else if let Some(title) = line.strip_prefix("## ") {
            self.title = Some(title.to_owned());
        } else if self.groups.is_empty() {
            let (word, meaning) = line
                .split_once(" = ")
                .ok_or("this is no `word = meaning`")?;
            let meaning = self.with_words(meaning);
            self.words.push((word.to_owned(), meaning));
        } else {
            let place = format!("{}:{number}", self.file);
            let title = self.title.take().unwrap_or_else(|| line.to_owned());
            let case = first_line(place, title, &self.with_words(line))?;
            if let Some(group) = self.groups.last_mut() {
                group.cases.push(case);
            }
            self.in_case = true;
        }
        Ok(())
    }

    fn detail(&mut self, line: &str) -> Result<(), String> {
        let line = self.with_words(line);
        let case = self
            .groups
            .last_mut()
            .and_then(|group| group.cases.last_mut());
        let case = case.ok_or("this belongs to no request")?;
        if let Some(header) = line.strip_prefix("> ") {
            let (name, value) = header.split_once(": ").ok_or("this is no header")?;
            case.headers.push((name.to_owned(), value.to_owned()));
        } else if let Some(word) = line.strip_prefix("! ") {
            let word = word.trim_end();
            match word.split_once(' ') {
                None if matches!(word, "subset" | "head") => {
                    return Err(format!("`! {word}` gives no reason"));
                }
                Some(("subset", _)) => case.scope = Scope::Subset,
                Some(("head", _)) => case.scope = Scope::Head,
                Some(("size", bytes)) => {
                    let bytes: usize = bytes.parse().map_err(|_| "this is no size")?;
                    let padding = bytes.saturating_sub("{\"a\":\"\"}".len());
                    case.body = format!("{{\"a\":\"{}\"}}", "x".repeat(padding));
                }
                _ => return Err(format!("`{word}` is not known")),
            }
        } else {
            if !case.body.is_empty() {
                case.body.push('\n');
            }
            case.body.push_str(&line);
        }
        Ok(())
    }

    /// Words stand for what the file says they do; the rest is filled in when it is played.
    fn with_words(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (word, meaning) in &self.words {
            text = text.replace(&format!("{{{{{word}}}}}"), meaning);
        }
        text
    }
}

fn first_line(place: String, title: String, line: &str) -> Result<Case, String> {
    let (line, name) = match line.rsplit_once('@') {
        Some((before, name)) if is_word(name) && (before.is_empty() || before.ends_with(' ')) => {
            (before.trim_end(), Some(name.to_owned()))
        }
        _ => (line, None),
    };
    let mut case = Case {
        place,
        title,
        status: 0,
        step: Step::Compact,
        target: String::new(),
        headers: Vec::new(),
        body: String::new(),
        name,
        scope: Scope::Whole,
    };
    let mut words = line.splitn(3, ' ');
    let (first, second, rest) = (words.next(), words.next(), words.next());
    match (first, second) {
        (Some("COMPACT"), None) => return Ok(case),
        (Some("READ"), Some(until)) => {
            case.step = Step::Read(Until::parse(until)?);
            return Ok(case);
        }
        _ => {}
    }
    let status = first.and_then(|status| status.parse().ok());
    case.status = status.ok_or("a request starts with the status it is answered with")?;
    let verb = second.ok_or("there is no verb")?;
    let rest = rest.ok_or("there is no path")?;
    case.target = rest.to_owned();
    case.step = match verb {
        "WATCH" => {
            let (until, target) = rest
                .split_once(' ')
                .ok_or("WATCH N path, or WATCH end path")?;
            case.target = target.to_owned();
            Step::Watch(Until::parse(until)?)
        }
        "OPEN" => Step::Open,
        _ => match media::of_patch(verb) {
            Some(media_type) => {
                let header = ("Content-Type".to_owned(), media_type.to_owned());
                case.headers.push(header);
                Step::Request(Method::PATCH)
            }
            None => {
                let method = Method::from_bytes(verb.as_bytes());
                Step::Request(method.map_err(|_| format!("`{verb}` is no method"))?)
            }
        },
    };
    if !case.target.starts_with(['/', '{']) {
        return Err(format!("`{}` is no path", case.target));
    }
    Ok(case)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

// === impl Until ===

impl Until {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "end" => Ok(Self::End),
            count => count
                .parse()
                .map(Self::Events)
                .map_err(|_| format!("`{count}` is no number of events, nor `end`")),
        }
    }
}

#[cfg(test)]
mod tests;
