//! Deals rows or people into blocks, and says how many blocks one of them can change.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1 and Algorithm 14; 001_3b43439ac39fb76e.txt, SA.
//!
//! # Guarantee
//!
//! Fix the coins. Between neighbouring data sets under the adjacency given, at most [`VotesPerUnit::per_unit`] of the
//! [`VotesPerUnit::votes`] blocks differ, for every data set and whatever the coins:
//!
//! | design | add/remove | replace |
//! |---|---|---|
//! | a fresh label for each row | 1 a round | 1 a round |
//! | a keyed hash of the person | 1 a round | 2 a round |
//! | equal blocks | refused | 1 a round |
//! | samples of rows, at most c each | c | c |
//! | samples of people, at most c each | c | 2c |
//! | samples with repetition, at most c each | refused | c |
//!
//! # Why
//!
//! 1. Row labels are independent and belong to the place of the row. Where a row comes or goes the labels of the
//!    others are coupled to stay, since all orders of independent labels are equally likely; a replaced row keeps
//!    its label. So one block of each round changes.
//! 2. The hash of a person depends on the key and the person alone. All their rows lie in one block of a round,
//!    whatever they contribute. A replaced person may get another hash: the old block changes, and the new one.
//! 3. Equal blocks cut a permutation of the places. One row more would move all others, so add/remove is
//!    refused; so are samples with repetition, whose law depends on the number of rows.
//! 4. The samples a row is in are drawn for this row alone. If there are more than the cap, a random choice of
//!    them stays: no event in which a row is in too many, and nothing for delta to pay.
//!
//! What if the hash is weak? The key is drawn before anything is seen of the data, and for *every* fixed map from
//! people to blocks the table above holds. So a weak hash costs balance, not privacy: someone who knows the key could
//! make up names that fill one block. SipHash with a fresh 128-bit key keeps them from it.
//!
//! # Differs
//!
//! The texts bound how often a row is drawn by a Chernoff bound and pay for it with delta, or halt. The cap of step
//! 4 does it for nothing.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, subsample::partition::{Design, Partition}};
//!
//! let people = Partition { design: Design::People { blocks: 2, rounds: 1 }, adjacency: Adjacency::AddRemove };
//! let partition = people.calibrate()?;
//! assert_eq!(partition.touch().per_unit(), 1);
//! # let mut coins = ScriptedWords::new(vec![1, 2]);
//! let blocks = partition.deal_people(&["ann", "bob", "ann"], &mut coins);
//! // Both rows of ann lie in the same block.
//! let of_ann = (0..2).find(|&block| blocks.block(block).contains(&0)).unwrap();
//! assert!(blocks.block(of_ann).contains(&2));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::VotesPerUnit;
use crate::{
    adjacency::Adjacency,
    chance::Odds,
    coins::Coins,
    loss::{ParameterError, Rate},
    ratio::Ratio,
    sampler::uniform::{Below, shuffle},
};
use dashu_int::IBig;
use siphasher::sip::SipHasher24;

/// How rows or people get into blocks; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Design {
    /// Each row draws a block of its own in every round.
    Rows {
        /// Blocks of a round.
        blocks: u32,
        /// How often all rows are dealt.
        rounds: u32,
    },
    /// A keyed hash of the person names the block, so that all their rows lie in one.
    People {
        /// Blocks of a round.
        blocks: u32,
        /// How often all people are dealt.
        rounds: u32,
    },
    /// Blocks whose numbers of rows differ by at most one. Under replace only.
    Equal {
        /// Blocks of a round.
        blocks: u32,
        /// How often all rows are dealt.
        rounds: u32,
    },
    /// Each row is in each sample with this probability, and in at most `cap` of them.
    SampledRows {
        /// How many samples.
        samples: u32,
        /// The share of the rows in a sample.
        rate: Rate,
        /// The most samples a row is in.
        cap: u32,
    },
    /// The same for people, by keyed hashes.
    SampledPeople {
        /// How many samples.
        samples: u32,
        /// The share of the people in a sample.
        rate: Rate,
        /// The most samples a person is in.
        cap: u32,
    },
    /// Each sample draws `size` of the rows with repetition; a row leaves the samples beyond its first `cap`. Under
    /// replace only.
    Repeated {
        /// How many samples.
        samples: u32,
        /// Rows of a sample.
        size: u32,
        /// The most samples a row is in.
        cap: u32,
    },
}

