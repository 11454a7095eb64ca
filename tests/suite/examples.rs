//! The examples run, and check what they say themselves.

#[path = "../../examples/agent_loop.rs"]
mod agent_loop;
#[path = "../../examples/apply_a_patch.rs"]
mod apply_a_patch;
#[path = "../../examples/match_strings.rs"]
mod match_strings;
#[path = "../../examples/preview_then_commit.rs"]
mod preview_then_commit;
#[path = "../../examples/search_with_a_budget.rs"]
mod search_with_a_budget;
#[path = "../../examples/stream_a_model.rs"]
mod stream_a_model;

macro_rules! runs {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[test]
            fn runs() {
                super::super::$name::main().unwrap();
            }
        }
    )*};
}

mod each {
    runs!(agent_loop, apply_a_patch, match_strings, preview_then_commit, search_with_a_budget, stream_a_model);
}
