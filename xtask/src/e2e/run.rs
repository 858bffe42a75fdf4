use std::any::Any;
use std::error::Error;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::time::Duration;

use futures::FutureExt;

use super::cluster::Cluster;
use super::flags::{E2e, Set};
use super::provider::{Choice, Prepared, Provided};
use super::scale;
use super::scenarios::scenarios;
use super::world::World;
use crate::control_plane;
use crate::plugin::{self, Profile};
use crate::process::interrupted;
use crate::task::root;

/// How the scenarios came to their end.
enum End {
    /// `true`: none failed.
    Finished(bool),
    Failed(Box<dyn Error>),
    Panicked(Box<dyn Any + Send>),
    Interrupted,
}

/// Who does not want to wait for the removal.
struct Interruption<'a> {
    /// Whether the scenarios were interrupted: then the next signal is the second one.
    before: bool,
    /// What the person can do instead.
    by_hand: Option<&'a str>,
}

/// Runs all scenarios. `Ok(true)`: none failed.
///
/// However they end — well, with a failure, by a panic, by Ctrl-C — what was started is
/// removed, unless it is to be kept.
pub(crate) async fn run(flags: E2e) -> Result<bool, Box<dyn Error>> {
    let choice = Choice::of(&flags)?;
    choice.check().await?;
    let logs = root().join("target/e2e");
    std::fs::create_dir_all(&logs)?;
    // All of this can take minutes. It comes first, because an interrupt ends it at once, and
    // with it nothing that would have to be removed.
    let kubectl = control_plane::kubectl()?;
    let profile = match flags.set {
        Set::Scenarios => Profile::Dev,
        Set::Scale => Profile::Release,
    };
    let plugin = plugin::build(profile)?;
    let binary_or_image = Prepared::build(&choice).await?;

    let mut stop = pin!(interrupted());
    // The signals are caught from here on.
    if let Some(caught) = stop.as_mut().now_or_never() {
        caught?;
        return Ok(false);
    }
    let plugins = tempfile::Builder::new().prefix("minrep-e2e-").tempdir()?;
    install(&plugin, plugins.path())?;
    let cluster = |kubeconfig| Cluster::new(kubectl.clone(), kubeconfig, plugins.path());
    if flags.set == Set::Scale {
        let binary = binary_or_image.ok_or("only a process can be measured")?;
        let steady = Duration::from_secs(flags.steady);
        let measured = scale::run(&binary, cluster, &logs, steady);
        return tokio::select! {
            biased;
            _ = &mut stop => Ok(false),
            measured = measured => measured,
        };
    }

    let prepared = Prepared::new(&choice, binary_or_image, &kubectl, &logs).await?;
    let started = AssertUnwindSafe(prepared.start(&mut stop));
    let (provided, end) = match started.catch_unwind().await {
        Ok(Ok(Some(provided))) => {
            let play = async {
                let reached = cluster(provided.kubeconfig());
                prepared.warm_up(&reached).await?;
                let world = world(&cluster, &provided, &logs);
                Ok(Box::pin(scenarios(world, plugins.path(), &choice)).await?)
            };
            let end = until(&mut stop, play).await;
            (Some(provided), end)
        }
        Ok(Ok(None)) => (None, End::Interrupted),
        Ok(Err(error)) => (None, End::Failed(error)),
        Err(panic) => (None, End::Panicked(panic)),
    };
    let by_hand = prepared.by_hand();
    let interruption = Interruption {
        before: matches!(end, End::Interrupted),
        by_hand: by_hand.as_deref().filter(|_| !flags.keep),
    };
    let removal = clean_up(prepared, provided, &end, flags.keep);
    let removed = interruption.bear(removal, interrupted).await;
    end.outcome(removed)
}

/// Drives `work` until it is done, panics, or is interrupted.
async fn until(
    stop: &mut Pin<&mut impl Future<Output = io::Result<()>>>,
    work: impl Future<Output = Result<bool, Box<dyn Error>>>,
) -> End {
    tokio::select! {
        biased;
        _ = stop => End::Interrupted,
        done = AssertUnwindSafe(work).catch_unwind() => match done {
            Ok(Ok(good)) => End::Finished(good),
            Ok(Err(error)) => End::Failed(error),
            Err(panic) => End::Panicked(panic),
        },
    }
}

fn world(cluster: &impl Fn(PathBuf) -> Cluster, provided: &Provided, logs: &Path) -> World {
    World::new(
        cluster(provided.kubeconfig()),
        cluster(provided.faulty_kubeconfig()),
        provided.faults(),
        logs.to_owned(),
    )
}

/// Keeps logs if anything failed, ends everything, and removes it.
async fn clean_up(
    prepared: Prepared,
    provided: Option<Provided>,
    end: &End,
    keep: bool,
) -> Result<(), Box<dyn Error>> {
    let made = provided.is_some() || prepared.is_made().await;
    let bad = matches!(
        end,
        End::Finished(false) | End::Failed(_) | End::Panicked(_)
    );
    if bad
        && made
        && let Err(error) = prepared.save_logs().await
    {
        say(&format!("the cluster's logs are not kept: {error}"));
    }
    if let Some(provided) = provided {
        provided.stop().await?;
    }
    if keep && made {
        say(&prepared.keep());
        Ok(())
    } else {
        prepared.remove().await
    }
}

/// Writes a line to stderr if somebody still reads it: Ctrl-C has ended whatever stands
/// behind a pipe, too, and that must keep nothing from being removed.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Under the name by which kubectl finds it, and alone in its folder.
fn install(plugin: &Path, folder: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(plugin, folder.join("kubectl-minrep"))
}

// === impl End ===

impl End {
    /// What the task ends with. What went wrong in the scenarios matters more than what went
    /// wrong afterwards, which is told anyway.
    fn outcome(self, removed: Result<(), Box<dyn Error>>) -> Result<bool, Box<dyn Error>> {
        match (self, removed) {
            (Self::Panicked(panic), removed) => {
                tell(removed);
                resume_unwind(panic)
            }
            (Self::Failed(error), removed) => {
                tell(removed);
                Err(error)
            }
            (Self::Interrupted, removed) => {
                tell(removed);
                Ok(false)
            }
            (Self::Finished(good), removed) => removed.map(|()| good),
        }
    }
}

// === impl Interruption ===

impl Interruption<'_> {
    /// Drives `removal` to its end, or up to the second signal of the run. The first one only
    /// ends the scenarios; if they had ended, it changes nothing.
    async fn bear<S: Future>(
        self,
        removal: impl Future<Output = Result<(), Box<dyn Error>>>,
        signal: impl Fn() -> S,
    ) -> Result<(), Box<dyn Error>> {
        let mut removal = pin!(removal);
        if self.before {
            self.tell();
        } else {
            tokio::select! {
                biased;
                removed = &mut removal => return removed,
                _ = signal() => self.tell(),
            }
        }
        tokio::select! {
            biased;
            removed = removal => removed,
            _ = signal() => Err(match self.by_hand {
                Some(by_hand) => format!("interrupted again; by hand: {by_hand}").into(),
                None => "interrupted again".into(),
            }),
        }
    }

    fn tell(&self) {
        if let Some(by_hand) = self.by_hand {
            say(&format!(
                "interrupted; removing what was started: {by_hand}"
            ));
        }
    }
}

fn tell(removed: Result<(), Box<dyn Error>>) {
    if let Err(error) = removed {
        say(&format!("not everything was removed: {error}"));
    }
}

#[cfg(test)]
mod tests;
