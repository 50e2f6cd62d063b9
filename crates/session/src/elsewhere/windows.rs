//! Windows of ranks from counts: the first, the target's and the last row of each are found from their highest bits down, sixteen at a time, for all
//! groups together; then the rows between. The same steps as `equipoise_core::stability::streamed`, with counts that somebody else makes.

use super::{
    asked::{Buckets, GroupsElsewhere, Tied},
    pass::{Bracket, Counting, column_of},
};
use crate::{
    need::Need,
    row_facts::{Around, places::Places},
};
use equipoise_core::stability::{Range, Reach, Window, selection::WindowParts};
use std::collections::{BTreeMap, BTreeSet};

/// So many bits of places are found in a pass.
const STEP: u32 = 16;

/// All places, by their highest bits.
pub(super) fn whole(range: Range) -> Bracket {
    let bits = u64::BITS - range.width().leading_zeros();
    Bracket { group: None, low: range.lo(), high: range.hi(), shift: bits.saturating_sub(STEP) }
}

/// All rows below a place, all at it and all above it, where there can be such.
pub(super) fn around(places: &Places, place: i64, group: Option<usize>) -> [Option<Bracket>; 3] {
    let all = places.of_rows().range();
    let (first, last) = places.space.rows_at(place);
    // Where no row can be at the place, the last lies before the first.
    let bracket = |low, high| (low <= high).then_some(Bracket { group, low, high, shift: 63 });
    [
        first.checked_sub(1).and_then(|high| bracket(all.lo(), high)),
        bracket(first, last),
        last.checked_add(1).and_then(|low| bracket(low, all.hi())),
    ]
}

/// One window of one group, as far as it is known.
pub(super) struct WindowSearch {
    group: usize,
    around: Around,
    rows: u64,
    rank: u64,
    first: u64,
    last: u64,
    /// The first, the target's and the last row.
    found: [RankedRow; 3],
    between: BTreeMap<i64, u64>,
}

/// A row of a wanted rank.
#[derive(Clone, Copy)]
struct RankedRow {
    rank: u64,
    /// Where the places that it may lie at begin, and how many of their last bits are not known.
    low: i64,
    unknown: u32,
    /// How many rows lie below these places, and how many at them.
    less: u64,
    equal: u64,
}

impl RankedRow {
    /// Follow the counts of a bracket of these places.
    fn descend(&mut self, bracket: &Bracket, counts: impl Iterator<Item = (i64, u64)>) {
        for (bucket, count) in counts {
            if self.less + count >= self.rank {
                self.low = bracket.first_of(bucket);
                self.unknown = bracket.shift;
                self.equal = count;
                return;
            }
            self.less += count;
        }
        unreachable!("counts that add up hold the rank");
    }

    /// The places that are left, by their next bits.
    fn bracket(&self, group: usize, range: Range) -> Option<Bracket> {
        let last = self.low.checked_add_unsigned((1 << self.unknown) - 1).unwrap_or(i64::MAX);
        (self.unknown > 0).then(|| Bracket {
            group: Some(group),
            low: self.low,
            high: range.clamp(last),
            shift: self.unknown.saturating_sub(STEP),
        })
    }
}

