//! A monitor in memory: the same questions without a state file, for data that only lives as long as its program.
//!
//! # Guarantee
//!
//! All answers together are (epsilon, delta)-DP for one unit under the plan's adjacency. The ledger is charged once, before
//! a row is read. The budgets of the units are in this value alone, which can be neither copied nor stored: who ends the
//! program ends the monitor, and another one is another charge.
//!
//! Whoever asks with rows of their own making ([`LiveMonitor::ask_rows`], [`LiveMonitor::ask_parts`]) vouches that
//! each row's part depends on that row and on earlier answers only.

use super::{
    Contributions, MonitorPlan, OpenError, Outcome, Query, QueryError, Running,
    query::{self, error},
    table::Parts,
};
use crate::{
    answer::Answer,
    ledger::{Charging, Ledger, Receipt},
    quiet::privately,
    release::Release,
    session::Priced,
    source::{ColumnRead, Source},
    unanswered::Unanswered,
};
use equipoise_entropy::OsCoins;
use equipoise_expression::Bitmap;

/// A monitor that has been paid for and lives in memory.
pub struct LiveMonitor {
    running: Running,
    coins: OsCoins,
    /// Something broke after coins were drawn; nothing more is answered.
    stopped: bool,
}

impl LiveMonitor {
    /// Pay for all answers, durably; then read whom the rows belong to.
    pub fn start(
        plan: &MonitorPlan,
        source: &dyn Source,
        ledger: &mut Ledger,
    ) -> Result<(Self, Receipt), OpenError> {
        let coins = OsCoins::new()?;
        let Charging::Granted(charge) = ledger.charge(&plan.charge_request(plan.analyst(), None))? else {
            unreachable!("without a request id every request is new")
        };
        let release = Release::of(&plan.summary(), Answer::given_elsewhere(), &charge);
        let receipt = ledger
            .record(&charge, &release.to_text())
            .map_err(|error| OpenError::Lost(Unanswered::Ledger(error)))?;
        let running = privately(|| Ok(Running::start(plan.calibrated(), plan.unit_column(), source, &[])?))
            .map_err(OpenError::Lost)?;
        Ok((Self { running, coins, stopped: false }, receipt))
    }

    /// The columns that a question needs and that were not read for an earlier one. Of the source only its names are looked at.
    pub fn missing(&self, query: &Query, source: &dyn Source) -> Result<Vec<ColumnRead>, QueryError> {
        let bound = query.bind(source, self.running.sums())?;
        Ok(self.running.table.missing(&bound.wanted))
    }

    /// Answer a question; what is missing is read from the source. A question that cannot be asked spends nothing.
    pub fn ask(
        &mut self,
        query: &Query,
        source: &dyn Source,
    ) -> Result<Result<Outcome, QueryError>, Unanswered> {
        let bound = match query.bind(source, self.running.sums()) {
            Ok(bound) => bound,
            Err(error) => return Ok(Err(error)),
        };
        if self.stopped {
            return Err(Unanswered::Stopped);
        }
        let (running, coins) = (&mut self.running, &mut self.coins);
        privately(|| Ok(running.table.load(source, &bound.wanted)?))?;
        self.stopped = true;
        let outcome = privately(|| Ok(running.ask(&bound, coins)))?;
        self.stopped = false;
        Ok(Ok(outcome))
    }

    /// Do at least about so many say yes? One bit for each row.
    pub fn ask_rows(&mut self, yes: &Bitmap, threshold: &str) -> Result<Outcome, QueryError> {
        self.same_length(yes.len())?;
        let threshold = query::threshold(threshold)?;
        let parts = Parts::YesOrNo(self.running.table.yes(yes));
        Ok(self.running.draw(&parts, &threshold, &mut self.coins))
    }

    /// Is a sum at least about so much? One number for each row, cut to 0 to 1. Needs a monitor that was begun for sums.
    pub fn ask_parts(&mut self, parts: &[f64], threshold: &str) -> Result<Outcome, QueryError> {
        if self.running.contributions == Contributions::Binary {
            return Err(error("sums need a monitor that was begun for sums; this one counts"));
        }
        self.same_length(parts.len())?;
        let threshold = query::threshold(threshold)?;
        let contributions = self.running.contributions;
        let units = self.running.table.sums(parts.iter().map(|&part| contributions.units(part)));
        Ok(self.running.draw(&Parts::Units(units), &threshold, &mut self.coins))
    }

