//! How much one member may ask of the server: plans and questions a minute, each, and how much long work at once.

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

/// Work that takes long and is free: so much of it at once for each member and for all together, so that nobody fills the threads that
/// everybody's requests run on.
pub struct Gate {
    most_of_one: usize,
    most: usize,
    inside: Mutex<HashMap<String, usize>>,
}

/// One piece of such work, until it is dropped.
pub struct Pass<'a> {
    gate: &'a Gate,
    member: String,
}

impl Gate {
    /// A gate for so many.
    pub fn new(most_of_one: usize, most: usize) -> Self {
        Self { most_of_one, most, inside: Mutex::default() }
    }

    /// Go in, or be told to come back.
    pub fn enter(&self, member: &str) -> Result<Pass<'_>, Problem> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let own = inside.get(member).copied().unwrap_or_default();
        let line = if own >= self.most_of_one {
            "what you asked for before is still being worked on; nothing was charged, try again when it is done"
        } else if inside.values().sum::<usize>() >= self.most {
            "too many work here at once; nothing was charged, try again soon"
        } else {
            inside.insert(member.to_string(), own + 1);
            return Ok(Pass { gate: self, member: member.to_string() });
        };
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, line).after(1))
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut inside = self.gate.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = inside.get_mut(&self.member) {
            *own -= 1;
            if *own == 0 {
                inside.remove(&self.member);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_long_work_at_once_for_each_member_and_for_all() {
        let gate = Gate::new(2, 3);
        let status = |member: &str| gate.enter(member).map(drop).map_err(|problem| problem.status.as_u16());
        let first = gate.enter("ana").unwrap();
        let second = gate.enter("ana").unwrap();
        assert_eq!((status("ana"), status("bob")), (Err(503), Ok(())));
        let third = gate.enter("bob").unwrap();
        assert_eq!((status("bob"), status("eve")), (Err(503), Err(503)));
        drop(first);
        assert_eq!((status("ana"), status("eve")), (Ok(()), Ok(())));
        drop((second, third));
        assert!(gate.inside.lock().unwrap().is_empty());
    }

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
