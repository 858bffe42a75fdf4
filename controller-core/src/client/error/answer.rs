use http::{HeaderMap, StatusCode, header, response};
use kube::core::Status;
use kube::core::response::StatusDetails;
use tokio::time::Duration;

use super::ApiError;
use crate::client::{Target, Verb};

/// What the server said when it refused, and what it was asked.
///
/// Prints as the server's own sentence. Where the body was no Status, as from a gateway
/// or a path that nobody serves, the sentence is ours and tells the HTTP status: the body
/// is never repeated, it may be a page that echoes a token.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Answer {
    /// The HTTP status; for an error inside a watch, the one that its Status carries.
    pub code: u16,
    /// The machine-readable reason, such as `Conflict`; empty when the server gave none.
    pub reason: String,
    /// The server's sentence, or one about the status when the body was no Status.
    pub message: String,
    /// Field causes and the like.
    pub details: Option<StatusDetails>,
    /// How long the server asks to wait, by header or by body.
    pub retry_after: Option<Duration>,
    /// Whether the body was a Kubernetes Status. Where it was not, a proxy, a load
    /// balancer or an address that is no API server may have answered: what it says about
    /// an object is then no news of that object.
    pub from_api: bool,
    /// What was asked.
    pub verb: Verb,
    /// Of what.
    pub target: Target,
}

/// More is a mistake of the server's, and would overflow somebody's clock.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

// === impl Answer ===

impl Answer {
    /// Reads the body of an answer outside 2xx.
    fn read(verb: Verb, target: Target, head: &response::Parts, body: &[u8]) -> Self {
        let code = head.status;
        let mut answer = match serde_json::from_slice::<Status>(body) {
            // An object that is no Status decodes to an empty one.
            Ok(status) if status.is_failure() || !status.reason.is_empty() => {
                Self::from_status(verb, target, status)
            }
            _ => Self {
                code: 0,
                reason: String::new(),
                message: String::new(),
                details: None,
                retry_after: None,
                from_api: false,
                verb,
                target,
            },
        };
        answer.code = code.as_u16();
        answer.retry_after = retry_after(&head.headers).or(answer.retry_after);
        if answer.message.is_empty() {
            // Never the body: it may be a page that echoes the request.
            answer.message = match (code, answer.from_api) {
                (StatusCode::NOT_FOUND, false) => {
                    "the server could not find the requested resource".to_owned()
                }
                _ => format!("the server answered {code}"),
            };
        }
        answer
    }

    /// The answer in a Status that did not come as an HTTP status: the ERROR event
    /// inside a watch that itself answered 200.
    pub fn from_status(verb: Verb, target: Target, status: Status) -> Self {
        let seconds = status
            .details
            .as_ref()
            .map_or(0, |details| details.retry_after_seconds);
        Self {
            code: status.code,
            reason: status.reason,
            message: status.message,
            details: status.details,
            retry_after: (seconds > 0).then(|| Duration::from_secs(seconds.into())),
            from_api: true,
            verb,
            target,
        }
    }
}

// === impl ApiError ===

impl From<Answer> for ApiError {
    /// The reason decides where there is one: it is what the API's own code chose.
    /// The code decides for answers of anything in between.
    fn from(answer: Answer) -> Self {
        let answer = Box::new(answer);
        match answer.reason.as_str() {
            "Unauthorized" => Self::Unauthorized(answer),
            "Forbidden" => Self::Forbidden(answer),
            "NotFound" => Self::NotFound(answer),
            "AlreadyExists" => Self::AlreadyExists(answer),
            "Conflict" => Self::Conflict(answer),
            "Gone" | "Expired" => Self::Gone(answer),
            "Invalid" => Self::Invalid(answer),
            "TooManyRequests" => Self::TooManyRequests(answer),
            _ => match answer.code {
                401 => Self::Unauthorized(answer),
                403 => Self::Forbidden(answer),
                404 => Self::NotFound(answer),
                409 => Self::Conflict(answer),
                410 => Self::Gone(answer),
                422 => Self::Invalid(answer),
                429 => Self::TooManyRequests(answer),
                _ => Self::Server(answer),
            },
        }
    }
}

