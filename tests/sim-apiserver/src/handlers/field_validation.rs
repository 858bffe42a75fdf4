//! `fieldValidation`: what happens to fields that a kind does not have, or that a body has twice.

use http::{HeaderValue, header};
use serde_json::Value;

use super::{
    api::{Answer, refusal},
    call::Call,
};
use crate::{
    decode::{Document, duplicate_fields},
    openapi::{TypeName, drop_unknown_fields},
    status::FieldError,
};

/// The parameter's values; without one the server warns.
const VALUES: [&str; 4] = ["", "Ignore", "Strict", "Warn"];

/// What was dropped from a body, as the answer tells of it.
#[derive(Debug, Default)]
pub(super) struct Warnings(Vec<String>);

/// The fields that a body has twice.
#[derive(Debug, Default)]
pub(super) struct Twice {
    /// One by one, as warnings tell of them.
    told: Vec<String>,
    /// As a refusal names them.
    refused: Vec<String>,
}

/// What is wrong with the parameter itself.
pub(super) fn check(given: &str) -> Option<FieldError> {
    let known = VALUES.contains(&given);
    (!known).then(|| FieldError::not_supported("fieldValidation", format!("{given:?}"), &VALUES))
}

/// Drops unknown fields and says so, and which fields the body has twice, in `warnings`, or refuses them: the error is the real server's sentence.
pub(super) fn apply(
    call: &Call<'_>,
    kind: Option<TypeName>,
    value: &mut Value,
    twice: &Twice,
    warnings: &mut Warnings,
) -> Result<(), String> {
    let unknown = kind.map_or_else(Vec::new, |kind| drop_unknown_fields(kind, value));
    let directive = call.info.query("fieldValidation").unwrap_or_default();
    if directive == "Ignore" {
        return Ok(());
    }
    let unknown = unknown.into_iter();
    let unknown = unknown.map(|field| format!("unknown field {field:?}"));
    if directive == "Strict" {
        let all: Vec<String> = twice.refused.iter().cloned().chain(unknown).collect();
        return match all.is_empty() {
            true => Ok(()),
            false => Err(format!("strict decoding error: {}", all.join(", "))),
        };
    }
    warnings.0.extend(twice.told.iter().cloned().chain(unknown));
    Ok(())
}

// === impl Warnings ===

impl Warnings {
    /// Puts each into a `Warning` header, which kubectl prints, whether or not the write was refused.
    pub(super) fn tell(self, call: &Call<'_>, answer: Answer) -> Answer {
        let mut response = answer.unwrap_or_else(|status| refusal(&call.in_group(status)));
        for warning in self.0 {
            // A name that no header can carry is not told of; it is dropped all the same.
            if let Ok(value) = HeaderValue::try_from(format!("299 - {warning:?}")) {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        Ok(response)
    }
}

// === impl Twice ===

impl Twice {
    pub(super) fn of(document: &Document<'_>) -> Self {
        Self {
            told: document.twice().to_vec(),
            refused: document.refused_twice(),
        }
    }

    /// Of a patch, which is JSON.
    pub(super) fn of_patch(body: &[u8]) -> Self {
        let told = duplicate_fields(body);
        Self {
            refused: told.clone(),
            told,
        }
    }
}
