//! Report-noisy-max with the noise of the text's prose, which is half of what its algorithm draws.

use crate::{Audit, Kind, exact::half_noise};

pub(super) static AUDIT: Audit = Audit {
    name: "noisy-max-half-noise",
    about: "scores of any kind get noise of scale sensitivity/epsilon, and promise epsilon",
    source: "004_5f92a75732c1853f.txt, the prose after Algorithm 3",
    kind: Kind::Zoo { broken: half_noise },
};
