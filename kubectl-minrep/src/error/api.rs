//! What a request died of → what a person reads.

use std::time::Duration;

use controller_core::client::{Answer, ApiError};

use super::access::{forbidden, shell_word};
use super::tls::tls;
use super::{Exit, Place, Report};

/// Explains `error`, which kept a command from doing anything.
pub fn explain(error: &ApiError, place: &Place) -> Report {
    let report = match error {
        ApiError::Refused { server } => Report::error(
            Exit::Unreachable,
            format_args!(
                "the connection to the server {server} was refused - did you specify the right \
                 host or port?"
            ),
        )
        .hint(format_args!(
            "{}. If this is kind or minikube, is it running? (`docker ps`)",
            place.route()
        )),
        ApiError::Dns { host, .. } => Report::error(
            Exit::Unreachable,
            format_args!("unable to connect to the server: lookup {host}: no such host"),
        )
        .hint(format_args!(
            "{}. Is the name right (`kubectl config view --minify{}`), and is a VPN needed?",
            place.route(),
            place.file_flag()
        )),
        ApiError::Tls { server, why } => tls(server, why, place),
        ApiError::ConnectTimeout { server, after } => Report::error(
            Exit::Unreachable,
            format_args!(
                "unable to connect to the server: no connection to {server} within {}",
                seconds(*after)
            ),
        )
        .hint(format_args!(
            "{}. Is a VPN or a proxy needed (HTTPS_PROXY), or a firewall in between?",
            place.route()
        )),
        ApiError::Unreachable { .. } => Report::error(
            Exit::Unreachable,
            format_args!("unable to connect to the server: {}", last_cause(error)),
        )
        .hint(place.route()),
        ApiError::Proxy { .. } => Report::error(Exit::Unreachable, error).hint(
            "the proxy is the cluster's `proxy-url`, or HTTPS_PROXY; NO_PROXY leaves hosts out",
        ),
        ApiError::Timeout { request, after } => Report::error(
            Exit::Timeout,
            format_args!("timed out after {} waiting for {request}", seconds(*after)),
        )
        .hint("raise `--request-timeout`, or narrow with `-n` or `-l`"),
        ApiError::Unauthorized(_) => unauthorized(place),
        ApiError::Forbidden(answer) => forbidden(answer, place),
        ApiError::NotFound(answer) if error.is_unserved() => unserved(answer, place),
        ApiError::NotFound(answer) => server(Exit::NotFound, answer),
        ApiError::TooManyRequests(answer) => server(Exit::Timeout, answer)
            .hint("the server was asked again until it was too late; try later"),
        ApiError::Credentials { problem, .. } => credentials(problem, place),
        ApiError::Malformed { .. } | ApiError::Disconnected { .. } => {
            Report::error(Exit::Unreachable, error).hint(format_args!(
                "{} at {}: is that a Kubernetes API server?",
                place.route(),
                place.server
            ))
        }
        _ => match error.answer() {
            Some(answer) if !answer.from_api => {
                server(Exit::Unreachable, answer).hint(stranger(answer, place))
            }
            Some(answer) => server(Exit::Unreachable, answer),
            None => Report::error(Exit::Internal, error),
        },
    };
    report.caused_by(error)
}

fn server(exit: Exit, answer: &Answer) -> Report {
    Report::from_server(exit, &answer.reason, &answer.message)
}

/// An answer that no Kubernetes API server gives: who may have given it?
fn stranger(answer: &Answer, place: &Place) -> String {
    let (route, server) = (place.route(), &place.server);
    if answer.code == 400 && server.starts_with("http://") {
        format!("{route} has the address {server}: should it begin with https://?")
    } else {
        format!("{route} at {server}: is that a Kubernetes API server, or a proxy before it?")
    }
}

fn unauthorized(place: &Place) -> Report {
    Report::error(
        Exit::Denied,
        "You must be logged in to the server (Unauthorized)",
    )
    .hint(rejected(place))
}

/// What to do about credentials that a server does not take.
pub(super) fn rejected(place: &Place) -> String {
    match (&place.context, &place.user) {
        (Some(context), Some(user)) => format!(
            "user {user:?} in context {context:?} was rejected. Log in again, then \
             `kubectl auth whoami --context {}{}`",
            shell_word(context),
            place.file_flag()
        ),
        _ => "the service account of this pod was rejected: is its token mounted and current?"
            .to_owned(),
    }
}

fn credentials(problem: &str, place: &Place) -> Report {
    let user = place.user.as_deref().unwrap_or("of this pod");
    Report::error(
        Exit::Config,
        format_args!("no credentials for user {user:?}: {problem}"),
    )
    .hint("log in with the tool that issues them, then try again")
}

fn unserved(answer: &Answer, place: &Place) -> Report {
    let (plural, group) = answer
        .target
        .resource
        .split_once('.')
        .unwrap_or((&answer.target.resource, ""));
    Report::error(
        Exit::NotFound,
        format_args!("the server doesn't have a resource type {plural:?} in group {group:?}"),
    )
    .hint(format_args!(
        "{} has the address {}: is that a Kubernetes API server?",
        place.route(),
        place.server
    ))
}

/// What the chain of causes ends with: the operating system's own words.
fn last_cause(error: &ApiError) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// `30s`, `1.5s`, `300ms`: Go's form for what stands in our messages.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{duration:?}")
}

#[cfg(test)]
pub(super) mod tests;
