use serde_json::json;

#[expect(dead_code, reason = "its main is not run here")]
#[path = "../../examples/follow_event.rs"]
mod follow_event;

use follow_event::{Told, demonstrate};

/// From the socket to the patch, each stage in its turn, and one guarded patch at the end.
#[tokio::test(start_paused = true)]
async fn one_change_passes_every_stage_once_and_ends_in_one_patch() {
    let told = Told::default();
    let writes = demonstrate(told.clone()).await.unwrap();
    let said = told.all();
    let change = said.iter().position(|(who, _)| *who == "somebody").unwrap();
    let mut stages: Vec<&str> = said[change + 1..].iter().map(|(stage, _)| *stage).collect();
    stages.dedup();
    assert_eq!(
        stages,
        [
            "client", "watch", "store", "handler", "queue", "worker", "plan", "write",
            // The write comes back as a change, and is found to be enough.
            "client", "watch", "store", "handler", "queue", "worker", "plan",
        ]
    );

    let [patch] = &writes[..] else {
        panic!("{writes:#?}")
    };
    assert!(patch.is_about("deployments/scale"));
    let body = patch.json();
    assert_eq!(body["spec"], json!({"replicas": 2}));
    assert!(body["metadata"]["uid"].is_string() && body["metadata"]["resourceVersion"].is_string());
}

/// What a person reads.
#[tokio::test(start_paused = true)]
async fn the_stages_of_a_change_are_told_in_plain_words() {
    let told = Told::default();
    demonstrate(told.clone()).await.unwrap();
    let said = told.all();
    let lines = said
        .iter()
        .map(|(stage, text)| format!("{stage:>8}  {text}"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let filters = [
        ("at version [0-9]+", "at version N"),
        ("still at [0-9]+", "still at N"),
        ("[0-9]+ bytes", "N bytes"),
    ];
    insta::with_settings!({filters => filters}, {
        insta::assert_snapshot!(lines, @r"
          client  GET /apis/apps/v1/deployments
           watch  a list begins
           watch  listed shop/web at version N, 3 replicas
           watch  the list is complete, at version N
           store  shop/web was there, with 3 replicas
         handler  shop/web wants a look
           queue  shop/web is in line, Background
          worker  looks at shop/web
            plan  shop/web already satisfies the minimum of 2 (3 replicas)
        somebody  scales shop/web from 3 to 1
          client  GET /apis/apps/v1/deployments (watch)
          client  N bytes of the watch
           watch  MODIFIED shop/web at version N, 1 replicas
           store  shop/web went from 3 to 1 replicas
         handler  shop/web wants a look
           queue  shop/web is in line, Live
          worker  looks at shop/web
            plan  raise shop/web from 1 to 2, if it is still at N
           write  PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale
           write  shop/web scaled from 1 to 2
          client  N bytes of the watch
           watch  MODIFIED shop/web at version N, 2 replicas
           store  shop/web went from 1 to 2 replicas
         handler  shop/web wants a look
           queue  shop/web is in line, Live
          worker  looks at shop/web
            plan  shop/web already satisfies the minimum of 2 (2 replicas)
        ");
    });
}
