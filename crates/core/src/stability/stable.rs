//! Is a function k-stable on a data set: does no set of k changes move its value?
//!
//! Source: 000_4d769f04a6a550e8.txt, Definitions 7.2 and 7.3, read as "from x".
//!
//! # Claim
//!
//! k-stable means that the distance to an unstable data set is at least k, which is the same as a slack
//! of more than k rows to change. Checked by search for any function over a small universe.

use super::brute_force::slack_by_search;
use crate::adjacency::Adjacency;

/// Does the function keep its value under every choice of at most `k` changes?
pub fn is_k_stable<Y: PartialEq>(
    function: impl Fn(&[i64]) -> Y,
    data: &[i64],
    values: &[i64],
    k: u64,
    adjacency: Adjacency,
) -> bool {
    slack_by_search(function, data, values, adjacency, k).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        stability::{Range, Reach, brute_force::Neighbourhoods, median::Median},
        universe,
    };

    fn median(data: &[i64]) -> Option<i64> {
        data.get(data.len().saturating_sub(1) / 2).copied()
    }

    #[test]
    fn k_stable_means_far_from_an_unstable_data_set() {
        let values = [0, 1, 2];
        let range = Range::new(0, 2).unwrap();
        for adjacency in Adjacency::ALL {
            // "Unstable" taken from its definition: some neighbour has another value.
            let all = Neighbourhoods::new(&values, 8, adjacency);
            let unstable = |data: &[i64]| {
                let others = universe::neighbours(data, &values, adjacency);
                others.iter().any(|other| median(other) != median(data))
            };
            let distances = all.distances_to(unstable);
            for (data, distance) in all.datasets().iter().zip(distances) {
                if data.len() > 4 && adjacency == Adjacency::AddRemove {
                    continue;
                }
                let slack = Median.value_and_slack(&Median.window(data, range, Reach::All), adjacency).slack;
                assert_eq!(slack.until_unstable(), distance, "{data:?} {adjacency}");
                for k in 0..4 {
                    let stable = is_k_stable(median, data, &values, k, adjacency);
                    assert_eq!(stable, distance.is_none_or(|distance| distance >= k), "{data:?} {k}");
                }
            }
        }
    }
}
