//! Where a hunk goes.
