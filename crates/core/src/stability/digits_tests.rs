//! Decimals: every float has the nearest one, places rise with floats, and windows are those of rounded rows.

use super::*;
use crate::stability::{Quantile, Reach, bracket, lattice, reachable::Target};
use proptest::prelude::*;

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

/// The shape of audits: 0, 0.1 to 0.9, 1 to 9, 10 to 90, and their negatives.
fn few() -> Digits {
    Digits::shaped(Shape { digits: 1, wholes: 0, lowest: -1, highest: 1 })
}

/// The place of the nearest decimal by exact arithmetic alone.
fn nearest(lattice: &Digits, value: f64) -> i64 {
    let size = Ratio::from_f64_exact(value.abs()).unwrap();
    let below = lattice.at_most(&size);
    let (low, high) = (lattice.value(below), lattice.value(below + 1));
    let place = below + i64::from(high > low && &size - &low >= &high - &size);
    if value < 0.0 { -place } else { place }
}

/// Floats of all kinds from 64 bits: any bits, short decimals, halves, whole numbers, and neighbours of decimals.
fn float_of(word: u64, lattice: &Digits) -> f64 {
    let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = match word % 6 {
        0 | 1 => f64::from_bits(mixed),
        2 => (mixed >> 30) as f64 / 100.0,
        3 => (mixed >> (mixed % 50)) as f64 / 2.0,
        4 => (mixed >> 28) as f64,
        _ => {
            let place = mixed.cast_signed() % lattice.tables.last;
            lattice::step_from(lattice.float(place), (mixed % 3).cast_signed() - 1).unwrap()
        }
    };
    if value.is_finite() { value } else { 0.5 }
}

#[test]
fn the_decimals_of_a_small_lattice_by_hand() {
    let few = few();
    assert_eq!(few.range(), Range::new(-27, 27).unwrap());
    let decimals = [0, 1, 9, 10, 18, 19, 27, -12].map(|place| few.float(place).to_bits());
    assert_eq!(decimals, [0.0, 0.1, 0.9, 1.0, 9.0, 10.0, 90.0, -3.0].map(f64::to_bits));
    for (value, place) in [
        (0.0, 0),
        (-0.0, 0),
        (0.05, 1), // the float is above five hundredths
        (0.049, 0),
        (0.94, 9),
        (0.96, 10),
        (1.5, 11),
        (-1.5, -11),
        (2.5, 12),
        (9.4, 18),
        (9.5, 19),
        (14.9, 19),
        (15.0, 20),
        (95.0, 27),
        (1e300, 27),
        (f64::MAX, 27),
        (-f64::MAX, -27),
        (5e-324, 0),
    ] {
        assert_eq!(few.place(value), place, "{value}");
    }
    let wholes = Digits::shaped(Shape { digits: 1, wholes: 2, lowest: 0, highest: 2 });
    assert_eq!(
        [9.0, 10.0, 11.4, 99.0, 99.6, 100.0, 151.0].map(|value| wholes.place(value)),
        [9, 10, 11, 99, 100, 100, 101]
    );
}

#[test]
fn how_many_values_there_are() {
    for (digits, values) in [(6, 21.2e9), (7, 31.1e9), (9, 1.14e12)] {
        let lattice = Digits::new(digits).unwrap();
        let count = lattice.range().width() as f64;
        assert!((count / values - 1.0).abs() < 0.01, "{digits}: {count}");
    }
    assert!(Digits::new(0).is_err() && Digits::new(16).is_err());
}

#[test]
fn ends_of_the_floats_have_places() {
    for digits in 1..=MOST_DIGITS {
        let lattice = Digits::new(digits).unwrap();
        let Range { lo, hi } = lattice.range();
        assert_eq!([lattice.place(f64::MAX), lattice.place(f64::MIN)], [hi, lo]);
        assert!(lattice.float(hi).is_finite() && lattice.float(hi) > 8e307);
        // Two of the smallest floats are a step.
        let steps = [5e-324, 1e-323, 1.5e-323, 2e-323, 3e-323].map(|tiny| lattice.place(tiny));
        assert_eq!(steps, [0, 1, 1, 2, 3], "{digits}");
        assert_eq!(lattice.float(1).to_bits(), 2);
    }
}

