//! Running audits on all cores, and what came out.

use crate::{Audit, Kind, Measured};
use equipoise_core::stop;
use std::{
    panic::{catch_unwind, resume_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

/// What came out of one audit.
pub struct Finding {
    /// Which audit.
    pub audit: &'static Audit,
    /// The measurements of the shipped code, or of the zoo entry.
    pub measured: Vec<Measured>,
    /// The measurements of the mutant, where there is one.
    pub mutant: Vec<Measured>,
    /// How long it took.
    pub seconds: f64,
}

/// One word for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds and its mutant was caught.
    Holds,
    /// The zoo entry was caught.
    Caught,
    /// The claim was refuted, or could not be confirmed.
    Refuted,
    /// A zoo entry or a mutant slipped through.
    Missed,
}

impl Verdict {
    /// Is this what should have come out?
    pub fn good(self) -> bool {
        matches!(self, Self::Holds | Self::Caught)
    }

    /// The word in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Caught => "caught",
            Self::Refuted => "REFUTED",
            Self::Missed => "MISSED",
        }
    }
}

impl Finding {
    /// What this finding comes to.
    pub fn verdict(&self) -> Verdict {
        let caught = |measured: &[Measured]| measured.iter().any(Measured::refuted);
        let holds = !self.measured.is_empty()
            && self.measured.iter().all(|measured| measured.pairs > 0 && measured.holds());
        match self.audit.kind {
            Kind::Zoo { .. } if caught(&self.measured) => Verdict::Caught,
            Kind::Claim { .. } if !holds => Verdict::Refuted,
            Kind::Claim { .. } if caught(&self.mutant) => Verdict::Holds,
            Kind::Zoo { .. } | Kind::Claim { .. } => Verdict::Missed,
        }
    }
}

/// Run these audits on all cores, and tell `done` after each. Where nobody waits any longer, those that are not done are missing.
pub fn run(audits: &[&'static Audit], done: impl Fn(&Finding) + Sync) -> Vec<Finding> {
    let next = AtomicUsize::new(0);
    let findings = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from).min(audits.len().max(1));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(stop::carried(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&audit) = audits.get(index) else { break };
                    let Some(finding) = whole(audit) else { break };
                    done(&finding);
                    findings.lock().expect("no worker panicked").push((index, finding));
                }
            }));
        }
    });
    let mut findings = findings.into_inner().expect("no worker panicked");
    findings.sort_by_key(|(index, _)| *index);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Nothing where it was broken off.
fn whole(audit: &'static Audit) -> Option<Finding> {
    match catch_unwind(|| run_one(audit)) {
        Ok(finding) => Some(finding),
        Err(_) if stop::asked() => None,
        Err(panic) => resume_unwind(panic),
    }
}

fn run_one(audit: &'static Audit) -> Finding {
    let start = Instant::now();
    let (measured, mutant) = match audit.kind {
        Kind::Claim { shipped, mutant, .. } => (shipped(), mutant()),
        Kind::Zoo { broken } => (broken(), Vec::new()),
    };
    Finding { audit, measured, mutant, seconds: start.elapsed().as_secs_f64() }
}
