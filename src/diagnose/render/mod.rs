//! The findings as text: short for models, with excerpts for people.

mod concise;
#[cfg(feature = "cli")]
mod full;

#[cfg(test)]
mod tests;

use super::Diagnosis;

/// The lines that end both forms: what was left out and what was skipped.
fn closing(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    if diagnosis.left_out > 0 {
        out.push_str(&format!("and {} more findings that are not shown\n", diagnosis.left_out));
    }
    for skipped in &diagnosis.skipped {
        out.push_str(&format!("skipped {}, because {}\n", skipped.check, skipped.because));
    }
    out
}
