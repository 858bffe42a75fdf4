//! `Status` objects in the real server's shape and words (`apimachinery/pkg/api/errors`).

use std::fmt;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::kinds::Kind;

/// A refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiStatus(Box<Body>);

/// Something wrong with a field; several make up one `Invalid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    reason: &'static str,
    field: String,
    message: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    kind: &'static str,
    api_version: &'static str,
    metadata: Value,
    status: &'static str,
    message: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
    #[serde(skip_serializing_if = "Value::is_null")]
    details: Value,
    code: u16,
}

// === impl ApiStatus ===

impl ApiStatus {
    pub(crate) fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Body {
            kind: "Status",
            api_version: "v1",
            metadata: json!({}),
            status: "Failure",
            message: message.into(),
            reason,
            details: Value::Null,
            code: code.as_u16(),
        }))
    }

    /// As the same resource is told of in another group.
    pub(crate) fn in_group(mut self, plural: &str, group: &str) -> Self {
        if self.0.details["kind"] == plural {
            self.0.details["group"] = group.into();
            let (here, there) = (format!("{plural} \""), format!("{plural}.{group} \""));
            self.0.message = self.0.message.replacen(&here, &there, 1);
        }
        self
    }

    fn details(mut self, details: Value) -> Self {
        self.0.details = details;
        self
    }

    pub(crate) fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.0.details["retryAfterSeconds"].as_u64()
    }

    pub(crate) fn encode(&self) -> Bytes {
        serde_json::to_vec(&self.0)
            .expect("invariant: a Status is plain JSON")
            .into()
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            format!("{} {name:?} not found", kind.resource()),
        )
        .details(kind.details(name))
    }

    /// `going`: the one that exists waits for its finalizers.
    pub(crate) fn already_exists(kind: &Kind, name: &str, going: bool) -> Self {
        let first = if going {
            "object is being deleted: "
        } else {
            ""
        };
        let message = format!("{first}{} {name:?} already exists", kind.resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).details(kind.details(name))
    }

    pub(crate) fn conflict(resource: &str, details: Value, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message).details(details)
    }

    /// Somebody else was faster.
    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(&kind.resource(), kind.details(name), name, why)
    }

    pub(crate) fn terminating_namespace(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut details = kind.details(name);
        details["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        let message = format!("{} {name:?} is forbidden: {why}", kind.resource());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).details(details)
    }

    /// `errors` must not be empty. `group` and `kind` are what the message names: a kind, not a resource.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let mut bodies: Vec<String> = Vec::new();
        for body in errors.iter().map(FieldError::to_string) {
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        }
        let all = if bodies.len() == 1 {
            bodies.remove(0)
        } else {
            format!("[{}]", bodies.join(", "))
        };
        let causes: Vec<Value> = errors.iter().map(FieldError::cause).collect();
        let mut details = json!({"causes": causes});
        if !kind.is_empty() {
            details["kind"] = kind.into();
        }
        if !group.is_empty() {
            details["group"] = group.into();
        }
        if !name.is_empty() {
            details["name"] = name.into();
        }
        let message = format!("{qualified} {name:?} is invalid: {all}");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).details(details)
    }

    pub(crate) fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid("meta.k8s.io", kind, "", errors)
    }

    /// A patch whose result is no object of the kind; `shown` is what the message quotes.
    pub(crate) fn patch_makes_no_object(shown: &str, why: &str) -> Self {
        let error = FieldError::invalid("patch", format!("{shown:?}"), why);
        let message = format!(" \"\" is invalid: {error}");
        let details = json!({"causes": [error.cause()]});
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).details(details)
    }

    /// What the server says where a patch cannot be applied to the object as it is.
    pub(crate) fn patch_does_not_apply() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).details(json!({}))
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    pub(crate) fn inconsistent_continue(token: String) -> Self {
        let mut status = Self::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new \
             list without the continue parameter, or use the continue token in this response to retrieve the \
             remainder of the results. Continuing with the provided token results in an inconsistent list - \
             objects that were created, modified, or deleted between the time the first chunk was returned and \
             now may show up in the list.",
        );
        status.0.metadata["continue"] = token.into();
        status
    }

    pub(crate) fn too_old_for_watch(revision: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {revision} ({oldest})"))
    }

    pub(crate) fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message).details(json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).details(json!({}))
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// Where the real server's router looks at the content type before the handler does.
    pub(crate) fn unsupported_patch_type() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
        .details(json!({}))
    }

    pub(crate) fn not_acceptable(available: &[&str]) -> Self {
        let available = available.join(", ");
        let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message).details(json!({}))
    }

    /// A form that fits other answers than this one.
    pub(crate) fn not_acceptable_form(message: String) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// A path below a group and version that are served.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).details(json!({}))
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            message,
        )
    }

    /// Errors that the real server does not classify.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }
}

impl fmt::Display for ApiStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.0.code, self.0.reason, self.0.message)
    }
}

// === impl FieldError ===

impl FieldError {
    /// `value` is shown as it is: give text in quotes.
    pub(crate) fn invalid(
        field: impl Into<String>,
        value: impl fmt::Display,
        why: impl fmt::Display,
    ) -> Self {
        let message = format!("Invalid value: {value}: {why}");
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message,
        }
    }

    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let message = if why.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {why}")
        };
        Self {
            reason: "FieldValueRequired",
            field: field.into(),
            message,
        }
    }

    pub(crate) fn forbidden(field: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            reason: "FieldValueForbidden",
            field: field.into(),
            message: format!("Forbidden: {why}"),
        }
    }

    /// `value` is shown as it is: give text in quotes.
    pub(crate) fn not_supported(
        field: impl Into<String>,
        value: impl fmt::Display,
        supported: &[&str],
    ) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let message = format!(
            "Unsupported value: {value}: supported values: {}",
            supported.join(", ")
        );
        Self {
            reason: "FieldValueNotSupported",
            field: field.into(),
            message,
        }
    }

    /// `value` is shown as it is: give text in quotes.
    pub(crate) fn duplicate(field: impl Into<String>, value: impl fmt::Display) -> Self {
        Self {
            reason: "FieldValueDuplicate",
            field: field.into(),
            message: format!("Duplicate value: {value}"),
        }
    }

    pub(crate) fn too_long(field: impl Into<String>, bytes: usize) -> Self {
        Self {
            reason: "FieldValueTooLong",
            field: field.into(),
            message: format!("Too long: may not be more than {bytes} bytes"),
        }
    }

    fn cause(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}
