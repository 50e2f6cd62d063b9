//! The name of every mechanism, once: flags, `calibrate`, `audit`, releases and Python take theirs from this list, and
//! `tests/tidy.rs` holds them to it.

/// Every mechanism by its one name.
pub const NAMES: &[&str] = &[
    // Noise, and choices among candidates.
    "laplace",
    "gaussian",
    "exponential",
    "exponential-density",
    "permute-and-flip",
    "noisy-max",
    "far-end",
    // Gates and thresholds, which other mechanisms are made of.
    "gate",
    "threshold",
    "noisy-distance",
    "sampled",
    // Order statistics, and values that rows agree on.
    "inverse-sensitivity",
    "quantiles",
    "quantile-interval",
    "spread",
    "stable",
    "histogram-keys",
    // Noise that follows the data.
    "smooth",
    "released-scale",
    "propose-test-release",
    "searched-bound",
    "scale",
    "bounded-local-sensitivity",
    "shifted-inverse",
    "black-box",
    // Functions and programs on blocks, and what is made of their votes.
    "subsample",
    "bootstrap",
    "a-samp",
    "sa",
    "winsorized",
    "trimmed",
    "median",
    "ball",
    "bounded",
    "vectors",
    "majority",
    "arg-max",
    "popularity",
    "counts",
    "choice",
    "consensus",
    "grid",
    // One question after another.
    "above-threshold",
    "holdout",
    "generalization",
    "threshold-monitor",
];

/// What some of them were called before, and are called now.
pub(super) const FORMER: &[(&str, &str)] =
    &[("ptr", "propose-test-release"), ("location", "winsorized"), ("partition", "subsample")];
