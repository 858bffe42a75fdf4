//! Ten thousand Deployments below the minimum, on a server without controllers.
mod audit;
mod fill;
mod run;

pub(super) use run::run;
