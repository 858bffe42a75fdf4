//! What a real server can be made to do, too.

mod broken;
mod first;
mod named;
mod pages;
