//! `Debug` for what holds private numbers: the type and its public fields, nothing else.
//!
//! A value that is printed by mistake, in a log line or in the message of a panic, then says nothing of the rows. A
//! derived `Debug` would print all of them.

/// `Debug` with these public fields only; `..` stands for the rest.
macro_rules! debug_only_public {
    ($name:ident { $($field:ident),* }) => {
        $crate::redact::debug_only_public!(impl[] $name[] { $($field),* });
    };
    (impl[$($parameters:tt)*] $name:ident[$($arguments:tt)*] { $($field:ident),* }) => {
        impl<$($parameters)*> ::std::fmt::Debug for $name<$($arguments)*> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug_only_public;

#[cfg(test)]
mod tests {
    use crate::{
        adjacency::Adjacency,
        coins::Uniform,
        mechanism::{
            noisy_max::{Noise, NoisyMax},
            permute_and_flip::PermuteAndFlip,
            selection::Candidates,
        },
        outcome::Slack,
        ratio::Ratio,
        sampler::{
            damped::Damping,
            laplace_real::RealLaplace,
            lazy::LazyReal,
            real::{EVERY_MULTIPLE, Placement, Rounded},
            weighted::{Power, Weight, Weighted},
        },
        stability::{
            Median, Profile, Range, Reach, Sorted,
            distinct::Multiplicities,
            labels::Labelled,
            mode::{self, Tally},
            smooth::Decay,
            sum,
            triangles::Graph,
        },
    };
    use std::fmt::Debug;

    /// No digit of the private numbers, all of which are made of fours and twos that nothing public has.
    fn says_nothing_private(shown: &impl Debug) {
        for text in [format!("{shown:?}"), format!("{shown:#?}")] {
            assert!(!text.contains("42"), "{text}");
            assert!(text.contains(".."), "{text}");
        }
    }

    #[test]
    fn windows_and_what_follows_from_them() {
        let (rows, range) = ([420, 421, 423, 4242], Range::new(0, 9000).unwrap());
        let window = Median.window(&rows, range, Reach::Ranks(3));
        says_nothing_private(&window);
        says_nothing_private(&Median.value_and_slack(&window, Adjacency::Replace));
        says_nothing_private(&Profile { at_distance: vec![42, 4242], beyond: 9000 });
        says_nothing_private(&Slack::rows_to_change(42, Adjacency::Replace));
        let sorted = Sorted::new(&rows, range);
        says_nothing_private(&sorted);
        says_nothing_private(&Labelled::new(&sorted, 4));
        says_nothing_private(&Tally::from_sorted(sorted.rows()));
        says_nothing_private(&mode::value_and_slack(&rows, range, Adjacency::AddRemove));
        says_nothing_private(&Multiplicities::new([42, 4242], true));
        says_nothing_private(&sum::removals(&[42, 4242], 1));
        says_nothing_private(&Graph::new(50, [(4, 2), (42, 24)]));
        let bound = Decay::for_range(&Ratio::new(1, 2), range).unwrap().median(&window, Adjacency::Replace);
        assert!(!format!("{bound:?}").contains("value"), "{bound:?}");
        assert_eq!(format!("{window:?}"), "Window { range: Range { lo: 0, hi: 9000 }, reach: Ranks(3), .. }");
    }

    #[test]
    fn laws_of_scores_and_centres() {
        let [private, other] = [Ratio::from(4242u64), Ratio::from(42u64)];
        let place = Placement {
            center: private.clone(),
            scale: other.clone(),
            grid: Ratio::one(),
            clamp: EVERY_MULTIPLE,
        };
        says_nothing_private(&place);
        says_nothing_private(&Rounded::new(RealLaplace, place));
        says_nothing_private(&LazyReal::new(RealLaplace, private.clone(), other.clone()));
        let weight = || Weight { multiplier: other.clone(), exponent: private.clone() };
        says_nothing_private(&weight());
        says_nothing_private(&Weighted::new([weight()]));
        says_nothing_private(&Power { multiplier: 42, steps: 42 });
        says_nothing_private(&Damping::new(&Ratio::one(), 1).law(vec![42, 4242]));
        let candidates = Candidates { count: 2, sensitivity: Ratio::one(), monotone: false };
        let scores = [private, other];
        let flips = PermuteAndFlip { eps: "1".parse().unwrap(), candidates: candidates.clone() };
        says_nothing_private(&flips.calibrate().unwrap().law(&scores));
        let noisy = NoisyMax { eps: "1".parse().unwrap(), noise: Noise::Gumbel, candidates };
        let law = noisy.calibrate().unwrap().law(&scores);
        assert_eq!(format!("{law:?}"), "NoisyScores { noise: Gumbel, .. }");
        let mut uniform = Uniform::unknown();
        uniform.append(7, 42);
        assert_eq!(format!("{uniform:?}"), "Uniform { known: 7, .. }");
    }
}
