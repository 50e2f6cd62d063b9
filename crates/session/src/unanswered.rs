//! Why there is no answer, by the thing that failed: the data, temporary files, the ledger.
//!
//! All of it happens after the charge, so nothing here may say what rows held. What the data's disk said is left out. Temporary files
//! hold rows, and how large they grow depends on them: that they failed is told, and where they lie, not how. What a ledger is given is
//! an answer that was paid for, so its error says what was wrong.

use crate::ledger::{Fault, LedgerError, path_shown};
use std::{env, fmt};

/// The rows could not be read to the end. It carries no detail on purpose: what the disk said may depend on rows.
/// [`Unanswered`] says what becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// There is no answer. `Display` is one line about what was charged; [`uncharged`](Self::uncharged) where nothing was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The data could not be read to the end, or something broke over it.
    Data,
    /// Rows that do not fit in memory could not wait in a temporary file.
    Temporary,
    /// What the caller computes failed, or gave something else than was stated. Which of the two, and why, is not told.
    Function,
    /// The operating system gave no random numbers.
    Coins,
    /// Something failed earlier, and nothing was answered since.
    Stopped,
    /// The ledger did not record the answer, so nobody sees it.
    Ledger(LedgerError),
}

impl Unanswered {
    /// What failed.
    pub fn what(&self) -> String {
        match self {
            Self::Data => "the data could not be read to the end".to_string(),
            Self::Temporary => format!(
                "temporary files in {} could not be written or read (give that folder more space, or name another in TMPDIR)",
                path_shown(&env::temp_dir())
            ),
            Self::Function => "the function failed, or gave something else than was stated".to_string(),
            Self::Coins => "the operating system gives no random numbers".to_string(),
            Self::Stopped => "an earlier failure stopped it".to_string(),
            Self::Ledger(error) => {
                format!("{} could not record the answer ({})", error.which(), error.fault.what())
            }
        }
    }

    /// The same line where nothing is paid for.
    pub fn uncharged(&self) -> String {
        format!("{}; nothing was charged", self.what())
    }

    /// Where the charge is. A ledger that was replaced is not the one that was charged.
    pub(crate) fn charge(&self) -> &'static str {
        match self {
            Self::Ledger(LedgerError { fault: Fault::Replaced, .. }) => {
                "the charge stands in the file that was there before"
            }
            _ => "the charge stands",
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} and the answer is lost", self.what(), self.charge())
    }
}

impl std::error::Error for Unanswered {}

impl From<Lost> for Unanswered {
    fn from(_: Lost) -> Self {
        Self::Data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_one_line_that_names_what_failed() {
        let ledger = |fault| Unanswered::Ledger(LedgerError { path: Some("a.ledger".into()), fault });
        let folder = env::temp_dir();
        for (failed, expected) in [
            (Unanswered::Data, "the data could not be read to the end; the charge stands and the answer is lost".into()),
            (
                Unanswered::Temporary,
                format!(
                    "temporary files in {} could not be written or read (give that folder more space, or name another in TMPDIR); \
                     the charge stands and the answer is lost",
                    folder.display()
                ),
            ),
            (
                ledger(Fault::Full),
                "the ledger a.ledger could not record the answer (no space left on its disk); the charge stands and the answer is lost"
                    .into(),
            ),
            (
                ledger(Fault::Replaced),
                "the ledger a.ledger could not record the answer (removed or replaced while it was open); the charge stands in the \
                 file that was there before and the answer is lost"
                    .into(),
            ),
        ] {
            assert_eq!(failed.to_string(), expected);
        }
        assert_eq!(
            Unanswered::Data.uncharged(),
            "the data could not be read to the end; nothing was charged"
        );
    }
}
