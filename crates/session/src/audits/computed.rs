//! Exact audits of whole questions about what is computed: columns, group keys and conditions that are expressions. The mutant is a column
//! that looks at the row before, as windows of other languages do: a row that comes or goes then changes the value of another.

use super::{
    Memory,
    people::{
        Data, RECORDS, Record, exact, filtered, hands, keeps, on_a_small_grid, plan, records, request, source,
    },
};
use crate::{
    gather::ScanResult,
    plan::Plan,
    request::Request,
    source::{ColumnRead, Lost, Source, Visitor},
    task::Answering,
};
use equipoise_audit::{Audit, Kind as AuditKind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static EXPRESSIONS: Audit = Audit {
    name: "expressions",
    about: "whole answers about computed columns, computed group keys and conditions that compute",
    source: "a value is a function of its own row",
    kind: AuditKind::Claim {
        shipped: expressions,
        change: "a computed column looks at the row before",
        mutant: || {
            let plan = plan(&filtered("abs(salary) > 1", request("count", "2", Adjacency::AddRemove)));
            let claim = Claim::promised(plan.cost(), Adjacency::AddRemove).at_resolution("1e-5");
            let pairs = records(3, Adjacency::AddRemove);
            vec![claim.over_inputs(RECORDS, pairs, |data: &Data| law(&plan, data)).case("steps between rows")]
        },
    },
};

fn law(plan: &Plan, data: &[Record]) -> Pmf<String> {
    let stepped = Stepped::new(data);
    let gathered = ScanResult::scan(&stepped, plan.rows(), &plan.needs(), &hands(1)).expect("memory");
    let floor: Ratio = "1e-12".parse().expect("a decimal");
    enumerate(&floor, |tape| format!("{:?}", plan.task().answer(&gathered, tape)))
}

/// Rows whose number is the step from the row before.
struct Stepped(Memory);

impl Stepped {
    fn new(data: &[Record]) -> Self {
        let mut before = None;
        let step = |&(id, value): &Record| {
            let step = value.unwrap_or(0) - before.unwrap_or(value.unwrap_or(0));
            before = Some(value.unwrap_or(0));
            (id, Some(step))
        };
        let steps: Data = data.iter().map(step).collect();
        Self(source(&steps))
    }
}

impl Source for Stepped {
    fn columns(&self) -> &[String] {
        self.0.columns()
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        self.0.scan(wanted, visitors)
    }
}

fn expressions() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let pairs = records(2, adjacency);
        let count = || request("count", "2", adjacency);
        let of = |column: &str, request: Request| Request { column: Some(column.into()), ..request };
        let by_key = Request {
            group_by: vec!["salary * 2 > 1".into()],
            keys: vec!["true".into(), "false".into()],
            ..request("count", "4", adjacency)
        };
        for request in [
            of("salary / salary", count()),
            of("abs(salary - 2)", exact(on_a_small_grid(request("median", "2", adjacency)))),
            of("if(town = 'ann', salary, 2 - salary)", on_a_small_grid(request("median", "16", adjacency))),
            by_key,
            filtered("salary / salary = 1 or upper(town) like 'A%'", count()),
            filtered("not (salary % 2 = 0 and town = 'ann')", of("coalesce(salary, 7)", count())),
        ] {
            let plan = plan(&request);
            found.push(keeps(&plan, plan.cost(), adjacency, &pairs, RECORDS));
        }
    }
    found
}