/// A design, and what a person may change; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// How blocks are made.
    pub design: Design,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A partition ready to deal.
#[derive(Clone, Debug)]
pub struct Calibrated {
    design: Design,
    touch: VotesPerUnit,
}

impl Design {
    /// How many blocks there are in all: one vote each.
    pub fn votes(&self) -> u64 {
        match *self {
            Self::Rows { blocks, rounds }
            | Self::People { blocks, rounds }
            | Self::Equal { blocks, rounds } => u64::from(blocks) * u64::from(rounds),
            Self::SampledRows { samples, .. }
            | Self::SampledPeople { samples, .. }
            | Self::Repeated { samples, .. } => samples.into(),
        }
    }

    /// The most blocks that one person is in.
    fn most_blocks(&self) -> u64 {
        match *self {
            Self::Rows { rounds, .. } | Self::People { rounds, .. } | Self::Equal { rounds, .. } => {
                rounds.into()
            }
            Self::SampledRows { cap, .. } | Self::SampledPeople { cap, .. } | Self::Repeated { cap, .. } => {
                cap.into()
            }
        }
    }

    fn is_hashed(&self) -> bool {
        matches!(self, Self::People { .. } | Self::SampledPeople { .. })
    }

    fn needs_rows(&self) -> bool {
        matches!(self, Self::Equal { .. } | Self::Repeated { .. })
    }
}

impl Partition {
    /// Count what one person can touch. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if self.adjacency == Adjacency::AddRemove && self.design.needs_rows() {
            let accepted = "this design depends on the number of rows, which add-remove keeps private: one row more \
                            would change every block; use fresh labels or hashed people, or replace adjacency";
            return Err(ParameterError::out_of_range("adjacency", self.adjacency, accepted));
        }
        let copies = if self.design.is_hashed() && self.adjacency == Adjacency::Replace { 2 } else { 1 };
        let touch =
            VotesPerUnit::new(self.design.votes(), copies * self.design.most_blocks(), self.adjacency)?;
        Ok(Calibrated { design: self.design.clone(), touch })
    }
}

impl Calibrated {
    /// How many blocks there are, and how many of them one person can change.
    pub fn touch(&self) -> VotesPerUnit {
        self.touch
    }

    /// Deal rows. Panics for a design of people.
    pub fn deal_rows<C: Coins>(&self, rows: usize, coins: &mut C) -> Blocks {
        match &self.design {
            Design::Rows { blocks, rounds } => {
                let law = Below((*blocks).into());
                let label = |_: usize, coins: &mut C| coins.sample(&law);
                Blocks::of_rounds(*blocks, *rounds, rows, label, coins)
            }
            Design::Equal { blocks, rounds } => {
                let mut all = Blocks::none();
                for _ in 0..*rounds {
                    let mut places: Vec<usize> = (0..rows).collect();
                    shuffle(&mut places, coins);
                    let labels: Vec<u64> =
                        places.iter().map(|&place| place as u64 % u64::from(*blocks)).collect();
                    all.append(*blocks, &labels);
                }
                all
            }
            Design::SampledRows { samples, rate, cap } => {
                let odds = Odds::new(rate.ratio());
                let members = (0..rows).map(|_| {
                    let taken = (0..*samples).filter(|_| coins.bernoulli(&odds)).collect();
                    capped(taken, *cap, coins)
                });
                Blocks::of_members(*samples, members.collect::<Vec<_>>())
            }
            Design::Repeated { samples, size, cap } => repeated(*samples, *size, *cap, rows, coins),
            Design::People { .. } | Design::SampledPeople { .. } => panic!("this design deals people"),
        }
    }

    /// Deal the rows of people, each named by any bytes. Panics for a design of rows.
    pub fn deal_people<C: Coins>(&self, people: &[impl AsRef<[u8]>], coins: &mut C) -> Blocks {
        let key = Key::fresh(coins);
        match &self.design {
            Design::People { blocks, rounds } => {
                let mut all = Blocks::none();
                for round in 0..*rounds {
                    let label = |person: &_| u64::from(key.block(AsRef::as_ref(person), round, *blocks));
                    all.append(*blocks, &people.iter().map(label).collect::<Vec<_>>());
                }
                all
            }
            Design::SampledPeople { samples, rate, cap } => {
                let members = people.iter().map(|person| key.samples(person.as_ref(), *samples, rate, *cap));
                Blocks::of_members(*samples, members.collect::<Vec<_>>())
            }
            _ => panic!("this design deals rows"),
        }
    }
}