impl ApiError {
    /// Classifies an answer outside 2xx.
    pub(crate) fn from_response(
        verb: Verb,
        target: Target,
        head: &response::Parts,
        body: &[u8],
    ) -> Self {
        Answer::read(verb, target, head, body).into()
    }
}

/// The header as Kubernetes sends it: whole seconds. The date form is for caches, no API
/// server uses it.
pub(in crate::client) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    fn answered(code: u16, retry: Option<&str>, body: &str) -> ApiError {
        let mut response = Response::builder().status(code);
        if let Some(retry) = retry {
            response = response.header(header::RETRY_AFTER, retry);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        let target = Target {
            resource: "deployments.apps".into(),
            namespace: Some("shop".into()),
            name: Some("web".into()),
        };
        ApiError::from_response(Verb::Patch, target, &head, body.as_bytes())
    }

    #[test]
    fn the_servers_sentence_is_what_is_printed() {
        let error = answered(
            403,
            None,
            r#"{"kind":"Status","status":"Failure","reason":"Forbidden","code":403,
                "message":"deployments.apps \"web\" is forbidden: User \"ana\" cannot patch"}"#,
        );
        assert_eq!(
            error.to_string(),
            r#"deployments.apps "web" is forbidden: User "ana" cannot patch"#
        );
        let ApiError::Forbidden(answer) = error else {
            panic!("{error:?}");
        };
        assert_eq!(answer.verb, Verb::Patch);
        assert_eq!(answer.target.namespace.as_deref(), Some("shop"));
    }

    #[test]
    fn a_reason_beats_the_code() {
        let error = answered(
            409,
            None,
            r#"{"status":"Failure","reason":"AlreadyExists"}"#,
        );
        assert!(matches!(error, ApiError::AlreadyExists(_)), "{error:?}");
        assert!(!error.is_conflict());
        assert!(answered(410, None, r#"{"status":"Failure","reason":"Expired"}"#).is_gone());
        assert!(answered(409, None, r#"{"status":"Failure"}"#).is_conflict());
    }

    #[test]
    fn a_page_that_is_no_status_is_not_repeated() {
        let error = answered(502, None, "<html>token=s3cret</html>");
        assert_eq!(error.to_string(), "the server answered 502 Bad Gateway");
        assert!(!format!("{error:?}").contains("s3cret"));
        assert!(error.answer_lost());
    }

    #[test]
    fn a_path_nobody_serves_is_no_missing_object() {
        let unserved = answered(404, None, "404 page not found\n");
        assert!(unserved.is_not_found());
        assert!(unserved.is_unserved());
        let missing = answered(
            404,
            None,
            r#"{"status":"Failure","reason":"NotFound","message":"deployments.apps \"web\" not found",
                "details":{"name":"web","group":"apps","kind":"deployments"}}"#,
        );
        assert!(missing.is_not_found());
        assert!(!missing.is_unserved());
    }

    #[test]
    fn the_header_wins_over_the_body_when_both_say_how_long_to_wait() {
        let body =
            r#"{"status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":3}}"#;
        let wait = |retry| answered(429, retry, body).retry_after();
        assert_eq!(wait(None), Some(Duration::from_secs(3)));
        assert_eq!(wait(Some("7")), Some(Duration::from_secs(7)));
        assert_eq!(wait(Some("soon")), Some(Duration::from_secs(3)));
        let absurd = u64::MAX.to_string();
        assert_eq!(wait(Some(&absurd)), Some(MAX_RETRY_AFTER));
    }

    #[test]
    fn a_json_object_that_is_no_status_is_no_sentence() {
        let error = answered(500, None, r#"{"hello":"world"}"#);
        assert_eq!(
            error.to_string(),
            "the server answered 500 Internal Server Error"
        );
    }
}
