//! The example file of the guide: people who do not exist, the same ones every time.

use std::fmt::Write as _;

const ROWS: u64 = 5_000;
const TOWNS: [(&str, u64); 6] = [
    ("Arden", 1_900),
    ("Bexley", 1_300),
    ("Corwen", 900),
    ("Dunmore", 600),
    ("Elsfield", 270),
    ("Farrow", 30),
];
const DEPARTMENTS: [&str; 5] = ["care", "office", "repair", "sales", "transport"];

/// Steele, Lea and Flood's mixer: enough for examples, never used for privacy.
struct Mixer(u64);

impl Mixer {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// About a normal variable: twelve uniform ones, less six.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

/// The whole file.
pub fn salaries() -> String {
    let mut mixer = Mixer(20_261_115);
    let mut text = String::from("person,town,department,salary,visits\n");
    for person in 1..=ROWS {
        let mut place = mixer.below(ROWS);
        let town = TOWNS.iter().find(|(_, share)| {
            let here = place < *share;
            place = place.saturating_sub(*share);
            here
        });
        let town = town.map_or("", |(name, _)| name);
        let department = DEPARTMENTS[usize::try_from(mixer.below(5)).expect("below five")];
        // Lognormal with median 45,000; rounded to tens, so that no platform's last digit shows.
        let salary = (45_000.0 * (0.6 * mixer.normal()).exp() / 10.0).round() * 10.0;
        let visits = (0..40).filter(|_| mixer.below(10) < 2).count();
        writeln!(text, "{person},{town},{department},{salary},{visits}").expect("a string takes all");
    }
    text
}