impl WindowSearch {
    /// The windows of all groups, from how many of their rows have each of the highest bits of a place.
    pub fn all<'c>(
        groups: &GroupsElsewhere<'_>,
        keys: &[Vec<u8>],
        need: &Need,
        places: &Places,
        wanted: &[Around],
        counts: impl Fn(usize) -> &'c Buckets,
    ) -> Vec<Vec<Window>> {
        let of_rows = places.of_rows();
        let range = of_rows.range();
        let begin = |group: usize| {
            let counts = counts(group);
            wanted.iter().map(move |&around| Self::begin(group, around, range, counts))
        };
        let mut searches: Vec<Self> = (0..keys.len()).flat_map(begin).collect();
        let count = |brackets: Vec<Bracket>, check: &dyn Fn(&[Bracket], &[Buckets]) -> bool| {
            let counting = Counting::Places {
                column: column_of(need),
                places: of_rows.clone(),
                brackets: brackets.clone(),
            };
            let pass = groups.pass_of(keys, vec![counting]);
            groups.run(&pass, |found| {
                let mut found = groups.by_group(&pass, keys, found)?.counts;
                let found: Vec<Buckets> = found.iter_mut().map(|counts| counts.remove(0)).collect();
                check(&brackets, &found).then_some((brackets.clone(), found))
            })
        };
        loop {
            let mut open: BTreeMap<Bracket, u64> = BTreeMap::new();
            for search in &searches {
                let rows = search
                    .found
                    .iter()
                    .filter_map(|row| Some((row.bracket(search.group, range)?, row.equal)));
                open.extend(rows);
            }
            if open.is_empty() {
                break;
            }
            // Rows below a prefix are as many as had the prefix.
            let add_up = |brackets: &[Bracket], found: &[Buckets]| {
                brackets.iter().enumerate().all(|(at, bracket)| {
                    let group = bracket.group.expect("of one group");
                    in_bracket(&found[group], at).map(|(_, count)| count).sum::<u64>() == open[bracket]
                })
            };
            let (brackets, found) = count(open.keys().cloned().collect(), &add_up);
            for search in &mut searches {
                for row in &mut search.found {
                    let Some(bracket) = row.bracket(search.group, range) else { continue };
                    let at = brackets.binary_search(&bracket).expect("asked for");
                    row.descend(&bracket, in_bracket(&found[search.group], at));
                }
            }
        }
        let mut open: BTreeMap<Bracket, u64> = BTreeMap::new();
        open.extend(searches.iter().filter_map(Self::rest));
        if !open.is_empty() {
            let add_up = |brackets: &[Bracket], found: &[Buckets]| {
                brackets.iter().enumerate().all(|(at, bracket)| {
                    let group = bracket.group.expect("of one group");
                    in_bracket(&found[group], at).map(|(_, count)| count).sum::<u64>() == open[bracket]
                })
            };
            let (brackets, found) = count(open.keys().cloned().collect(), &add_up);
            for search in &mut searches {
                let Some((bracket, _)) = search.rest() else { continue };
                let at = brackets.binary_search(&bracket).expect("asked for");
                let rows = in_bracket(&found[search.group], at);
                search.between = rows.map(|(bucket, count)| (bracket.first_of(bucket), count)).collect();
            }
        }
        Self::rounded(groups, keys, need, places, searches.into_iter().map(|search| search.window(range)))
    }

    /// Windows of rows as windows of places: each row is taken to its place, which keeps their order. How many rows share the place of a target
    /// that reaches an end of its window is counted, for all of them together.
    fn rounded(
        groups: &GroupsElsewhere<'_>,
        keys: &[Vec<u8>],
        need: &Need,
        places: &Places,
        found: impl Iterator<Item = (usize, Window)>,
    ) -> Vec<Vec<Window>> {
        let found: Vec<(usize, Window)> = found.collect();
        let place = |row: i64| places.space.place_of_row(row);
        let mut unknown: BTreeSet<Tied> = BTreeSet::new();
        for (group, window) in &found {
            let _ = window.mapped(places.range(), place, |target| {
                unknown.insert(Tied { group: *group, place: target, rows: window.rows() });
                // Any numbers that can be true.
                (window.rank() - 1, 1)
            });
        }
        let wanted: Vec<Tied> = unknown.into_iter().collect();
        let ties = groups.ties(keys, need, places, &wanted);
        let tied = |group, place| ties[wanted.partition_point(|one| (one.group, one.place) < (group, place))];
        let mut windows: Vec<Vec<Window>> = vec![Vec::new(); keys.len()];
        for (group, window) in found {
            windows[group].push(window.mapped(places.range(), place, |target| tied(group, target)));
        }
        windows
    }

    fn begin(group: usize, around: Around, range: Range, counts: &Buckets) -> Self {
        let rows: u64 = counts.values().sum();
        let rank = around.target.nearest_rank(rows);
        let (first, last) = match around.reach {
            Reach::All => (1, rows),
            Reach::Ranks(ranks) => (rank.saturating_sub(ranks).max(1), rank.saturating_add(ranks).min(rows)),
        };
        let row = |rank| {
            let mut row = RankedRow { rank, low: range.lo(), unknown: 0, less: 0, equal: rows };
            if rows > 0 {
                row.descend(&whole(range), in_bracket(counts, 0));
            }
            row
        };
        let found = [first, rank, last].map(row);
        Self { group, around, rows, rank, first, last, found, between: BTreeMap::new() }
    }

    /// The places strictly between the first and the last row, and how many rows lie there.
    fn rest(&self) -> Option<(Bracket, u64)> {
        let [first, _, last] = self.found;
        let between = last.less.checked_sub(first.less + first.equal).filter(|&between| between > 0)?;
        let (low, high) = (first.low + 1, last.low - 1);
        Some((Bracket { group: Some(self.group), low, high, shift: 0 }, between))
    }

    /// The group, and the window of its rows.
    fn window(self, range: Range) -> (usize, Window) {
        let Around { reach, .. } = self.around;
        let Self { group, rows, rank, first, last, found: [low, middle, high], between, .. } = self;
        let mut parts =
            WindowParts { range, reach, rank, rows, below: first - 1, values: Vec::new(), less: 0, equal: 0 };
        if rows == 0 {
            return (group, Window::from_parts(parts));
        }
        (parts.less, parts.equal) = (middle.less, middle.equal);
        let many = |count: u64| usize::try_from(count).expect("a window in memory");
        // Ranks from one: those up to `less + equal` of an end are its ties.
        parts.values = vec![low.low; many((low.less + low.equal).min(last) + 1 - first)];
        for (place, count) in between {
            parts.values.resize(parts.values.len() + many(count), place);
        }
        parts.values.resize(many(last + 1 - first), high.low);
        (group, Window::from_parts(parts))
    }
}

/// The counts of one bracket, in order of their places.
fn in_bracket(counts: &Buckets, bracket: usize) -> impl Iterator<Item = (i64, u64)> {
    let mut found: Vec<(i64, u64)> = counts
        .iter()
        .filter(|((of, _), _)| *of == bracket)
        .map(|(&(_, bucket), &count)| (bucket, count))
        .collect();
    // A bucket of more than 63 bits is written as a negative number.
    found.sort_unstable_by_key(|(bucket, _)| bucket.cast_unsigned());
    found.into_iter()
}
