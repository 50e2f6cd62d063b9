//! The most frequent text of a column, exact, or a refusal where it leads by too little.
//!
//! # Guarantee
//!
//! That of the [`stable`] gate. Its slack asks that the lead moves by at most one where somebody comes or goes. So it does where a row does, and
//! where a person does who counts once for each value: every count moves by at most one, and all of them the same way, so that the
//! difference of two of them moves by at most one. Under replace such a person is one who goes and one who comes, at twice the steps.

use super::{Answering, Expected, quantiles, texts::Texts};
use crate::{
    answer::Answer,
    bar::{ErrorBar, GapUnit},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::Loss,
    mechanism::stable::{self, Stable},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{
        Answer as Found,
        mode::{Tally, Unseen},
    },
};
use serde_json::json;

/// A stable mode over every text there is.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    of: Texts,
    adjacency: Adjacency,
    stable: stable::Calibrated,
    /// A mode that leads by this many changed rows is released in 19 cases of 20.
    lead: Option<u64>,
    /// What is counted: rows, or people who have the value.
    counted: GapUnit,
}

impl Mode {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let of = Texts::plan(said)?;
        if said.delta().is_zero() {
            return Err(PlanError::about(
                Argument::Delta,
                "mode needs a delta above 0, because its values are not known beforehand",
            )
            .hint("give `delta=1e-6` or one over ten times the rows"));
        }
        let stable =
            Stable { eps: said.eps().clone(), delta: said.delta().clone(), adjacency: said.adjacency() };
        let stable = stable.calibrate()?;
        let slack = stable.slack_for(&Ratio::new(1, 20));
        let lead = slack.and_then(Slack::until_change);
        let counted = if said.counts_people() { GapUnit::People } else { GapUnit::Rows };
        Ok(Self { of, adjacency: said.adjacency(), stable, lead, counted })
    }

    pub fn need(&self) -> Need {
        self.of.need()
    }

    /// The sentence that plans and refusals share.
    fn released_from(&self) -> String {
        let Some(changes) = self.lead else {
            return "no value is released in 19 cases of 20 at this delta".to_string();
        };
        let more = match self.adjacency {
            Adjacency::AddRemove => changes,
            Adjacency::Replace => changes.saturating_mul(2),
        };
        format!(
            "a value is released in 19 cases of 20 when it has about {more} {} more than any other",
            self.counted.words()
        )
    }

    /// Of what it is the exact value, where that is not the most frequent one of the rows.
    fn exact(&self) -> ErrorBar {
        match self.counted {
            GapUnit::People => ErrorBar::exact().about("the value that the most people have".to_string()),
            GapUnit::Rows | GapUnit::Votes => ErrorBar::exact(),
        }
    }
}

impl Answering for Mode {
    fn cost(&self) -> Loss {
        self.stable.cost()
    }

    fn answer_type(&self) -> Option<String> {
        self.of.answer_type()
    }

    fn expected(&self) -> Expected {
        let words = format!("the exact value, or a refusal: {}", self.released_from());
        Expected { error: Some(self.exact()), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        // Empty fields are dropped under add/remove; under replace, where the number of rows is public, they
        // are a value of their own, written as the empty text, which no field is.
        let dropped = |text: &str| text.is_empty() && self.adjacency == Adjacency::AddRemove;
        let tally: Option<Tally<String>> = Tally::from_passes(|visit: &mut dyn FnMut(&str, u64)| {
            gathered.each_text(self.of.wanted(), &mut |text, count| {
                if !dropped(text) {
                    visit(text, count);
                }
            });
        });
        let unseen = Unseen { below: true, above: true };
        match self.stable.mode_of_counts(tally, unseen, coins) {
            Outcome::Value(Found::Value(text)) => {
                let value = if text.is_empty() { json!("") } else { self.of.value(&text) };
                Answer::released(value, self.exact())
            }
            Outcome::Value(Found::Empty) => Answer::released(json!(null), self.exact()),
            Outcome::Refused => Answer::refused(format!(
                "no value leads by enough: {}; raise epsilon or delta, or ask of a coarser column",
                self.released_from()
            )),
        }
    }

    fn mechanism(&self) -> &'static str {
        quantiles::STABLE
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }
}
