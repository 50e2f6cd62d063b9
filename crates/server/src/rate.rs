//! How much one member may ask of the server: plans and questions a minute, each.

use crate::problem::Problem;
use axum::http::StatusCode;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Free plans.
    Plan,
    /// Charged questions.
    Question,
    /// Everything that changes something. Of sign-ins a member has only so many at once.
    Change,
}

/// So many in any minute for each member.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Plans.
    pub plans: u32,
    /// Questions.
    pub questions: u32,
    /// Changes.
    pub changes: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self { plans: 60, questions: 10, changes: 120 }
    }
}

/// Who did how much in this minute.
pub struct Limiter {
    rates: Rates,
    seen: Mutex<HashMap<(String, Counted), (Instant, u32)>>,
}

const MINUTE: Duration = Duration::from_mins(1);
/// So many members are remembered; beyond that those whose minute is over are forgotten.
const REMEMBERED: usize = 4096;

impl Limiter {
    /// A limiter with these rates.
    pub fn new(rates: Rates) -> Self {
        Self { rates, seen: Mutex::new(HashMap::new()) }
    }

    /// Count one more, or say when there is room again.
    pub fn count(&self, member: &str, counted: Counted) -> Result<(), Problem> {
        self.count_at(member, counted, Instant::now())
    }

    fn count_at(&self, member: &str, counted: Counted, now: Instant) -> Result<(), Problem> {
        let most = match counted {
            Counted::Plan => self.rates.plans,
            Counted::Question => self.rates.questions,
            Counted::Change => self.rates.changes,
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() > REMEMBERED {
            seen.retain(|_, (began, _)| now.duration_since(*began) < MINUTE);
        }
        let (began, count) = seen.entry((member.to_string(), counted)).or_insert((now, 0));
        if now.duration_since(*began) >= MINUTE {
            (*began, *count) = (now, 0);
        }
        if *count >= most {
            let left = MINUTE.saturating_sub(now.duration_since(*began)).as_secs() + 1;
            let line =
                format!("more than {most} of these a minute are not taken; try again in {left} seconds");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, line).after(left));
        }
        *count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_a_minute_for_each_member_and_kind() {
        let limiter = Limiter::new(Rates { plans: 2, questions: 1, changes: 1 });
        let start = Instant::now();
        let count = |member, counted, seconds| {
            limiter.count_at(member, counted, start + Duration::from_secs(seconds))
        };
        assert!(count("ana", Counted::Plan, 0).is_ok() && count("ana", Counted::Plan, 1).is_ok());
        let refused = count("ana", Counted::Plan, 59).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(2)));
        assert!(count("ana", Counted::Question, 59).is_ok() && count("bob", Counted::Plan, 59).is_ok());
        assert!(count("ana", Counted::Plan, 60).is_ok(), "a new minute");
    }
}
