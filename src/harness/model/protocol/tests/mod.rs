//! The protocols without a network.

mod decode;
mod encode;
mod fault;