/// Keep at most `cap` of these, each as likely as the others.
fn capped<C: Coins>(mut taken: Vec<u32>, cap: u32, coins: &mut C) -> Vec<u32> {
    let cap = cap as usize;
    if taken.len() > cap {
        shuffle(&mut taken, coins);
        taken.truncate(cap);
    }
    taken
}

fn repeated<C: Coins>(samples: u32, size: u32, cap: u32, rows: usize, coins: &mut C) -> Blocks {
    let mut blocks = Blocks::none();
    let mut times_in = vec![0u32; rows];
    for _ in 0..samples {
        let drawn: Vec<usize> = if rows == 0 {
            Vec::new()
        } else {
            let law = Below(rows as u64);
            (0..size).map(|_| usize::try_from(coins.sample(&law)).expect("a row in memory")).collect()
        };
        let mut distinct = drawn.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for &row in &distinct {
            times_in[row] += 1;
        }
        let block: Vec<usize> = drawn.into_iter().filter(|&row| times_in[row] <= cap).collect();
        blocks.push(&block);
    }
    blocks
}

/// A fresh secret that names the blocks of people: one for each release.
///
/// Whoever reads rows in another process or on another machine can be given the key and name the same blocks.
#[derive(Clone)]
pub struct Key([u64; 2]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl Key {
    /// A new secret.
    pub fn fresh<C: Coins>(coins: &mut C) -> Self {
        Self([coins.bits(64), coins.bits(64)])
    }

    fn hash(&self, person: &[u8], tag: [u32; 2]) -> u64 {
        let mut words = [0; 8];
        words[..4].copy_from_slice(&tag[0].to_le_bytes());
        words[4..].copy_from_slice(&tag[1].to_le_bytes());
        let mut text = words.to_vec();
        text.extend_from_slice(person);
        SipHasher24::new_with_keys(self.0[0], self.0[1]).hash(&text)
    }

    /// The block of a person in this round, of so many.
    pub fn block(&self, person: &[u8], round: u32, blocks: u32) -> u32 {
        let wide = u128::from(self.hash(person, [round, 0])) * u128::from(blocks);
        u32::try_from(wide >> 64).expect("below the number of blocks")
    }

    /// The samples of a person: each with about this probability, at most `cap` of them.
    pub fn samples(&self, person: &[u8], samples: u32, rate: &Rate, cap: u32) -> Vec<u32> {
        let whole = (rate.ratio() * &Ratio::whole(IBig::ONE << 64)).floor_big();
        let threshold = u128::try_from(whole).expect("a rate of at most one");
        let mut taken: Vec<(u64, u32)> = (0..samples)
            .map(|sample| (self.hash(person, [sample, 1]), sample))
            .filter(|(hash, _)| u128::from(*hash) < threshold)
            .collect();
        // The hashes of those taken are as good as a random order.
        taken.sort_unstable();
        let mut kept: Vec<u32> = taken.into_iter().take(cap as usize).map(|(_, sample)| sample).collect();
        kept.sort_unstable();
        kept
    }
}

/// Blocks of rows, each row by its place in the data. How many blocks there are is public, who is in them is not.
#[derive(Clone, PartialEq, Eq)]
pub struct Blocks {
    members: Vec<usize>,
    starts: Vec<usize>,
}

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("count", &self.count()).finish_non_exhaustive()
    }
}

impl Blocks {
    fn none() -> Self {
        Self { members: Vec::new(), starts: vec![0] }
    }

    /// Blocks by the label of each row: one round. Panics at a label that is not below `blocks`.
    pub fn from_labels(blocks: u32, labels: &[u64]) -> Self {
        let mut all = Self::none();
        all.append(blocks, labels);
        all
    }

    fn of_rounds<C: Coins>(
        blocks: u32,
        rounds: u32,
        rows: usize,
        label: impl Fn(usize, &mut C) -> u64,
        coins: &mut C,
    ) -> Self {
        let mut all = Self::none();
        for _ in 0..rounds {
            let labels: Vec<u64> = (0..rows).map(|row| label(row, coins)).collect();
            all.append(blocks, &labels);
        }
        all
    }

