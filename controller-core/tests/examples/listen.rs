#[expect(dead_code, reason = "its main is not run here")]
#[path = "../../examples/informer.rs"]
mod informer;

use informer::{Told, demonstrate};

/// Each of the three handlers hears its part of the same changes, and the cache is read.
#[tokio::test(start_paused = true)]
async fn three_handlers_hear_the_same_changes_in_their_own_ways() {
    let told = Told::default();
    demonstrate(told.clone()).await.unwrap();
    let said = told.all();
    let by = |who: &str| -> Vec<&str> {
        let prefix = format!("{who}: ");
        said.iter()
            .filter_map(|it| it.strip_prefix(&prefix))
            .collect()
    };
    let mut log = by("log");
    log[..2].sort_unstable();
    assert_eq!(
        log,
        [
            "office/plan was there",
            "shop/prices was there",
            "shop/prices went"
        ]
    );
    assert_eq!(
        by("public"),
        [
            "shop/prices came",
            "office/plan came",
            "shop/prices changed",
            "shop/prices went"
        ]
    );
    let sizes = by("sizes");
    assert!(sizes.contains(&"again shop/prices"), "{sizes:?}");
    assert!(sizes.contains(&"shop/prices has 2 entries"), "{sizes:?}");
    assert!(sizes.contains(&"1 left"), "{sizes:?}");
    for line in [
        "the cache holds 2 ConfigMaps",
        "of which 1 in office",
        "of which 1 in shop",
    ] {
        assert!(said.iter().any(|it| it == line), "{line:?} in {said:#?}");
    }
}
