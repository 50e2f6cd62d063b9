//! Draws on request: a line "law scale length calls" in, the CPU seconds of that many calls out.
//!
//! Through OpenDP's samplers themselves, which its measurements on vectors call for each element. One source
//! for two packages, because only the features of OpenDP differ.

use dashu::rational::RBig;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use std::{error::Error, hint::black_box, io};

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let line = line?;
        let [law, scale, length, calls] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err("expected: law scale length calls".into());
        };
        let sample = match law {
            "laplace" => sample_discrete_laplace,
            "gaussian" => sample_discrete_gaussian,
            _ => return Err(format!("no law '{law}'").into()),
        };
        let scale = RBig::from(scale.parse::<u64>()?);
        let draws = length.parse::<usize>()? * calls.parse::<usize>()?;
        let start = cpu_seconds();
        for _ in 0..draws {
            black_box(sample(scale.clone()).map_err(|error| format!("{error:?}"))?);
        }
        println!("{}", cpu_seconds() - start);
    }
    Ok(())
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