#[test]
fn a_cell_holds_all_floats_of_its_place_and_no_other() {
    for lattice in [few(), Digits::new(7).unwrap(), Digits::new(15).unwrap()] {
        let last = lattice.tables.last;
        for place in [-last, 1 - last, -30, -1, 0, 1, 9, 10, 123_456, last - 1, last] {
            let place = place.clamp(-last, last);
            let (first, end) = lattice.cell(place);
            assert_eq!([lattice.place(first), lattice.place(end)], [place; 2]);
            if place > -last {
                assert_eq!(lattice.place(lattice::step_from(first, -1).unwrap()), place - 1);
            }
            if place < last {
                assert_eq!(lattice.place(lattice::step_from(end, 1).unwrap()), place + 1);
            }
        }
    }
}

#[test]
fn halves_go_away_from_zero_and_longer_numbers_to_the_nearest() {
    let seven = Digits::new(7).unwrap();
    let rounded = |value: f64| seven.float(seven.place(value));
    for (value, decimal) in [
        (1.234_567_5f64, 1.234_568f64), // the float is above the half
        (1_234_567.5, 1_234_568.0),
        (-1_234_567.5, -1_234_568.0),
        (9_999_999.5, 10_000_000.0),
        (12_345_678.5, 12_345_679.0),
        (9_999_999_999.4, 9_999_999_999.0),
        (12_345_678_901.0, 12_345_680_000.0),
        (1_700_123_456.789, 1_700_123_457.0),
        (52.520_007_6, 52.520_01),
        (1234.56, 1234.56),
        (0.1 + 0.2, 0.3),
        (0.999_999_96, 1.0),
    ] {
        assert_eq!(rounded(value).to_bits(), decimal.to_bits(), "{value}");
    }
}

#[test]
fn a_range_holds_the_decimals_between_its_ends() {
    let seven = Digits::new(7).unwrap();
    let ends = |low: &str, high: &str| {
        let range = seven.between(&ratio(low), &ratio(high))?;
        Some((seven.float(range.lo()), seven.float(range.hi())))
    };
    assert_eq!(ends("0", "100"), Some((0.0, 100.0)));
    assert_eq!(ends("0.1", "0.3"), Some((0.1, 0.3)));
    assert_eq!(ends("-1.23456789", "1.23456789"), Some((-1.234_567, 1.234_567)));
    assert_eq!(ends("1.23456781", "1.23456889"), Some((1.234_568, 1.234_568)));
    assert_eq!(ends("1.23456781", "1.23456782"), None);
    assert_eq!(ends("-1.23456782", "-1.23456781"), None);
    assert_eq!(seven.between(&ratio("-1e400"), &ratio("1e400")), Some(seven.range()));
    assert_eq!(seven.between(&ratio("-1e400"), &ratio("-1e399")), None);
}

