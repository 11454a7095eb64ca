//! The name that was probably meant.

/// Longer names are not compared.
const MOST_CHARS: usize = 128;

/// The name among `names` that differs least from `name`, if one is near at all; see [`all_near`].
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    all_near(name, names).into_iter().next()
}

/// The names among `names` that are near to `name`, nearest first: equal but for case, one that it is the beginning of,
/// or at most a third of the letters (two at least, one in a name of four) typed wrong, left out or swapped.
///
/// # Complexity
/// One comparison per name, each quadratic in lengths that are at most [`MOST_CHARS`].
pub(crate) fn all_near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted: Vec<char> = folded(name);
    if wanted.is_empty() || wanted.len() > MOST_CHARS {
        return Vec::new();
    }
    let allowed = (wanted.len() / 3).max(if wanted.len() < 5 { 1 } else { 2 }).min(wanted.len().saturating_sub(1));
    let scored = names.filter_map(|candidate| {
        let letters = folded(candidate);
        if letters.len() > MOST_CHARS {
            return None;
        }
        let distance = distance(&wanted, &letters);
        let begins = wanted.len() >= 3 && letters.starts_with(&wanted);
        (distance <= allowed || begins).then_some((distance, candidate))
    });
    // Equals by name, so that the answer does not depend on the order of the listing.
    let mut scored: Vec<(usize, &str)> = scored.collect();
    scored.sort_unstable();
    scored.into_iter().map(|(_, candidate)| candidate).collect()
}

fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).collect()
}

/// How many letters must be changed, put in, taken out or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && *x == b[j - 1] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_near_name_is_found_and_a_far_one_is_not() {
        let names = ["src", "utils", "README.md", "tests", "test_data", "Cargo.toml"];
        for (name, want) in [
            ("utlis", Some("utils")),
            ("Src", Some("src")),
            ("readme.md", Some("README.md")),
            ("cargo.tml", Some("Cargo.toml")),
            ("tets", Some("tests")),
            ("Cargo", Some("Cargo.toml")),
            ("node_modules", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names.iter().copied()), want, "{name}");
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_the_order() {
        assert_eq!(nearest("abc", ["abd", "abe"].into_iter()), Some("abd"));
        assert_eq!(nearest("abc", ["abe", "abd"].into_iter()), Some("abd"));
    }
}
