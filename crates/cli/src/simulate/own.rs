//! `equipoise simulate graph` and `simulate choose`: the same lines as for questions, of plans that are no batch.

use super::{CONFIDENCE, neighbour, print_document, public, told_apart};
use crate::{
    Exit,
    args::{Books, Reading, Showing, SimulateOptions},
    ask::{no_picture, open, unread, usage},
    compare, plot, progress, show, unplanned,
};
use equipoise_audit::sampled::Found;
use equipoise_session::{
    plan::{DataFacts, PlanError},
    simulate::{Series, Simulated, Simulation},
    source::Source,
};
use serde_json::json;
use std::path::Path;

/// What is asked, of which file, and how it is shown.
pub(super) struct Own<'a, P> {
    pub options: &'a SimulateOptions,
    pub file: &'a Path,
    pub books: &'a Books,
    pub showing: &'a Showing,
    pub reading: &'a Reading,
    pub plan: &'a dyn Fn(&DataFacts) -> Result<P, PlanError>,
}

impl<P: Simulated> Own<'_, P> {
    pub fn run(&self) -> Result<Exit, Exit> {
        let (plan, source) = self.planned(self.file, self.books.name.as_deref())?;
        let neighbour = neighbour(self.options)?.map(|file| self.planned(file, None)).transpose()?;
        let picture = self.options.plot.as_deref().or(self.showing.plot.as_deref());
        if let Some(path) = picture {
            let other = self.options.neighbour.as_deref();
            let kept: Vec<&Path> = other.into_iter().chain([self.file]).collect();
            plot::check(path, &kept).map_err(usage)?;
        }
        let simulation = self.simulated(&plan, &*source)?;
        let found = match &neighbour {
            Some((other, source)) => {
                let other = self.simulated(other, &**source)?;
                Some(told_apart(&plan.costs(), &simulation.trials, &other.trials))
            }
            None => None,
        };
        self.show(&plan, &simulation, found.as_ref());
        if let Some(path) = picture {
            plot::simulation(&show::own_title(&plan.summary()), &simulation, path)
                .map_err(|error| no_picture(path, &*error))?;
        }
        Ok(if found.is_some_and(|found| found.alarm) { Exit::Failed } else { Exit::Done })
    }

    fn simulated(&self, plan: &P, source: &dyn Source) -> Result<Simulation, Exit> {
        let trials = self.options.trials as usize;
        progress::spinning("simulating", || plan.simulate(source, trials)).map_err(unread)
    }

    /// Planned for a file that is public.
    fn planned(&self, file: &Path, name: Option<&str>) -> Result<(P, Box<dyn Source>), Exit> {
        let header = self.reading.no_header.then_some(false);
        let source = open(file, self.reading.delimiter.as_deref(), header)?;
        let facts = public(file, name, self.books.ledger.as_deref(), source.columns())?.typed_by(&*source);
        let plan = (self.plan)(&facts).map_err(|error| unplanned(&error))?;
        plan.is_readable_in(&*source).map_err(|error| unplanned(&error))?;
        Ok((plan, source))
    }

    fn show(&self, plan: &P, simulation: &Simulation, found: Option<&Found>) {
        let summary = plan.summary();
        if !self.options.json && !self.showing.json {
            show::simulation_of(&show::own_title(&summary), &[None], simulation);
            if let Some(found) = found {
                println!("  audit      {}", compare::words(found, CONFIDENCE));
            }
            return;
        }
        let document = json!({
            "statistic": summary.statistic,
            "column": summary.column,
            "group_by": summary.group_by,
            "type": summary.value_type,
            "mechanism": summary.mechanism,
            "epsilon": summary.guarantee.epsilon,
            "delta": summary.guarantee.delta,
            "refused": simulation.refused(0),
            "series": simulation.of(0).map(Series::summary).collect::<Vec<_>>(),
        });
        print_document(document, simulation, found);
    }
}
