//! What is planned in one piece and answered from rows: shown as a plan, or paid for, answered, recorded and shown.

use crate::{
    Exit,
    args::{Books, Showing},
    ask::{internal, shown_as, unopened},
    fail,
    interrupt::{Stage, reached},
    progress, show,
};
use equipoise_engine::books::Account;
use equipoise_session::{
    ledger::Ledger,
    release::Release,
    session::{Charged, Paid, Priced, Session},
    unanswered::Unanswered,
};

/// The rest of the flow once there is a plan. `known` is the ledger for looking, where there is one yet.
pub(crate) fn answer<P: Priced>(
    plan: P,
    (account, known): (&Account, Option<Ledger>),
    (books, showing): (&Books, &Showing),
    run: impl FnOnce(&mut Session, Charged<P>) -> Result<Release, Unanswered>,
) -> Result<Exit, Exit> {
    if showing.dry_run {
        let balance = known.as_ref().map(|known| known.balance(&account.name, books.analyst.as_deref()));
        show::summary(&plan.summary(), balance.transpose().map_err(unopened)?.as_ref(), showing.json);
        return Ok(Exit::Done);
    }
    drop(known);
    reached(Stage::Charging);
    let opened = account.open().map_err(unopened)?;
    let mut session = Session::new(opened, books.analyst.clone()).map_err(internal)?;
    let paid =
        session.charge(plan, books.request_id.as_deref()).map_err(|error| fail(&error, error.exit_code()))?;
    let release = match paid {
        Paid::Replayed(release) => *release,
        Paid::Charged(charged) => {
            reached(Stage::Charged);
            progress::spinning("reading", || run(&mut session, *charged)).map_err(internal)?
        }
    };
    reached(Stage::Recorded);
    Ok(shown_as(release, showing, &[]))
}
