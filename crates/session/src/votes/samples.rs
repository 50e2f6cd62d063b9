//! Samples that share rows, in place of blocks that do not: the elections of the texts by name, with their evaluations counted
//! beforehand.
//!
//! | name | samples | election | what it needs |
//! |---|---|---|---|
//! | `bootstrap` | each row with a probability, at most so often; or so many rows with repetition | the majority | `rate`, or `size` under replace |
//! | `a-samp` | as printed: `epsilon/(64 ln(1/delta))` of the rows, a number that follows from them | as printed | `rows` |
//! | `sa` | as printed: `epsilon (n/m)^3` of m rows with repetition | as printed | `rows` and `size`, under replace |
//!
//! # Guarantee
//!
//! That of [`bootstrap`](equipoise_core::subsample::bootstrap): what the printed forms really keep is charged, which for SA is a delta
//! that nobody chose. A sample without an answer is one more vote, which is never released.

use super::{
    MOST_BLOCKS, VoteRequest,
    choose::{Details, Kind},
    whole,
};
use crate::{error::PlanError, resolved::ResolvedRequest, statistic::Argument};
use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    coins::Coins,
    loss::{Delta, Loss, ParameterError, Rate},
    subsample::{
        VotesPerUnit,
        bootstrap::{Bootstrap, CalibratedPrinted, Printed, SampleAndAggregate},
        partition::{self, Blocks, Design, Partition},
    },
};

/// How rows or people get into blocks or samples.
#[derive(Clone, Debug)]
pub(super) enum Deal {
    /// As a partition says.
    Partition(partition::Calibrated),
    /// The same, from so many rows on: with fewer, each would be in more samples than was counted.
    AtLeast(partition::Calibrated, u64),
    /// As A_samp says, which halts where a row is in too many.
    Printed(Box<CalibratedPrinted>),
}

impl Deal {
    /// The rows of each block; no blocks where dealing halts.
    pub fn rows<C: Coins>(&self, rows: usize, coins: &mut C) -> Option<Blocks> {
        match self {
            Self::Partition(partition) => Some(partition.deal_rows(rows, coins)),
            Self::AtLeast(partition, least) => {
                (rows as u64 >= *least).then(|| partition.deal_rows(rows, coins))
            }
            Self::Printed(form) => form.deal(rows, coins),
        }
    }

    /// The same for the rows of people.
    pub fn people<C: Coins>(&self, people: &[impl AsRef<[u8]>], coins: &mut C) -> Option<Blocks> {
        match self {
            Self::Partition(partition) => Some(partition.deal_people(people, coins)),
            Self::AtLeast(..) | Self::Printed(_) => None,
        }
    }
}

/// Samples, planned.
pub(super) struct Samples {
    pub deal: Deal,
    pub touch: VotesPerUnit,
    pub kind: Kind,
    /// The share of the rows in a sample, for words.
    pub share: f64,
}

/// Samples, where these are what was asked for.
pub(super) fn plan(
    request: &VoteRequest,
    said: &ResolvedRequest,
    mechanism: Option<&str>,
    details: Details<'_>,
    people: bool,
) -> Result<Option<Samples>, PlanError> {
    let by_details = mechanism.is_none() && (details.rate.is_some() || details.size.is_some());
    let name = match mechanism {
        Some(name @ ("bootstrap" | "a-samp" | "sa")) => name,
        None if by_details => "bootstrap",
        _ => return Ok(None),
    };
    if said.delta().is_zero() && name != "sa" {
        return Err(PlanError::about(Argument::Delta, format!("{name} needs a delta above 0"))
            .hint("give `delta=1e-6`"));
    }
    let asked = Asked { request, said, details, people };
    Ok(Some(match name {
        "bootstrap" => asked.bootstrap()?,
        "a-samp" => asked.printed()?,
        _ => asked.sa()?,
    }))
}

struct Asked<'a> {
    request: &'a VoteRequest,
    said: &'a ResolvedRequest<'a>,
    details: Details<'a>,
    people: bool,
}