/// A million floats of all kinds, for the digits that are used and the most there are.
#[test]
fn every_float_has_the_place_of_the_nearest_decimal() {
    for (digits, many) in [(7, 1_000_000u64), (1, 30_000), (9, 100_000), (12, 30_000), (15, 100_000)] {
        let lattice = Digits::new(digits).unwrap();
        let mut pairs: Vec<(f64, i64)> = Vec::new();
        for word in 0..many {
            let value = float_of(word.wrapping_mul(0xd134_2543_de82_ef95), &lattice);
            let place = lattice.place(value);
            // Exact arithmetic takes long: a part of them, and all that are decided by floats near a half.
            if word % 16 == 0 {
                assert_eq!(place, nearest(&lattice, value), "{value:e} {digits}");
            }
            assert_eq!(lattice.place(-value), -place, "{value:e}");
            assert_eq!(lattice.place(lattice.float(place)), place, "{value:e} {digits}");
            pairs.push((value, place));
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(pairs.is_sorted_by_key(|&(_, place)| place), "{digits}");
    }
}

#[test]
fn places_are_contiguous_and_floats_rise_with_them() {
    for lattice in [few(), Digits::new(7).unwrap(), Digits::new(15).unwrap()] {
        let last = lattice.tables.last;
        let starts = lattice.tables.decades.iter().flat_map(|decade| {
            let start = decade.start;
            (start - 3..start + 3).filter(move |place| (-last..last).contains(place))
        });
        for place in starts.chain([-last, -1, 0, last - 1]) {
            assert!(lattice.value(place) < lattice.value(place + 1), "{place}");
            assert!(lattice.float(place) < lattice.float(place + 1), "{place}");
            assert_eq!(lattice.place(lattice.float(place)), place);
        }
    }
}

fn rounded_first(lattice: &Digits, rows: &[f64], range: Range, adjacency: Adjacency) -> Vec<i64> {
    rows.iter().filter_map(|&row| lattice.clean(Some(row), range, adjacency)).collect()
}

/// The window of rows as they are, mapped, is the window of rows that were rounded first.
fn check_windows(lattice: &Digits, rows: &[f64], range: Range) {
    for (p, reach, adjacency) in ["1/2", "1/4", "0.99"].iter().flat_map(|p| {
        let reaches = [Reach::Ranks(0), Reach::Ranks(3), Reach::Ranks(40), Reach::All];
        reaches.into_iter().flat_map(move |reach| Adjacency::ALL.map(|adjacency| (p, reach, adjacency)))
    }) {
        let target = Target::from(Quantile::new(&ratio(p)).unwrap());
        let first = rounded_first(lattice, rows, range, adjacency);
        let wanted = target.window(&first, range, reach);
        let raw = bracket::window(rows, target, lattice::FLOATS, reach, adjacency);
        let place = |ordinal: i64| lattice.place(lattice::float(ordinal).unwrap());
        let found = raw.mapped(range, place, |target| {
            let count = |holds: fn(&i64, &i64) -> bool| {
                first.iter().filter(|place| holds(place, &target)).count() as u64
            };
            (count(i64::lt), count(i64::eq))
        });
        assert!(found == wanted, "{p} {reach:?} {adjacency}");
    }
}

#[test]
fn windows_of_rows_of_all_kinds() {
    let seven = Digits::new(7).unwrap();
    let word = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    let odd: Vec<f64> = (0..9000u64)
        .map(|at| match word(at) % 5 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -f64::INFINITY,
            _ => word(at) as f64 / 1e7,
        })
        .collect();
    // Rows that differ beyond the seventh digit only.
    let close: Vec<f64> = (0..5000u64).map(|at| 52.52 + word(at) as f64 * 1e-20).collect();
    let small = seven.between(&ratio("0.5"), &ratio("1e8")).unwrap();
    for rows in [&odd[..], &close, &[], &[f64::NAN], &[2.5, 2.500_000_01, 2.499_999_99]] {
        check_windows(&seven, rows, seven.range());
        check_windows(&seven, rows, small);
        check_windows(&few(), rows, few().range());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn windows_of_any_rows(words in prop::collection::vec(any::<u64>(), 0..60), scale in 0u32..3) {
        let seven = Digits::new(7).unwrap();
        let rows: Vec<f64> = words.iter().map(|&word| match scale {
            0 => float_of(word, &seven),
            1 => 1.0 + (word % 9) as f64 * 1e-8,
            _ => (word % 7) as f64 / 10.0,
        }).collect();
        check_windows(&seven, &rows, seven.range());
        check_windows(&few(), &rows, few().range());
    }
}

#[test]
fn three_digits_without_wholes_are_a_million_values() {
    let three = Digits::without_wholes(3).unwrap();
    let rounded = |value: f64| three.float(three.place(value)).to_bits();
    for (value, near) in
        [(36_637.0, 36_600.0), (-0.012_345, -0.0123), (999.6, 1000.0), (7.0, 7.0), (0.0, 0.0)]
    {
        assert_eq!(rounded(value), f64::to_bits(near), "{value}");
    }
    assert!((1_000_000..1_200_000).contains(&three.range().width()), "{}", three.range().width());
    assert!(Digits::new(3).unwrap().range().width() > 10_000_000_000);
    assert!(Digits::without_wholes(0).is_err());
}
