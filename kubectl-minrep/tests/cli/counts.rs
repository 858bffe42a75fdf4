//! Numbers that a person reads.

use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::cluster::Cluster;

/// A count of one with the noun of several: `1 Deployments`, `1 more causes`.
fn wrong_plurals(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let noun = |word: &str| {
        word.trim_end_matches(|c: char| !c.is_alphanumeric())
            .to_owned()
    };
    let of_one = words.windows(3).filter(|words| words[0] == "1");
    let phrases = of_one.map(|words| match noun(words[1]).as_str() {
        "more" => format!("1 more {}", noun(words[2])),
        one => format!("1 {one}"),
    });
    let is_plural = |it: &String| it.ends_with('s') && !["1 is", "1 waits"].contains(&it.as_str());
    phrases.filter(is_plural).collect()
}

async fn said(cluster: &Cluster, command: &[&str], until: Option<&str>) -> String {
    let mut running = cluster.minrep(command).start();
    if let Some(text) = until {
        running.says(text).await;
        running.signal("TERM").await;
    }
    let ended = running.end().await;
    ended.stdout + &ended.stderr
}

#[tokio::test]
async fn one_is_never_told_as_several() {
    let cluster = Cluster::with_web().await;
    let none = ["reconcile", "once", "-n", "shop", "--max-changes=0"];
    let mut text = said(&cluster, &none, None).await;
    assert!(text.contains("1 Deployment would be changed"), "{text}");

    for name in ["a", "b", "c", "d", "e"] {
        cluster.deployment("shop", name, 1);
    }
    for name in ["a", "b", "c", "d", "e", "web"] {
        let refusal = Action::status(422).message(format!("no: {name}{name}"));
        let refusal = Rule::new(refusal).verb(Verb::Patch).object(name);
        cluster.server.faults().add(refusal);
    }
    text += &said(&cluster, &["reconcile", "once", "-n", "shop"], None).await;
    assert!(text.contains("and 1 more cause:"), "{text}");

    let cluster = Cluster::start(SimApiServer::builder()).await;
    cluster.deployment("shop", "api", 0);
    cluster.deployment("shop", "web", 0);
    let run = [
        "run",
        "-n",
        "shop",
        "--min=1",
        "--max-raises-per-minute=1",
        "-v=4",
    ];
    text += &said(&cluster, &run, Some("waits to be raised")).await;
    assert!(
        text.contains("1 Deployment waits to be raised: at most 1 is"),
        "{text}"
    );
    assert!(text.contains("at a minimum of 1 replica\n"), "{text}");
    assert!(text.contains("at most 1 raise a minute"), "{text}");

    assert_eq!(wrong_plurals(&text), [""; 0], "{text}");
    assert_eq!(
        wrong_plurals("1 Deployments, and 1 more causes: x"),
        ["1 Deployments", "1 more causes"]
    );
}
