#[expect(dead_code, reason = "its main is not run here")]
#[path = "../../examples/queues.rs"]
mod queues;

use queues::demonstrate;

/// What a person reads, on a clock that is exact.
#[tokio::test(start_paused = true)]
async fn each_of_the_three_queues_tells_what_it_does_and_when() {
    let mut told = Vec::new();
    demonstrate(&mut |line| told.push(line)).await.unwrap();
    insta::assert_snapshot!(told.join("\n"), @r"
    reports         0 ms  monday, tuesday and monday were added: 2 in line
    reports         0 ms  monday is in work and was added again: 1 in line, 1 in work
    reports         0 ms  it is done, and comes once more: 2 in line
    reports         0 ms  worked off: tuesday
    reports         0 ms  worked off: monday
    reports         0 ms  all is worked off: true; wednesday came too late
    certificates    0 ms  web expires in 200 ms, or in 50: the earlier counts
    certificates    0 ms  api was renewed, and is postponed from 50 ms to 100
    certificates    0 ms  old was deleted, and its delay cancelled: true
    certificates    0 ms  new is to be looked at in 50 ms, and changes now: once is enough
    certificates    0 ms  worked off: new
    certificates   50 ms  worked off: web
    certificates  100 ms  worked off: api
    certificates  250 ms  the end has dropped 1 that was delayed
    deployments     0 ms  who fails is tried after 20 ms three times, then after 200 ms
    deployments     0 ms  shop/web fails
    deployments     0 ms  shop/api fails
    deployments    20 ms  shop/web fails
    deployments    20 ms  shop/api succeeds at try 2
    deployments    40 ms  shop/web fails
    deployments    60 ms  shop/web fails
    deployments   260 ms  shop/web succeeds at try 5
    ");
}
