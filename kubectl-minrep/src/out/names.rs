use controller_core::controllers::min_replicas::Effect;

use super::escape_line;
use super::pass::Pass;

/// `deployment.apps/web`, one a line, of each Deployment that was raised or would be: for the
/// next command of a pipe, which is told the namespace by its own `-n`.
pub(crate) fn names(pass: &Pass) -> String {
    pass.verdicts
        .iter()
        .filter(|verdict| {
            matches!(
                verdict.effect,
                Effect::Raised { .. } | Effect::WouldRaise { .. }
            )
        })
        .map(|verdict| escape_line(&verdict.object()).into_owned() + "\n")
        .collect()
}
