//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod black_box;
pub mod bound_local_sensitivity;
pub mod exponential;
pub mod exponential_density;
pub mod far_end;
pub mod gate;
pub mod gaussian;
pub mod histogram_keys;
pub mod inverse_sensitivity;
pub mod l2;
pub mod laplace;
pub mod noisy_distance;
pub mod noisy_max;
mod outputs;
pub mod permute_and_flip;
pub mod propose_test_release;
pub mod quantile_interval;
pub mod quantiles;
pub mod released_scale;
pub mod sampled;
pub mod scale;
pub mod searched_bound;
pub mod selection;
#[cfg(test)]
mod selection_audit;
pub mod shifted_inverse;
pub mod smooth;
pub mod smooth_plan;
pub mod spread;
pub mod stable;
pub mod threshold;

/// What is known of values before noise is added on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// They are multiples of the grid, like counts on a grid of one.
    OnGrid,
    /// They may be anything, and are rounded to the grid first.
    Any,
}

/// Which numbers the noise is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Multiples of the grid, added to rounded values. Fast.
    Discrete,
    /// Real numbers, added to exact values and rounded with them. Better for several coordinates or a
    /// coarse grid.
    Real,
}
