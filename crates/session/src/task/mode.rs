//! The most frequent text of a column, exact, or a refusal where it leads by too little.

use super::{Answering, Expected, quantiles, texts::Texts};
use crate::{
    answer::Answer, bar::ErrorBar, error::PlanError, gather::ScanResult, need::Need,
    resolved::ResolvedRequest, statistic::Argument,
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
        Ok(Self { of, adjacency: said.adjacency(), stable, lead })
    }

    pub fn need(&self) -> Need {
        self.of.need()
    }

    /// The sentence that plans and refusals share.
    fn released_from(&self) -> String {
        match (self.lead, self.adjacency) {
            (Some(changes), Adjacency::AddRemove) => {
                format!(
                    "a value is released in 19 cases of 20 when it has about {changes} rows more than any other"
                )
            }
            (Some(changes), Adjacency::Replace) => format!(
                "a value is released in 19 cases of 20 when it has about {} rows more than any other",
                changes.saturating_mul(2)
            ),
            (None, _) => "no value is released in 19 cases of 20 at this delta".to_string(),
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
        Expected { error: Some(ErrorBar::exact()), words }
    }

    fn answer<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> Answer {
        // Empty fields are dropped under add/remove; under replace, where the number of rows is public, they
        // are a value of their own, written as the empty text, which no field is.
        let dropped = |text: &str| text.is_empty() && self.adjacency == Adjacency::AddRemove;
        let tally: Option<Tally<String>> = Tally::from_passes(|visit: &mut dyn FnMut(&str, u64)| {
            gathered.each_text(self.of.wanted(), |text, count| {
                if !dropped(text) {
                    visit(text, count);
                }
            });
        });
        let unseen = Unseen { below: true, above: true };
        match self.stable.mode_of_counts(tally, unseen, coins) {
            Outcome::Value(Found::Value(text)) => {
                let value = if text.is_empty() { json!("") } else { self.of.value(&text) };
                Answer::released(value, ErrorBar::exact())
            }
            Outcome::Value(Found::Empty) => Answer::released(json!(null), ErrorBar::exact()),
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
