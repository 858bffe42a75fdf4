#[expect(dead_code, reason = "its main is not run here")]
#[path = "../../examples/layers.rs"]
mod layers;

use layers::{Told, demonstrate};

/// The one object of `office` begins at once, although it came last and `shop` has five.
#[tokio::test(start_paused = true)]
async fn a_namespace_with_many_objects_leaves_a_worker_to_the_others() {
    let told = Told::new();
    let metrics = demonstrate(told.clone()).await;
    insta::assert_snapshot!(told.all().join("\n"), @r"
      0 ms  shop/a begins
      0 ms  shop/b begins
      0 ms  shop/c is sent back
      0 ms  shop/d is sent back
      0 ms  shop/e is sent back
      0 ms  office/plan begins
    100 ms  shop/a is done
    100 ms  shop/c begins
    100 ms  shop/b is done
    100 ms  shop/d begins
    100 ms  office/plan is done
    100 ms  shop/e is sent back
    150 ms  shop/e is sent back
    200 ms  shop/c is done
    200 ms  shop/e begins
    200 ms  shop/d is done
    300 ms  shop/e is done
    ");
    let counted = |line: &&str| line.starts_with("controller_runtime_reconcile_total");
    let mut counted: Vec<&str> = metrics.lines().filter(counted).collect();
    counted.sort_unstable();
    insta::assert_snapshot!(counted.join("\n"), @r#"
    controller_runtime_reconcile_total{controller="slow",result="error"} 0
    controller_runtime_reconcile_total{controller="slow",result="requeue"} 0
    controller_runtime_reconcile_total{controller="slow",result="requeue_after"} 5
    controller_runtime_reconcile_total{controller="slow",result="success"} 6
    "#);
}
