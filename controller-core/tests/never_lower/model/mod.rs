//! World → every world that can follow.
//!
//! Nothing of ours is modelled: what a controller decides is asked of `plan` and
//! `after_refusal` themselves. Modelled is what surrounds them, with a small budget for
//! each kind of trouble, so that every run ends and all of them can be tried.

mod action;
mod check;
mod controller;
mod live;
mod world;
