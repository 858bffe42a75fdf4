//! What label keys and values may look like.

const BAD_PREFIX: &str = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
    characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
    for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const BAD_NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
    with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const BAD_KEY: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
    'example.com/MyName')";
const BAD_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with the key of a label or an annotation, in the real server's words.
pub(crate) fn key_problems(key: &str) -> Vec<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((_, name)) if name.contains('/') => return vec![BAD_KEY],
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let mut problems = Vec::new();
    match prefix {
        Some("") => problems.push("prefix part must be non-empty"),
        Some(prefix) if prefix.len() > 253 => {
            problems.push("prefix part must be no more than 253 bytes");
        }
        Some(prefix) if !is_subdomain(prefix) => problems.push(BAD_PREFIX),
        _ => {}
    }
    if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes");
        return problems;
    }
    if name.is_empty() {
        problems.push("name part must be non-empty");
    }
    if !is_name(name) {
        problems.push(BAD_NAME);
    }
    problems
}

/// What is wrong with a label's value, in the server's words.
pub(crate) fn value_problem(value: &str) -> Option<&'static str> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes");
    }
    (!value.is_empty() && !is_name(value)).then_some(BAD_VALUE)
}

fn is_subdomain(prefix: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut parts = prefix.split('.');
    parts.all(|part| is_name(part) && part.chars().all(plain))
}

fn is_name(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && edge(text.chars().next())
        && edge(text.chars().last())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}
