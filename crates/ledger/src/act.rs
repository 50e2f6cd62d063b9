//! Who managed what: members, grants, sources and limits, each by whom, in the same chain as what was spent.
//!
//! The command line's steward is whoever may write the file; behind a server several people manage one ledger, and a reviewer
//! wants to know which of them did what.

use super::{
    Ledger, Stop,
    chain::{self, Link},
    entry::{self, kind},
    error::{DataSetError, RegisterError},
    registry::{self, ANALYST, check_name},
    store,
};

/// Something that somebody did who manages data or members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act<'a> {
    /// Who.
    pub by: &'a str,
    /// What, in a line.
    pub what: &'a str,
    /// To which data set, which is registered.
    pub data_set: Option<&'a str>,
    /// About whom.
    pub whom: Option<&'a str>,
}

impl Ledger {
    /// Write down who did what. The file is from here on for programs that know such entries.
    pub fn note_act(&mut self, act: &Act<'_>) -> Result<(), RegisterError> {
        for name in [Some(act.by), act.whom].into_iter().flatten() {
            check_name(ANALYST, name)?;
        }
        check_name("act", act.what)?;
        self.write(|entries, coins| {
            if let Some(name) = act.data_set
                && registry::find(entries, name)?.is_none()
            {
                let unknown = DataSetError::Unregistered { name: name.to_string() };
                return Err(Stop::Refused(unknown.into()));
            }
            entries.raise(store::WITH_ACTS)?;
            let link = Link {
                kind: kind::ACT,
                id: &store::fresh_id(coins),
                data_set: act.data_set.unwrap_or_default(),
                analyst: act.whom,
                request_id: None,
                body: entry::act_body(act.by, act.what),
            };
            chain::append(entries, link)?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataSet, Event};
    use equipoise_core::adjacency::{Adjacency, Unit};
    use std::ops::ControlFlow;

    #[test]
    fn acts_are_part_of_the_chain_and_of_no_sum() {
        let mut ledger = Ledger::in_memory().unwrap();
        let act = Act { by: "sam", what: "made a member: analyst", data_set: None, whom: Some("ana") };
        ledger.note_act(&act).unwrap();
        let granted = Act { what: "granted", data_set: Some("salaries"), ..act };
        assert!(ledger.note_act(&granted).is_err(), "nobody is let into what is not there");
        let data_set = DataSet { name: "salaries".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove };
        ledger.register(&data_set, None).unwrap();
        ledger.note_act(&granted).unwrap();
        for wrong in [Act { by: "", ..act }, Act { by: "s\u{200b}am", ..act }, Act { what: "", ..act }] {
            assert!(ledger.note_act(&wrong).is_err(), "{wrong:?}");
        }
        let mut acts = Vec::new();
        ledger
            .each_entry(None, &mut |entry| {
                if let Event::Acted { by, what } = &entry.event {
                    acts.push((by.clone(), what.clone(), entry.data_set.clone(), entry.analyst.clone()));
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        let text = |text: &str| Some(text.to_string());
        assert_eq!(
            acts,
            [
                ("sam".to_string(), "made a member: analyst".to_string(), None, text("ana")),
                ("sam".to_string(), "granted".to_string(), text("salaries"), text("ana")),
            ]
        );
        let verified = ledger.verify(None).unwrap();
        assert_eq!((verified.charges, verified.head.entries), (0, 4));
    }
}