impl Asked<'_> {
    fn rows(&self, why: &str) -> Result<u64, PlanError> {
        let text = self.request.rows.as_deref().ok_or_else(|| {
            PlanError::about(Argument::Rows, why).hint("give `rows`, the number of rows, as public")
        })?;
        whole("rows", text)
    }

    fn size(&self) -> Result<Option<u64>, PlanError> {
        self.details.size.map(|text| whole("size", text)).transpose()
    }

    fn by_rows_alone(&self, name: &str) -> Result<(), PlanError> {
        if self.people {
            return Err(PlanError::about(
                Argument::Unit,
                format!("{name} samples rows, and people have several"),
            )
            .hint("give `mechanism=bootstrap` with `rate`, which samples people"));
        }
        Ok(())
    }

    /// The majority of as many samples as was said.
    fn bootstrap(&self) -> Result<Samples, PlanError> {
        let samples = match self.request.blocks.as_deref() {
            Some(text) => checked("bootstrap", whole("blocks", text)?)?,
            None => {
                return Err(PlanError::about_option("blocks", "bootstrap needs a number of samples")
                    .hint("give `blocks=500`"));
            }
        };
        let (eps, delta, adjacency) =
            (self.said.eps().clone(), self.said.delta().clone(), self.said.adjacency());
        let (design, election, share) = match (self.details.rate, self.size()?) {
            (Some(text), None) => {
                let accepted = "give the share of the rows in a sample, above 0 and at most 1, such as 0.01";
                let wrong = |_| ParameterError::out_of_range("rate", text, accepted);
                let rate: Rate = text.parse().map_err(wrong)?;
                let share = rate.ratio().to_f64();
                let form = Bootstrap { eps, delta, samples, rate, adjacency, people: self.people };
                let (design, election) = form.calibrate()?;
                (design, election, share)
            }
            (None, Some(size)) => {
                self.by_rows_alone("bootstrap with a size")?;
                needs_replace("bootstrap with a `size`", adjacency)?;
                let rows =
                    self.rows("the cap on how often a row is sampled follows from the number of rows")?;
                let form = SampleAndAggregate { eps, rows, size };
                let (design, election) = form.calibrate(samples, &delta)?;
                (design, election, size as f64 / rows as f64)
            }
            _ => {
                return Err(PlanError::about_option(
                    "rate",
                    "bootstrap needs the share of the rows in a sample",
                )
                .hint("give `rate=0.01`, or `size`, a number of rows"));
            }
        };
        let touch = election.touch();
        let deal = Deal::Partition(design.calibrate()?);
        Ok(Samples { deal, touch, kind: Kind::Bootstrap { election: Box::new(election) }, share })
    }

    /// A_samp as printed.
    fn printed(&self) -> Result<Samples, PlanError> {
        self.by_rows_alone("a-samp")?;
        self.no_blocks("a-samp")?;
        let rows =
            RowCount::Declared(self.rows("a-samp computes its number of samples from the number of rows")?);
        let (eps, delta, adjacency) =
            (self.said.eps().clone(), self.said.delta().clone(), self.said.adjacency());
        let form = Printed { eps, delta, rows, adjacency }.calibrate()?;
        checked("a-samp", form.samples())?;
        let (touch, share) = (form.touch()?, form.rate().to_f64());
        let deal = Deal::Printed(Box::new(form.clone()));
        Ok(Samples { deal, touch, kind: Kind::Printed { form: Box::new(form) }, share })
    }

    /// SA as printed, for the delta that it has.
    fn sa(&self) -> Result<Samples, PlanError> {
        self.by_rows_alone("sa")?;
        self.no_blocks("sa")?;
        needs_replace("sa", self.said.adjacency())?;
        let rows = self.rows("sa computes its number of samples from the number of rows")?;
        let size = self.size()?.ok_or_else(|| {
            PlanError::about_option("size", "sa takes samples of so many rows").hint("give `size=100`")
        })?;
        let form = SampleAndAggregate { eps: self.said.eps().clone(), rows, size };
        let samples = form.printed_samples()?;
        let wanted = checked("sa", samples)?;
        let Loss::Approx(cost) = form.cost(samples) else { unreachable!("an epsilon and a delta") };
        let allowed: &Delta = self.said.delta();
        if cost.delta.ratio() > allowed.ratio() {
            let keeps = cost.delta.ratio().to_f64();
            return Err(PlanError::about(
                Argument::Delta,
                format!("sa as printed keeps a delta of {keeps:.3e} with {rows} rows in samples of {size}"),
            )
            .hint(format!("give a `delta` above that, a smaller `size`, or `mechanism=bootstrap` with `blocks` and `size={size}`")));
        }
        let small = u32::try_from(size)
            .map_err(|_| ParameterError::out_of_range("size", size, "give a size below 2^32"))?;
        let design = Design::Repeated { samples: wanted, size: small, cap: wanted };
        let partition = Partition { design, adjacency: Adjacency::Replace }.calibrate()?;
        let (touch, share) = (partition.touch(), size as f64 / rows as f64);
        Ok(Samples { deal: Deal::AtLeast(partition, rows), touch, kind: Kind::Sa { form, samples }, share })
    }

    fn no_blocks(&self, name: &str) -> Result<(), PlanError> {
        if self.request.blocks.is_none() {
            return Ok(());
        }
        Err(PlanError::about_option("blocks", format!("{name} computes its own number of samples"))
            .hint("leave `blocks` out, or give `mechanism=bootstrap`"))
    }
}

fn needs_replace(name: &str, adjacency: Adjacency) -> Result<(), PlanError> {
    if adjacency == Adjacency::Replace {
        return Ok(());
    }
    let problem = format!("{name} draws from a public number of rows");
    Err(PlanError::about(Argument::Adjacency, problem).hint("give `adjacency=replace`"))
}

/// As many evaluations as anybody can wait for.
fn checked(name: &'static str, samples: u64) -> Result<u32, PlanError> {
    match u32::try_from(samples) {
        Ok(small) if (1..=MOST_BLOCKS).contains(&samples) => Ok(small),
        _ => Err(PlanError::about(
            Argument::Mechanism,
            format!("{name} asks for {samples} evaluations, and at most {MOST_BLOCKS} are made"),
        )
        .hint("give `mechanism=bootstrap` with `blocks=500` and `rate=0.01`, or a larger `epsilon`")),
    }
}