    /// From the samples that each row is in.
    fn of_members(samples: u32, rows: Vec<Vec<u32>>) -> Self {
        let mut blocks = vec![Vec::new(); samples as usize];
        for (row, samples) in rows.into_iter().enumerate() {
            for sample in samples {
                blocks[sample as usize].push(row);
            }
        }
        let mut all = Self::none();
        for block in &blocks {
            all.push(block);
        }
        all
    }

    fn push(&mut self, block: &[usize]) {
        self.members.extend_from_slice(block);
        self.starts.push(self.members.len());
    }

    /// Sort rows by their label, those of one label in the order of the data.
    fn append(&mut self, blocks: u32, labels: &[u64]) {
        let place = |label: u64| usize::try_from(label).expect("a label of a block");
        let mut ends = vec![0usize; blocks as usize];
        for &label in labels {
            ends[place(label)] += 1;
        }
        let offset = self.members.len();
        let mut next = Vec::with_capacity(ends.len());
        let mut total = offset;
        for size in ends {
            next.push(total);
            total += size;
            self.starts.push(total);
        }
        self.members.resize(total, 0);
        for (row, &label) in labels.iter().enumerate() {
            let slot = &mut next[place(label)];
            self.members[*slot] = row;
            *slot += 1;
        }
    }

    /// How many blocks there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a block.
    pub fn block(&self, index: usize) -> &[usize] {
        &self.members[self.starts[index]..self.starts[index + 1]]
    }

