//! The results as a table that can go into a document.

use std::collections::BTreeMap;

use crate::loads::Load;
use crate::measure::{Figure, Run};

pub(crate) fn head() {
    println!("| Load | program | wall ms | CPU ms | peak MB | CPU × floor | CPU, this / it |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
}

pub(crate) fn row(load: &Load, figures: &[Figure]) {
    let floor = figures.iter().find(|figure| figure.name == load.floor);
    let own = figures.iter().find(|figure| figure.own);
    let cpu = |run: &Run| run.cpu;
    for figure in figures {
        let to_floor = floor.map_or(f64::NAN, |floor| figure.ratio(floor, cpu));
        let of_own = own.map_or(f64::NAN, |own| own.ratio(figure, cpu));
        println!(
            "| {} | {}{} | {:.2} | {:.2} | {:.1} | {to_floor:.2} | {of_own:.2} |",
            load.name,
            figure.name,
            match (figure.ended, figure.right) {
                (true, _) => " (ended: too slow)",
                (_, true) => "",
                (_, false) => " (not as wanted)",
            },
            figure.median(|run| run.wall),
            figure.median(cpu),
            figure.median(|run| run.peak as f64) / 1e6,
        );
    }
}

/// Says how the time of this program grows with the size, once a load of the same kind was seen: 1 is linear.
pub(crate) fn growth(load: &Load, figures: &[Figure], before: &mut BTreeMap<&'static str, (usize, f64)>) {
    let (Some((kind, size)), Some(own)) = (load.size, figures.iter().find(|figure| figure.own)) else { return };
    let time = own.median(|run| run.cpu);
    if let Some((smaller, less)) = before.insert(kind, (size, time)) {
        let exponent = (time / less).ln() / (size as f64 / smaller as f64).ln();
        println!("| {kind}: growth from {smaller} to {size} | exponent {exponent:.2} | | | | | |");
    }
}
