//! 403 → the rule that is missing, and the commands that grant it.

use controller_core::client::Answer;

use super::{Exit, Place, Report};

/// What min-replicas needs: the least that each of its parts works with. `manifests/`
/// grants the same.
const NEEDS: [Need; 5] = [
    Need::new(
        "deployments.apps",
        &["get", "list", "watch"],
        "minrep-deployments",
    ),
    Need::new("deployments.apps/scale", &["patch"], "minrep-scale"),
    Need::new(AUTOSCALERS, &["list", "watch"], "minrep-autoscalers"),
    Need::new(
        "scaledobjects.keda.sh",
        &["list", "watch"],
        "minrep-scaledobjects",
    ),
    Need::new("namespaces", &["get", "list", "watch"], "minrep-namespaces"),
];

const AUTOSCALERS: &str = "horizontalpodautoscalers.autoscaling";

struct Need {
    resource: &'static str,
    /// All of them: who may list and not watch would be refused next.
    verbs: &'static [&'static str],
    role: &'static str,
}

/// The rule that allows what was refused.
struct Rule<'a> {
    /// As an answer names it: `deployments.apps/scale`, or a path of the server's.
    resource: &'a str,
    verbs: Vec<&'a str>,
    role: &'static str,
}

/// Explains a refusal.
pub(super) fn forbidden(answer: &Answer, place: &Place) -> Report {
    let resource = &*answer.target.resource;
    let is_path = resource.starts_with('/');
    let mut report = Report::from_server(Exit::Denied, "Forbidden", &answer.message)
        .fact(missing_rule(answer, place))
        .hint(grant(answer, place))
        .hint(format_args!(
            "or with this rule in a {}\n{}",
            if answer.target.namespace.is_some() {
                "Role"
            } else {
                "ClusterRole"
            },
            Rule::for_refusal(answer, place).manifest(),
        ));
    if answer.target.namespace.is_none() && resource != "namespaces" && !is_path {
        report = report.hint("with rights in one namespace only, pass `-n NAMESPACE`");
    }
    // What there is at all is asked for the sake of ScaledObjects only.
    if resource == AUTOSCALERS || resource.contains("keda.sh") || is_path {
        report =
            report.hint("`--hpa=ignore` does without, and may fight with an autoscaler for ever");
    }
    report
}

/// `missing: patch deployments.apps/scale in namespace shop   (needed by `run`)`.
pub(crate) fn missing_rule(answer: &Answer, place: &Place) -> String {
    let target = &answer.target;
    let scope = match &target.namespace {
        Some(namespace) => format!("in namespace {namespace}"),
        None => "at cluster scope".to_owned(),
    };
    format!(
        "missing: {} {} {scope}   (needed by `{}`)",
        answer.verb, target.resource, place.command
    )
}

/// The commands with which somebody who may can grant the missing rule.
pub(crate) fn grant(answer: &Answer, place: &Place) -> String {
    let target = &answer.target;
    let rule = Rule::for_refusal(answer, place);
    let (kind, scope) = match &target.namespace {
        Some(namespace) => ("role", format!(" -n {}", shell_word(namespace))),
        None => ("clusterrole", String::new()),
    };
    let (role, verbs) = (rule.role, rule.verbs.join(","));
    let flag = if rule.is_path() {
        "non-resource-url"
    } else {
        "resource"
    };
    let resource = &target.resource;
    let subject = subject(&answer.message);
    format!(
        "a cluster admin can grant it with\n\
         \x20       kubectl create {kind} {role}{scope} --verb={verbs} --{flag}={resource}\n\
         \x20       kubectl create {kind}binding {role}{scope} --{kind}={role} {subject}"
    )
}

// === impl Need ===

impl Need {
    const fn new(
        resource: &'static str,
        verbs: &'static [&'static str],
        role: &'static str,
    ) -> Self {
        Self {
            resource,
            verbs,
            role,
        }
    }
}

// === impl Rule ===

impl<'a> Rule<'a> {
    fn for_refusal(answer: &'a Answer, place: &Place) -> Self {
        let resource = &*answer.target.resource;
        let Some(need) = NEEDS.iter().find(|need| need.resource == resource) else {
            return Self {
                resource,
                verbs: vec![answer.verb.as_str()],
                role: "minrep",
            };
        };
        let mut verbs = need.verbs.to_vec();
        if resource == AUTOSCALERS && place.raises_min {
            verbs.push("patch");
        }
        Self {
            resource,
            verbs,
            role: need.role,
        }
    }

    /// Whether it is about a path of the server's, and no resource.
    fn is_path(&self) -> bool {
        self.resource.starts_with('/')
    }

    /// As it stands among a Role's `rules`.
    fn manifest(&self) -> String {
        let quoted = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            format!("[{}]", words.join(", "))
        };
        let verbs = quoted(&self.verbs);
        if self.is_path() {
            let paths = quoted(&[self.resource]);
            return format!(
                "        - nonResourceURLs: {paths}\n\
                 \x20         verbs: {verbs}"
            );
        }
        let (name, subresource) = match self.resource.split_once('/') {
            Some((name, subresource)) => (name, format!("/{subresource}")),
            None => (self.resource, String::new()),
        };
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        let resource = format!("{plural}{subresource}");
        format!(
            "        - apiGroups: {}\n\
             \x20         resources: {}\n\
             \x20         verbs: {verbs}",
            quoted(&[group]),
            quoted(&[&resource]),
        )
    }
}

/// `--user=ana`: who was refused, as the server's sentence says it.
fn subject(message: &str) -> String {
    let user = message
        .split_once("User \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(user, _)| user);
    match user {
        None => "--user=USER".to_owned(),
        Some(user) => match user.strip_prefix("system:serviceaccount:") {
            Some(account) => format!("--serviceaccount={}", shell_word(account)),
            None => format!("--user={}", shell_word(user)),
        },
    }
}

/// `text` as one word of a shell: hints are copied, and names come from a cluster.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@:/+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_whom_the_server_names() {
        assert_eq!(
            subject(r#"pods is forbidden: User "ana" cannot list resource "pods""#),
            "--user=ana"
        );
        assert_eq!(
            subject(r#"x: User "system:serviceaccount:ops:minrep" cannot list"#),
            "--serviceaccount=ops:minrep"
        );
        assert_eq!(subject("forbidden"), "--user=USER");
    }

    #[test]
    fn a_name_cannot_become_a_command() {
        assert_eq!(
            subject(r#"User "x; rm -rf ~ 'y" cannot"#),
            r"--user='x; rm -rf ~ '\''y'"
        );
        assert_eq!(shell_word(""), "''");
    }
}