    /// All blocks in turn.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.count()).map(|index| self.block(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        tape::{Pmf, enumerate},
    };

    fn calibrated(design: Design, adjacency: Adjacency) -> Calibrated {
        Partition { design, adjacency }.calibrate().unwrap()
    }

    #[test]
    fn equal_blocks_have_every_row_once_in_every_round() {
        let partition = calibrated(Design::Equal { blocks: 3, rounds: 2 }, Adjacency::Replace);
        let words = (1..400u64).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let dealt = partition.deal_rows(10, &mut ScriptedWords::new(words));
        assert_eq!(dealt.count(), 6);
        for round in [0..3, 3..6] {
            let mut rows: Vec<usize> = round.flat_map(|block| dealt.block(block).to_vec()).collect();
            rows.sort_unstable();
            assert_eq!(rows, (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_table_of_touched_votes() {
        use Adjacency::{AddRemove, Replace};
        let rate: Rate = "0.1".parse().unwrap();
        for (design, votes, add_remove, replace) in [
            (Design::Rows { blocks: 10, rounds: 3 }, 30, Some(3), 3),
            (Design::People { blocks: 10, rounds: 3 }, 30, Some(3), 6),
            (Design::Equal { blocks: 10, rounds: 3 }, 30, None, 3),
            (Design::SampledRows { samples: 50, rate: rate.clone(), cap: 7 }, 50, Some(7), 7),
            (Design::SampledPeople { samples: 50, rate, cap: 7 }, 50, Some(7), 14),
            (Design::Repeated { samples: 50, size: 4, cap: 7 }, 50, None, 7),
        ] {
            let touched = |adjacency| {
                let touch = Partition { design: design.clone(), adjacency }.calibrate().ok()?.touch();
                assert_eq!((touch.votes(), touch.adjacency()), (votes, adjacency));
                Some(touch.per_unit())
            };
            assert_eq!((touched(AddRemove), touched(Replace)), (add_remove, Some(replace)), "{design:?}");
        }
    }

    #[test]
    fn a_design_that_needs_the_number_of_rows_says_why_it_is_refused() {
        let equal = Design::Equal { blocks: 10, rounds: 1 };
        let error = Partition { design: equal, adjacency: Adjacency::AddRemove }.calibrate().unwrap_err();
        assert!(
            error.to_string().starts_with("adjacency add-remove is not accepted: this design depends on")
        );
        assert!(!error.to_string().contains('\n'));
        let none = Partition { design: Design::Rows { blocks: 0, rounds: 1 }, adjacency: Adjacency::Replace };
        assert!(none.calibrate().unwrap_err().to_string().starts_with("blocks 0 is not accepted"));
    }

    /// The law of the blocks of these rows, shown by the values of the rows.
    fn law(partition: &Calibrated, rows: &[u8]) -> Pmf<Vec<Vec<u8>>> {
        enumerate(&"1e-12".parse().unwrap(), |tape| {
            let blocks = partition.deal_rows(rows.len(), tape);
            blocks.iter().map(|block| block.iter().map(|&row| rows[row]).collect()).collect()
        })
    }

    fn differ(a: &[Vec<u8>], b: &[Vec<u8>]) -> usize {
        a.iter().zip(b).filter(|(a, b)| a != b).count()
    }

    /// One more edge of a matching, along an alternating path.
    fn augment(
        from: usize,
        edges: &dyn Fn(usize, usize) -> bool,
        seen: &mut [bool],
        partner: &mut [usize],
    ) -> bool {
        for to in 0..partner.len() {
            if !seen[to] && edges(from, to) {
                seen[to] = true;
                if partner[to] == usize::MAX || augment(partner[to], edges, seen, partner) {
                    partner[to] = from;
                    return true;
                }
            }
        }
        false
    }

    /// Is there a coupling of the two laws under which at most `most` blocks differ? Both are uniform over paths of
    /// equal probability, so this is a matching: by Hall's theorem it is enough to look at a maximum matching.
    fn coupled(a: &Pmf<Vec<Vec<u8>>>, b: &Pmf<Vec<Vec<u8>>>, most: usize, copies: f64) -> bool {
        // Copies of each outcome in proportion to its mass.
        let spread = |pmf: &Pmf<Vec<Vec<u8>>>, copies: f64| -> Vec<Vec<Vec<u8>>> {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
            let count = |mass: f64| (mass * copies).round() as usize;
            pmf.iter().flat_map(|(blocks, mass)| vec![blocks.clone(); count(mass.to_f64())]).collect()
        };
        let (a, b) = (spread(a, copies), spread(b, copies));
        assert_eq!(a.len(), b.len());
        let mut partner = vec![usize::MAX; b.len()];
        let edges = |from: usize, to: usize| differ(&a[from], &b[to]) <= most;
        (0..a.len()).all(|from| augment(from, &edges, &mut vec![false; b.len()], &mut partner))
    }

    #[test]
    fn exact_audit_of_how_many_blocks_differ_between_neighbours() {
        let half: Rate = "1/2".parse().unwrap();
        let sampled = Design::SampledRows { samples: 2, rate: half, cap: 1 };
        for (design, copies) in [
            (Design::Rows { blocks: 2, rounds: 1 }, 8.0),
            (Design::Rows { blocks: 2, rounds: 2 }, 64.0),
            (sampled, 512.0),
        ] {
            let partition = calibrated(design.clone(), Adjacency::AddRemove);
            let most = usize::try_from(partition.touch().per_unit()).unwrap();
            let (here, more, other) =
                (law(&partition, &[1, 2]), law(&partition, &[1, 7, 2]), law(&partition, &[1, 9]));
            assert!(coupled(&here, &more, most, copies), "{design:?}");
            assert!(!coupled(&here, &more, most - 1, copies), "{design:?}");
            assert!(coupled(&here, &other, most, copies), "{design:?}");
        }
        for (design, rows) in [
            (Design::Equal { blocks: 2, rounds: 1 }, 4),
            (Design::Repeated { samples: 2, size: 2, cap: 1 }, 2),
        ] {
            let partition = calibrated(design.clone(), Adjacency::Replace);
            let data: Vec<u8> = (0..rows).collect();
            let changed: Vec<u8> = (0..rows).map(|row| if row == 1 { 9 } else { row }).collect();
            assert!(coupled(&law(&partition, &data), &law(&partition, &changed), 1, 48.0), "{design:?}");
        }
    }

    #[test]
    fn a_mutant_that_deals_equal_blocks_under_add_remove_touches_more() {
        let equal = calibrated(Design::Equal { blocks: 2, rounds: 1 }, Adjacency::Replace);
        assert!(!coupled(&law(&equal, &[1, 2, 3]), &law(&equal, &[1, 2]), 1, 12.0));
    }

    #[test]
    fn people_lie_in_one_block_for_every_key() {
        let names: Vec<String> = (0..50).map(|i| format!("person {i}")).collect();
        let deal = |adjacency, people: &[&str], word| {
            let partition = calibrated(Design::People { blocks: 7, rounds: 2 }, adjacency);
            partition.deal_people(people, &mut ScriptedWords::new(vec![word, !word]))
        };
        for word in 0..20u64 {
            let rows: Vec<&str> = (0..120).map(|row| names[row * row % 50].as_str()).collect();
            let without: Vec<usize> = (0..120).filter(|&row| rows[row] != "person 4").collect();
            let fewer: Vec<&str> = without.iter().map(|&row| rows[row]).collect();
            let swapped: Vec<&str> =
                rows.iter().map(|&name| if name == "person 4" { "somebody else" } else { name }).collect();
            let shown = |blocks: &Blocks, rows: &[&str]| -> Vec<Vec<String>> {
                blocks.iter().map(|block| block.iter().map(|&row| rows[row].to_string()).collect()).collect()
            };
            let all = shown(&deal(Adjacency::AddRemove, &rows, word), &rows);
            let less = shown(&deal(Adjacency::AddRemove, &fewer, word), &fewer);
            let other = shown(&deal(Adjacency::Replace, &swapped, word), &swapped);
            let differ =
                |a: &[Vec<String>], b: &[Vec<String>]| a.iter().zip(b).filter(|(a, b)| a != b).count();
            assert_eq!(differ(&all, &less), 2, "one block in each of two rounds");
            assert!(differ(&all, &other) <= 4);
        }
    }

    #[test]
    fn hashed_blocks_are_about_equally_full_and_differ_between_keys_and_rounds() {
        let people: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        let partition = calibrated(Design::People { blocks: 10, rounds: 2 }, Adjacency::AddRemove);
        let blocks = partition.deal_people(&people, &mut ScriptedWords::new(vec![3, 5]));
        // Six standard deviations of 42.4: a false alarm has probability below 1e-7.
        assert!(blocks.iter().all(|block| block.len().abs_diff(2000) < 255));
        let again = partition.deal_people(&people, &mut ScriptedWords::new(vec![3, 6]));
        assert!(blocks.block(0) != again.block(0) && blocks.block(0) != blocks.block(10));
    }

    #[test]
    fn sampled_people_keep_to_rate_and_cap() {
        let key = Key([7, 8]);
        let rate: Rate = "1/20".parse().unwrap();
        let sizes: Vec<usize> =
            (0..2000).map(|i: u32| key.samples(&i.to_le_bytes(), 100, &rate, 8).len()).collect();
        assert!(sizes.iter().all(|&size| size <= 8));
        // Each once and in order, like the samples themselves.
        let all = (0..2000).map(|i: u32| key.samples(&i.to_le_bytes(), 100, &rate, 8));
        assert!(all.into_iter().all(|taken| taken.is_sorted_by(|one, other| one < other)));
        let mean = sizes.iter().sum::<usize>() as f64 / 2000.0;
        assert!((mean - 4.9).abs() < 0.3, "{mean}");
        assert_eq!(format!("{key:?}"), "Key(secret)");
    }

    #[test]
    fn edges_and_a_scripted_deal() {
        let rows = calibrated(Design::Rows { blocks: 4, rounds: 1 }, Adjacency::AddRemove);
        assert_eq!(rows.deal_rows(0, &mut ScriptedWords::new(vec![])).count(), 4);
        let blocks = rows.deal_rows(3, &mut ScriptedWords::new(vec![1 << 62, 0, 1 << 62]));
        assert_eq!(
            blocks.iter().map(<[usize]>::to_vec).collect::<Vec<_>>(),
            [vec![1], vec![0, 2], vec![], vec![]]
        );
        let repeated = calibrated(Design::Repeated { samples: 2, size: 3, cap: 1 }, Adjacency::Replace);
        let blocks = repeated.deal_rows(2, &mut ScriptedWords::new(vec![0, 0, 0, 0, 1 << 63, 0]));
        // The first row was in the first sample already; twice within a sample is one vote.
        assert_eq!(blocks.iter().map(<[usize]>::to_vec).collect::<Vec<_>>(), [vec![0, 0, 0], vec![1]]);
        assert_eq!(repeated.deal_rows(0, &mut ScriptedWords::new(vec![])).count(), 2);
    }
}
