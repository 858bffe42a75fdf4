use tokio::io::AsyncReadExt;

use super::*;

fn name() -> RunName {
    RunName::of_test("minrep-e2e-1")
}

#[test]
fn the_user_s_kubeconfig_is_never_written() {
    let Ok(image) = "kindest/node:v1@sha256:0a".parse();
    let (kubeconfig, config) = (Path::new("/t/kubeconfig"), Path::new("/t/kind.yaml"));
    let create = create(&name(), &image, kubeconfig, config).join(" ");
    insta::assert_snapshot!(create, @"create cluster --name=minrep-e2e-1 --image=kindest/node:v1@sha256:0a --kubeconfig=/t/kubeconfig --config=/t/kind.yaml --wait=180s --retain");
    let delete = by_hand(&name(), kubeconfig);
    insta::assert_snapshot!(delete, @"kind delete cluster --name=minrep-e2e-1 --kubeconfig=/t/kubeconfig");
}

#[test]
fn logs_are_exported_by_name() {
    let export = export(&name(), Path::new("/t/logs")).join(" ");
    insta::assert_snapshot!(export, @"export logs /t/logs --name=minrep-e2e-1");
}

/// For kubeadm before and after v1.36, the same setting.
#[test]
fn the_autoscaler_looks_every_second() {
    let config: serde_json::Value = serde_saphyr::from_str(CONFIG).unwrap();
    let patches = config["kubeadmConfigPatches"].as_array().unwrap();
    let arguments: Vec<serde_json::Value> = patches
        .iter()
        .map(|patch| {
            let patch: serde_json::Value = serde_saphyr::from_str(patch.as_str().unwrap()).unwrap();
            patch["controllerManager"]["extraArgs"].clone()
        })
        .collect();
    let key = "horizontal-pod-autoscaler-sync-period";
    assert_eq!(
        arguments,
        [
            serde_json::json!([{"name": key, "value": "1s"}]),
            serde_json::json!({key: "1s"}),
        ]
    );
}

#[test]
fn an_image_that_cannot_be_pulled_is_missing() {
    let Ok(image) = "kindest/node:v1".parse();
    let stderr = "ERROR: failed to create cluster: failed to pull image \"kindest/node:v1\": \
                  command \"docker pull kindest/node:v1\" failed with error: exit status 1\n\
                  Command Output: Error response from daemon: no route to host\n";
    let error = not_created(&image, stderr);
    let missing = Missing::behind(error.as_ref()).unwrap().to_string();
    assert!(
        missing.starts_with(
            "kind's node image kindest/node:v1 is not on this machine and cannot be pulled \
             (Error response from daemon: no route to host); "
        ),
        "{missing}"
    );
}

#[test]
fn any_other_failure_is_told_in_kinds_words() {
    let Ok(image) = "kindest/node:v1".parse();
    let error = not_created(&image, "ERROR: node(s) already exist\n");
    assert!(Missing::behind(error.as_ref()).is_none());
    assert_eq!(
        error.to_string(),
        "kind could not make a cluster: ERROR: node(s) already exist"
    );
}

#[tokio::test]
async fn what_it_has_called_ends_with_it() {
    let mut shell = Command::new("sh")
        .args(["-c", "sleep 600 & echo $!; wait"])
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let group = Group(Pid::from_raw(shell.id().unwrap().cast_signed()));
    let mut stdout = shell.stdout.take().unwrap();
    let mut first = [0; 1];
    stdout.read_exact(&mut first).await.unwrap();
    drop(group);
    // Both had it open: it is at its end when both are gone.
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_secs(20), stdout.read_to_end(&mut rest));
    ended.await.unwrap().unwrap();
}