    fn same_length(&self, rows: usize) -> Result<(), QueryError> {
        if rows == self.running.table.rows() {
            Ok(())
        } else {
            Err(error("the question does not give one value for each row"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::Memory, monitor::MonitorRequest, session};

    fn memory() -> Memory {
        let towns: Vec<String> = (0..1000).map(|row| format!(" p{} ", row % 500)).collect();
        let towns: Vec<&str> = towns.iter().map(String::as_str).collect();
        Memory::new((0..1000).map(f64::from).collect(), &towns)
    }

    fn request() -> MonitorRequest {
        let word = |text: &str| Some(text.to_string());
        MonitorRequest {
            epsilon: word("20"),
            delta: word("1e-6"),
            budget_per_unit: word("2"),
            ..MonitorRequest::default()
        }
    }

    fn start(
        request: &MonitorRequest,
        ledger: &mut Ledger,
        memory: &Memory,
    ) -> Result<LiveMonitor, OpenError> {
        let facts = session::facts(Some(ledger), "people", memory.columns()).unwrap();
        let plan = MonitorPlan::new(request, &facts).unwrap();
        LiveMonitor::start(&plan, memory, ledger).map(|(monitor, _)| monitor)
    }

    fn spent(ledger: &Ledger) -> String {
        ledger.balance("people", None).unwrap().spent().eps.to_string()
    }

    /// At a scale of two, all values are more than a hundred scales from their thresholds: wrong with less than e^-90.
    #[test]
    fn questions_rows_and_people_spend_the_same_budgets() {
        let (memory, mut ledger) = (memory(), Ledger::in_memory().unwrap());
        let mut monitor = start(&request(), &mut ledger, &memory).unwrap();
        let query = Query::parse(r#"{"where": "salary >= 0", "threshold": 500}"#).unwrap();
        assert_eq!(monitor.missing(&query, &memory).unwrap().len(), 1);
        assert_eq!(monitor.ask(&query, &memory).unwrap().unwrap(), Outcome::Above);
        assert_eq!(monitor.missing(&query, &memory).unwrap(), []);
        let all = Bitmap::filled(1000, true);
        assert_eq!(monitor.ask_rows(&all, "500").unwrap(), Outcome::Above);
        // Everybody has helped twice.
        assert_eq!(monitor.ask_rows(&all, "500").unwrap(), Outcome::Below);
        assert_eq!(monitor.ask(&query, &memory).unwrap().unwrap(), Outcome::Below);
        assert_eq!(spent(&ledger), "20");
        // People: five hundred of them, and the ledger counts by rows.
        let by_person = MonitorRequest { unit: Some("town".into()), sums: true, ..request() };
        let mut monitor = start(&by_person, &mut ledger, &memory).unwrap();
        assert_eq!(monitor.ask_rows(&all, "700").unwrap(), Outcome::Below);
        assert_eq!(monitor.ask_rows(&all, "300").unwrap(), Outcome::Above);
        assert_eq!(monitor.ask_parts(&vec![0.4; 1000], "250").unwrap(), Outcome::Above);
        assert_eq!(spent(&ledger), "60");
    }

    #[test]
    fn what_cannot_be_asked_spends_nothing_and_what_cannot_be_paid_is_not_begun() {
        let (mut memory, mut ledger) = (memory(), Ledger::in_memory().unwrap());
        let mut monitor = start(&request(), &mut ledger, &memory).unwrap();
        let said = |outcome: Result<Outcome, QueryError>| outcome.unwrap_err().to_string();
        assert!(said(monitor.ask_rows(&Bitmap::filled(999, true), "5")).contains("one value for each row"));
        assert!(said(monitor.ask_parts(&[0.5; 1000], "5")).starts_with("sums need a monitor"));
        for threshold in ["NaN", "inf", "", "1e400"] {
            assert!(said(monitor.ask_rows(&Bitmap::filled(1000, true), threshold)).starts_with("threshold"));
        }
        let unknown = Query::parse(r#"{"where": "wage > 1", "threshold": 10}"#).unwrap();
        assert!(said(monitor.ask(&unknown, &memory).unwrap()).starts_with("no column is called 'wage'"));
        memory.readable = false;
        let query = Query::parse(r#"{"where": "salary >= 0", "threshold": 500}"#).unwrap();
        assert_eq!(monitor.ask(&query, &memory).unwrap_err(), Unanswered::Data);
        memory.readable = true;
        assert_eq!(monitor.ask(&query, &memory).unwrap().unwrap(), Outcome::Above);
        let limit = equipoise_core::loss::Approx::new(&"30".parse().unwrap(), &"1e-5".parse().unwrap());
        ledger.set_limit("people", None, Some(&limit.into())).unwrap();
        assert!(matches!(start(&request(), &mut ledger, &memory), Err(OpenError::Charge(_))));
        assert_eq!(spent(&ledger), "20");
    }
}
