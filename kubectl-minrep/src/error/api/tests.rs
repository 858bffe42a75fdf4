use std::io;

use controller_core::client::{Target, Verb};
use insta::assert_snapshot;

use super::*;

pub(crate) fn laptop() -> Place {
    Place {
        context: Some("prod".into()),
        cluster: Some("prod-eu".into()),
        user: Some("ana-sso".into()),
        server: "https://10.0.0.5:6443".into(),
        namespace: Some("shop".into()),
        kubeconfig: None,
        has_authority: false,
        raises_min: false,
        command: "reconcile once",
    }
}

fn told(error: &ApiError) -> (Exit, String) {
    let report = explain(error, &laptop()).at_verbosity(0);
    (report.exit, report.to_string())
}

fn answer(
    verb: Verb,
    resource: &str,
    namespace: Option<&str>,
    said: (u16, &str, &str),
) -> Box<Answer> {
    let (code, reason, message) = said;
    Box::new(Answer {
        code,
        reason: reason.into(),
        message: message.into(),
        details: None,
        retry_after: None,
        from_api: true,
        verb,
        target: Target {
            resource: resource.into(),
            namespace: namespace.map(str::to_owned),
            name: None,
        },
    })
}

#[test]
fn refused() {
    let (exit, text) = told(&ApiError::Refused {
        server: "10.0.0.5:6443".into(),
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: the connection to the server 10.0.0.5:6443 was refused - did you specify the right host or port?

    hint: context "prod" → cluster "prod-eu". If this is kind or minikube, is it running? (`docker ps`)
    "#);
}

#[test]
fn no_such_host() {
    let (exit, text) = told(&ApiError::Dns {
        host: "api.prod.example".into(),
        source: io::Error::other("Name or service not known"),
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: unable to connect to the server: lookup api.prod.example: no such host

    hint: context "prod" → cluster "prod-eu". Is the name right (`kubectl config view --minify`), and is a VPN needed?
    "#);
}

#[test]
fn no_connection_in_time() {
    let (exit, text) = told(&ApiError::ConnectTimeout {
        server: "10.0.0.5:6443".into(),
        after: Duration::from_secs(10),
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: unable to connect to the server: no connection to 10.0.0.5:6443 within 10s

    hint: context "prod" → cluster "prod-eu". Is a VPN or a proxy needed (HTTPS_PROXY), or a firewall in between?
    "#);
}

#[test]
fn no_route() {
    let (exit, text) = told(&ApiError::Unreachable {
        server: "10.0.0.5:6443".into(),
        source: Box::new(io::Error::other("No route to host")),
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: unable to connect to the server: No route to host

    hint: context "prod" → cluster "prod-eu"
    "#);
}

#[test]
fn proxy() {
    let (exit, text) = told(&ApiError::Proxy {
        proxy: "proxy:3128".into(),
        why: "connection refused".into(),
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r"
    error: the proxy proxy:3128 does not connect to the server: connection refused

    hint: the proxy is the cluster's `proxy-url`, or HTTPS_PROXY; NO_PROXY leaves hosts out
    ");
}

#[test]
fn timed_out() {
    let (exit, text) = told(&ApiError::Timeout {
        request: "GET /apis/apps/v1/deployments".into(),
        after: Duration::from_secs(30),
    });
    assert_eq!(exit, Exit::Timeout);
    assert_snapshot!(text, @r"
    error: timed out after 30s waiting for GET /apis/apps/v1/deployments

    hint: raise `--request-timeout`, or narrow with `-n` or `-l`
    ");
}

#[test]
fn unauthorized() {
    let said = (401, "Unauthorized", "Unauthorized");
    let error = ApiError::Unauthorized(answer(Verb::List, "deployments.apps", None, said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::Denied);
    assert_snapshot!(text, @r#"
    error: You must be logged in to the server (Unauthorized)

    hint: user "ana-sso" in context "prod" was rejected. Log in again, then `kubectl auth whoami --context prod`
    "#);
    let pod = Place {
        command: "run",
        ..Place::default()
    };
    assert_snapshot!(explain(&error, &pod), @r"
    error: You must be logged in to the server (Unauthorized)

    hint: the service account of this pod was rejected: is its token mounted and current?
    ");
}

#[test]
fn forbidden_in_a_namespace() {
    let message = r#"deployments.apps is forbidden: User "ana" cannot list resource "deployments" in API group "apps" in the namespace "shop""#;
    let said = (403, "Forbidden", message);
    let error = ApiError::Forbidden(answer(Verb::List, "deployments.apps", Some("shop"), said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::Denied);
    assert_snapshot!(text, @r#"
    Error from server (Forbidden): deployments.apps is forbidden: User "ana" cannot list resource "deployments" in API group "apps" in the namespace "shop"

    missing: list deployments.apps in namespace shop   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create role minrep-deployments -n shop --verb=get,list,watch --resource=deployments.apps
            kubectl create rolebinding minrep-deployments -n shop --role=minrep-deployments --user=ana
    hint: or with this rule in a Role
            - apiGroups: ["apps"]
              resources: ["deployments"]
              verbs: ["get", "list", "watch"]
    "#);
}

/// C-10.
#[test]
fn forbidden_at_cluster_scope() {
    let message = r#"horizontalpodautoscalers.autoscaling is forbidden: User "system:serviceaccount:ops:minrep" cannot watch resource "horizontalpodautoscalers" in API group "autoscaling" at the cluster scope"#;
    let said = (403, "Forbidden", message);
    let resource = "horizontalpodautoscalers.autoscaling";
    let error = ApiError::Forbidden(answer(Verb::Watch, resource, None, said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::Denied);
    assert_snapshot!(text, @r#"
    Error from server (Forbidden): horizontalpodautoscalers.autoscaling is forbidden: User "system:serviceaccount:ops:minrep" cannot watch resource "horizontalpodautoscalers" in API group "autoscaling" at the cluster scope

    missing: watch horizontalpodautoscalers.autoscaling at cluster scope   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create clusterrole minrep-autoscalers --verb=list,watch --resource=horizontalpodautoscalers.autoscaling
            kubectl create clusterrolebinding minrep-autoscalers --clusterrole=minrep-autoscalers --serviceaccount=ops:minrep
    hint: or with this rule in a ClusterRole
            - apiGroups: ["autoscaling"]
              resources: ["horizontalpodautoscalers"]
              verbs: ["list", "watch"]
    hint: with rights in one namespace only, pass `-n NAMESPACE`
    hint: `--hpa=ignore` does without, and may fight with an autoscaler for ever
    "#);
}

#[test]
fn no_kubernetes_there() {
    let said = (
        404,
        "NotFound",
        "the server could not find the requested resource",
    );
    let error = ApiError::NotFound(answer(Verb::List, "deployments.apps", None, said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::NotFound);
    assert_snapshot!(text, @r#"
    error: the server doesn't have a resource type "deployments" in group "apps"

    hint: context "prod" → cluster "prod-eu" has the address https://10.0.0.5:6443: is that a Kubernetes API server?
    "#);
    let (exit, text) = told(&ApiError::Malformed {
        request: "GET /apis/apps/v1/deployments".into(),
        problem: "not JSON",
        line: 1,
        column: 1,
    });
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: the answer to GET /apis/apps/v1/deployments cannot be read: not JSON at line 1 column 1

    hint: context "prod" → cluster "prod-eu" at https://10.0.0.5:6443: is that a Kubernetes API server?
    "#);
}

/// C-07: it outlasted every retry.
#[test]
fn too_busy() {
    let said = (429, "TooManyRequests", "storage is (re)initializing");
    let error = ApiError::TooManyRequests(answer(Verb::List, "deployments.apps", None, said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::Timeout);
    assert_snapshot!(text, @r"
    Error from server (TooManyRequests): storage is (re)initializing

    hint: the server was asked again until it was too late; try later
    ");
}

#[test]
fn broken_server() {
    let said = (500, "InternalError", "etcd is\nhint: forged\x1b[2J");
    let error = ApiError::Server(answer(Verb::List, "deployments.apps", None, said));
    let (exit, text) = told(&error);
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r"Error from server (InternalError): etcd is\nhint: forged^[[2J");
}

#[test]
fn credentials_that_fail_while_running() {
    let (exit, text) = told(&ApiError::Credentials {
        request: "GET /apis/apps/v1/deployments".into(),
        problem: "the credential helper failed with exit code 255".into(),
    });
    assert_eq!(exit, Exit::Config);
    assert_snapshot!(text, @r#"
    error: no credentials for user "ana-sso": the credential helper failed with exit code 255

    hint: log in with the tool that issues them, then try again
    "#);
}

#[test]
fn causes_are_for_who_asks() {
    let error = ApiError::Dns {
        host: "api.prod.example".into(),
        source: io::Error::other("Name or service not known"),
    };
    assert_snapshot!(explain(&error, &laptop()).at_verbosity(2), @r#"
    error: unable to connect to the server: lookup api.prod.example: no such host
    caused by: Name or service not known

    hint: context "prod" → cluster "prod-eu". Is the name right (`kubectl config view --minify`), and is a VPN needed?
    "#);
}

#[test]
fn an_absent_namespace() {
    let known = ["default".to_owned(), "shop".to_owned()];
    assert_snapshot!(crate::error::namespace_not_found("shpo", &known), @r#"
    error: namespace "shpo" not found

    hint: did you mean "shop"? (`kubectl get ns`)
    "#);
    assert_snapshot!(crate::error::namespace_not_found("shpo", &[]), @r#"
    error: namespace "shpo" not found

    hint: `kubectl get ns` shows the ones that exist
    "#);
}

#[test]
fn an_answer_of_something_else_asks_who_gave_it() {
    let gateway = |code: u16, said: &str| {
        let mut answer = answer(
            Verb::List,
            "deployments.apps",
            Some("shop"),
            (code, "", said),
        );
        answer.from_api = false;
        ApiError::Server(answer)
    };
    let (exit, text) = told(&gateway(502, "the server answered 502 Bad Gateway"));
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    Error from server: the server answered 502 Bad Gateway

    hint: context "prod" → cluster "prod-eu" at https://10.0.0.5:6443: is that a Kubernetes API server, or a proxy before it?
    "#);
    let plain = Place {
        server: "http://10.0.0.5:6443".into(),
        ..laptop()
    };
    let report = explain(&gateway(400, "the server answered 400 Bad Request"), &plain);
    assert_snapshot!(report, @r#"
    Error from server: the server answered 400 Bad Request

    hint: context "prod" → cluster "prod-eu" has the address http://10.0.0.5:6443: should it begin with https://?
    "#);
}
