//! The objects that are named on the command line, in the forms that kubectl takes.

/// Why an argument names no Deployment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// A kind that this program does not scale.
    #[error("{argument}: only Deployments can be named here, such as deployment/web")]
    OtherKind {
        /// As typed.
        argument: String,
    },
    /// A word without a slash that is no kind either.
    #[error("{argument} is not of the form deployment/NAME; did you mean deployment/{argument}?")]
    NoKind {
        /// As typed.
        argument: String,
    },
    /// `deployment`, and nothing after it.
    #[error(
        "{argument}: a name is missing; without an argument every opted-in Deployment is looked at"
    )]
    NoName {
        /// As typed.
        argument: String,
    },
    /// `deployment a deployment/b`.
    #[error(
        "there is no need to specify a resource type as a separate argument when passing \
         arguments in resource/name form (such as {argument})"
    )]
    Mixed {
        /// The argument with a slash.
        argument: String,
    },
    /// A name that no object can have.
    #[error(
        "{argument}: {name:?} is not a valid name: lower case letters, digits, '-' and '.' only"
    )]
    BadName {
        /// As typed.
        argument: String,
        /// The part after the slash.
        name: String,
    },
}

/// The names of the Deployments that `arguments` ask for, each once, in the order typed.
///
/// Takes `deployment/web` with every spelling of the kind that kubectl knows, and
/// `deployment web api`.
///
/// # Errors
///
/// The first argument that names no Deployment.
pub fn parse_targets(arguments: &[String]) -> Result<Vec<String>, TargetError> {
    let mut names: Vec<String> = Vec::new();
    for name in split(arguments)? {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn split(arguments: &[String]) -> Result<Vec<String>, TargetError> {
    let Some((first, rest)) = arguments.split_first() else {
        return Ok(Vec::new());
    };
    if first.contains('/') {
        return arguments.iter().map(|argument| slashed(argument)).collect();
    }
    let argument = first.clone();
    if !is_deployment(first) {
        // `web` alone is a name without its kind; `statefulset web` is another kind.
        return Err(match rest {
            [] => TargetError::NoKind { argument },
            _ => TargetError::OtherKind { argument },
        });
    }
    if rest.is_empty() {
        return Err(TargetError::NoName { argument });
    }
    if let Some(slash) = rest.iter().find(|argument| argument.contains('/')) {
        return Err(TargetError::Mixed {
            argument: slash.clone(),
        });
    }
    rest.iter().map(|name| checked(name, name)).collect()
}

fn slashed(argument: &str) -> Result<String, TargetError> {
    let typed = || argument.to_owned();
    match argument.split_once('/') {
        None => Err(TargetError::NoKind { argument: typed() }),
        Some((kind, _)) if !is_deployment(kind) => {
            Err(TargetError::OtherKind { argument: typed() })
        }
        Some((_, "")) => Err(TargetError::NoName { argument: typed() }),
        Some((_, name)) => checked(argument, name),
    }
}

/// A name goes into a path, so one with a slash or a dot segment would ask for
/// something else than what was typed.
fn checked(argument: &str, name: &str) -> Result<String, TargetError> {
    if is_dns_subdomain(name) {
        Ok(name.to_owned())
    } else {
        Err(TargetError::BadName {
            argument: argument.to_owned(),
            name: name.to_owned(),
        })
    }
}

fn is_deployment(kind: &str) -> bool {
    matches!(
        kind.to_ascii_lowercase().as_str(),
        "deployment"
            | "deployments"
            | "deploy"
            | "deployment.apps"
            | "deployments.apps"
            | "deploy.apps"
            | "deployment.v1.apps"
            | "deployments.v1.apps"
    )
}

fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_dns_label)
}

/// Part of a name, and a namespace as a whole.
pub(super) fn is_dns_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty()
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        parse_targets(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn takes_every_form_that_kubectl_takes() {
        assert_eq!(parsed(&[]), Ok(vec![]));
        for kind in [
            "deployment",
            "deployments",
            "deploy",
            "Deployment",
            "deployments.apps",
            "deployment.v1.apps",
        ] {
            assert_eq!(parsed(&[&format!("{kind}/web")]), Ok(vec!["web".into()]));
            assert_eq!(
                parsed(&[kind, "web", "api"]),
                Ok(vec!["web".into(), "api".into()])
            );
        }
        assert_eq!(
            parsed(&["deploy/web", "deployment/api", "deploy/web"]),
            Ok(vec!["web".into(), "api".into()]),
            "a name that is repeated counts once"
        );
    }

    #[test]
    fn says_what_is_wrong_with_the_rest() {
        let refused = |words: &[&str]| parsed(words).unwrap_err();
        insta::assert_snapshot!(refused(&["web"]), @"web is not of the form deployment/NAME; did you mean deployment/web?");
        insta::assert_snapshot!(refused(&["statefulset/db"]), @"statefulset/db: only Deployments can be named here, such as deployment/web");
        insta::assert_snapshot!(refused(&["sts", "db"]), @"sts: only Deployments can be named here, such as deployment/web");
        insta::assert_snapshot!(refused(&["deployment"]), @"deployment: a name is missing; without an argument every opted-in Deployment is looked at");
        insta::assert_snapshot!(refused(&["deployment/"]), @"deployment/: a name is missing; without an argument every opted-in Deployment is looked at");
        insta::assert_snapshot!(refused(&["deployment/web", "api"]), @"api is not of the form deployment/NAME; did you mean deployment/api?");
        insta::assert_snapshot!(refused(&["deployment", "a", "deployment/b"]), @"there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (such as deployment/b)");
        insta::assert_snapshot!(refused(&["deployment/../../secrets"]), @r#"deployment/../../secrets: "../../secrets" is not a valid name: lower case letters, digits, '-' and '.' only"#);
        insta::assert_snapshot!(refused(&["deployment/Web"]), @r#"deployment/Web: "Web" is not a valid name: lower case letters, digits, '-' and '.' only"#);
    }
}
