//! What `run` says first: where it acts, and how far it goes.

use controller_core::controllers::min_replicas::{DryRun, Settings};

use super::counted::counted;
use super::escape_text;
use crate::error::Place;

/// Two lines: whoever starts `run` against the wrong cluster should see it before it acts.
pub fn run_banner(place: &Place, settings: &Settings) -> String {
    let context = match &place.context {
        Some(context) => format!("context {context:?}"),
        None => "the service account of this pod".to_owned(),
    };
    let scope = match &place.namespace {
        Some(namespace) => format!("namespace {namespace:?}"),
        None if settings.excluded_namespaces.is_empty() => "all namespaces".to_owned(),
        None => {
            let excluded: Vec<&str> = settings
                .excluded_namespaces
                .iter()
                .map(String::as_str)
                .collect();
            format!("all namespaces but {}", excluded.join(", "))
        }
    };
    let effect = match settings.dry_run {
        DryRun::None => "",
        DryRun::Client => "; nothing is sent (dry run)",
        DryRun::Server => "; nothing is stored (server dry run)",
    };
    let selector = match &settings.selector {
        Some(selector) => format!(" and {selector}"),
        None => String::new(),
    };
    escape_text(&format!(
        "Using {context}, server {}, {scope}\n\
         Keeping Deployments with {}{selector} at a minimum of {}{effect}",
        place.server,
        settings.opt_in,
        counted(settings.min, "replica"),
    ))
    .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_it_acts_and_how_far_it_goes() {
        let laptop = Place {
            context: Some("prod".into()),
            server: "https://10.0.0.5:6443".into(),
            namespace: Some("shop".into()),
            ..Place::default()
        };
        let dry_run = Settings {
            dry_run: DryRun::Client,
            selector: Some("tier=web".parse().unwrap()),
            ..Settings::default()
        };
        insta::assert_snapshot!(run_banner(&laptop, &dry_run), @r#"
        Using context "prod", server https://10.0.0.5:6443, namespace "shop"
        Keeping Deployments with demo/min-replicas=true and tier=web at a minimum of 2 replicas; nothing is sent (dry run)
        "#);
        let pod = Place {
            server: "https://10.96.0.1:443".into(),
            ..Place::default()
        };
        let all = Settings {
            excluded_namespaces: ["kube-system".to_owned(), "kube-public".to_owned()].into(),
            ..Settings::default()
        };
        insta::assert_snapshot!(run_banner(&pod, &all), @r"
        Using the service account of this pod, server https://10.96.0.1:443, all namespaces but kube-public, kube-system
        Keeping Deployments with demo/min-replicas=true at a minimum of 2 replicas
        ");
    }
}
