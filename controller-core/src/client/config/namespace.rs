use super::in_cluster::InCluster;
use super::{ConfigError, Environment};

/// A namespace to work in.
pub(super) struct Chosen {
    pub(super) name: String,
    /// Whether a person asked for it.
    pub(super) explicit: bool,
}

/// What was asked for, else the context's, else the pod's, else `default`.
///
/// As in client-go, a pod's namespace also counts when a kubeconfig is used in it.
pub(super) fn choose(
    asked: Option<&str>,
    context: Option<String>,
    pod: Option<&InCluster>,
    environment: &Environment,
) -> Result<Chosen, ConfigError> {
    let asked = asked.filter(|name| !name.is_empty()).map(stripped);
    let explicit = asked.is_some();
    let name = asked
        .map(str::to_owned)
        .or(context)
        .or_else(|| pod.and_then(|pod| pod.namespace(environment)))
        .unwrap_or_else(|| "default".to_owned());
    check(&name)?;
    Ok(Chosen { name, explicit })
}

/// `ns/shop`, as kubectl prints and completes it, is `shop`. A prefix alone is left, to
/// be refused.
fn stripped(name: &str) -> &str {
    ["namespaces/", "namespace/", "ns/"]
        .into_iter()
        .find_map(|prefix| {
            let (head, rest) = name.split_at_checked(prefix.len())?;
            (head.eq_ignore_ascii_case(prefix) && !rest.is_empty()).then_some(rest)
        })
        .unwrap_or(name)
}

/// A namespace is a DNS label. What is none would end in a path that nobody serves, and
/// the server would say that the *resource* does not exist.
fn check(name: &str) -> Result<(), ConfigError> {
    let outer = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let bytes = name.as_bytes();
    let valid = bytes.len() <= 63
        && outer(bytes.first())
        && outer(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    if valid {
        return Ok(());
    }
    Err(ConfigError::BadNamespace {
        namespace: name.to_owned(),
        problem: "must be at most 63 lower-case letters, digits or '-', \
                  and begin and end with a letter or digit",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KC-32.
    #[test]
    fn prefixes_are_stripped_as_by_kubectl() {
        for (given, expected) in [
            ("foo", "foo"),
            ("ns/foo", "foo"),
            ("namespace/foo", "foo"),
            ("namespaces/foo", "foo"),
            ("NS/foo", "foo"),
            ("Namespaces/foo", "foo"),
            ("ns/", "ns/"),
            ("namespaces/", "namespaces/"),
            ("nsfoo", "nsfoo"),
            ("foo/ns", "foo/ns"),
            ("nodes/foo", "nodes/foo"),
        ] {
            assert_eq!(stripped(given), expected, "{given:?}");
        }
    }

    #[test]
    fn a_name_that_no_namespace_can_have_is_refused() {
        for name in ["ns/", "Foo", "a_b", "-a", "a-", "ü", &"a".repeat(64)] {
            let error = choose(Some(name), None, None, &Environment::empty());
            assert!(
                matches!(error, Err(ConfigError::BadNamespace { .. })),
                "{name:?}"
            );
        }
    }
}
