//! What may be a label's key and value: the rules of apimachinery's `validation`.
//!
//! A selector with another key or value would be refused by the server with a sentence
//! about regular expressions; here it is refused before, with its column.

/// The longest name of a key and the longest value.
const MAX_NAME: usize = 63;
/// The longest prefix of a key.
const MAX_PREFIX: usize = 253;

/// `name` or `prefix/name`. The error is a fragment that names the key.
pub(super) fn key(key: &str) -> Result<(), String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if name.contains('/') {
        return Err(format!("invalid label key {key:?}: more than one '/'"));
    }
    if let Some(prefix) = prefix {
        if prefix.len() > MAX_PREFIX {
            return Err(format!(
                "invalid label key {key:?}: its prefix is longer than {MAX_PREFIX} characters"
            ));
        }
        if !is_subdomain(prefix) {
            return Err(format!(
                "invalid label key {key:?}: its prefix is no lower-case DNS name"
            ));
        }
    }
    if name.len() > MAX_NAME {
        return Err(format!(
            "invalid label key {key:?}: its name is longer than {MAX_NAME} characters"
        ));
    }
    if !is_qualified(name) {
        return Err(format!(
            "invalid label key {key:?}: its name must be letters, digits, '-', '_' or '.', \
             and begin and end with a letter or digit"
        ));
    }
    Ok(())
}

/// A value may be empty. The error is a fragment that names the value.
pub(super) fn value(value: &str) -> Result<(), String> {
    if value.len() > MAX_NAME {
        return Err(format!(
            "invalid label value {value:?}: longer than {MAX_NAME} characters"
        ));
    }
    if !value.is_empty() && !is_qualified(value) {
        return Err(format!(
            "invalid label value {value:?}: must be letters, digits, '-', '_' or '.', \
             and begin and end with a letter or digit"
        ));
    }
    Ok(())
}

/// As Go's `strconv.ParseInt(value, 10, 64)`.
pub(super) fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
}

/// Letters, digits and `-_.`, a letter or digit at both ends; the length is not looked at.
pub(crate) fn is_qualified(name: &str) -> bool {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// A lower-case DNS name; the length is not looked at.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let outer = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('.').all(|label| {
        let bytes = label.as_bytes();
        outer(bytes.first())
            && outer(bytes.last())
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
    })
}
