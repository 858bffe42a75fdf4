//! One request about a resource.

use bytes::Bytes;
use faults::RequestInfo;
use http::{HeaderMap, Request, header};
use serde_json::Value;

use super::{
    api::Shared,
    field_validation::{self, Warnings},
};
use crate::{
    kinds::{Kind, Served},
    lifecycle::{WriteOptions, check_shape},
    openapi::type_of,
    status::{ApiStatus, FieldError},
    store::{AsOf, Key},
    view::View,
};

/// A request with what its path means.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) shared: &'a Shared,
    pub(super) info: RequestInfo,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
    pub(super) served: Served,
    pub(super) kind: &'a Kind,
    /// Which state a read shows; writes go to the present one.
    pub(super) as_of: AsOf,
}

/// The real server's limit for request bodies.
const MAX_BODY: usize = 3 * 1024 * 1024;

// === impl Call ===

impl<'a> Call<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        info: RequestInfo,
        request: &'a Request<Bytes>,
        served: Served,
        as_of: AsOf,
    ) -> Self {
        let kind = shared.kinds.get(served.id);
        Self {
            shared,
            info,
            headers: request.headers(),
            body: request.body(),
            served,
            kind,
            as_of,
        }
    }

    /// The namespace in the path; empty for cluster-scoped kinds.
    pub(super) fn namespace(&self) -> &str {
        if self.kind.namespaced {
            self.info.namespace.as_deref().unwrap_or_default()
        } else {
            ""
        }
    }

    pub(super) fn name(&self) -> &str {
        self.info.name.as_deref().unwrap_or_default()
    }

    pub(super) fn key(&self) -> Key {
        Key::new(self.namespace(), self.name())
    }

    pub(super) fn view(&self) -> Result<View, ApiStatus> {
        View::negotiate(
            *self.kind,
            self.served,
            self.headers,
            self.info.query("includeObject"),
        )
    }

    /// The content type without its parameters; empty if there is none.
    pub(super) fn content_type(&self) -> &str {
        let value = self
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        value
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
    }

    pub(super) fn body(&self) -> Result<&'a [u8], ApiStatus> {
        if self.body.len() > MAX_BODY {
            return Err(ApiStatus::too_large(MAX_BODY));
        }
        Ok(self.body)
    }

    /// The body as JSON of a write that carries a whole object.
    pub(super) fn json_body(&self, kind: &str) -> Result<Value, ApiStatus> {
        if !matches!(self.content_type(), "" | "application/json" | "*/*") {
            return Err(ApiStatus::unsupported_media_type(&["application/json"]));
        }
        let body = self.body()?;
        serde_json::from_slice(body).map_err(|error| {
            let why = match (error.is_eof(), String::from_utf8_lossy(body)) {
                (true, body) if body.is_empty() => "unexpected end of JSON input (<empty>)".to_owned(),
                (true, body) => format!("unexpected end of JSON input ({body})"),
                (false, _) => error.to_string(),
            };
            ApiStatus::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json \
                 parse error: {why}"
            ))
        })
    }

    /// The object in the body, in the stored version, without the fields that its kind does not have.
    pub(super) fn object_body(&self, warnings: &mut Warnings) -> Result<Value, ApiStatus> {
        let mut value = self.json_body(self.kind.kind)?;
        let name = self.kind.kind;
        let undecodable = |kind: &str, why: String| {
            let version = self.served.version;
            ApiStatus::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {name}: {why}"
            ))
        };
        check_shape(name, &value).map_err(|why| undecodable(name, why))?;
        let text = |field: &str| {
            value
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let expected = self.served.api_version();
        if !api_version.is_empty() && api_version != expected {
            return Err(ApiStatus::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({expected})"
            )));
        }
        if !kind.is_empty() && kind != name {
            let scheme = r#"in scheme "pkg/runtime/scheme.go:111""#;
            let why = format!("no kind {kind:?} is registered for version {expected:?} {scheme}");
            return Err(undecodable(&kind, why));
        }
        self.drop_unknown_fields(&mut value, warnings)
            .map_err(|why| undecodable(name, why))?;
        if let Some(also) = self.served.also {
            (also.to_stored)(&mut value);
        }
        Ok(value)
    }

    /// Treats the fields that the kind does not have as `fieldValidation` says; the error is the reason of a
    /// refusal. `value` is in the version of the path.
    pub(super) fn drop_unknown_fields(
        &self,
        value: &mut Value,
        warnings: &mut Warnings,
    ) -> Result<(), String> {
        let kind = type_of(self.served.group, self.served.version, self.kind.kind);
        field_validation::apply(self, kind, value, warnings)
    }

    /// `dryRun` and `fieldManager`, and a check of `fieldValidation`. `options` is the kind that the real server names in its refusal.
    pub(super) fn write_options(&self, options: &str) -> Result<WriteOptions, ApiStatus> {
        let values = self.info.query.iter().filter(|(key, _)| key == "dryRun");
        let given: Vec<&str> = values
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
            .collect();
        let unknown = given.iter().find(|value| **value != "All");
        let dry_run = unknown
            .map(|unknown| FieldError::not_supported("dryRun", format!("[{unknown:?}]"), &["All"]));
        let validation = self.info.query("fieldValidation").unwrap_or_default();
        let errors: Vec<FieldError> = dry_run
            .into_iter()
            .chain(field_validation::check(validation))
            .collect();
        if !errors.is_empty() {
            return Err(ApiStatus::invalid_options(options, &errors));
        }
        Ok(WriteOptions {
            dry_run: !given.is_empty(),
            manager: self.manager(),
            api_version: self.served.api_version(),
        })
    }

    /// The field manager: the parameter, else the first word of the user agent.
    fn manager(&self) -> String {
        match self.info.query("fieldManager") {
            Some(manager) if !manager.is_empty() => manager.to_owned(),
            _ => {
                let agent = self
                    .headers
                    .get(header::USER_AGENT)
                    .and_then(|value| value.to_str().ok());
                let agent = agent.unwrap_or("unknown");
                agent.split(['/', ' ']).next().unwrap_or(agent).to_owned()
            }
        }
    }
}
