//! Errors as the exceptions of the package: one class for each thing that a caller can do about it.

use equipoise_core::wording::Surface;
use equipoise_session::{
    ledger::{ChargeError, LedgerError, Limit, RegisterError},
    next::NextStep,
    plan::PlanError,
    release::Remaining,
    session::PayError,
    unanswered::Unanswered,
};
use pyo3::{PyErr, PyTypeInfo, Python, import_exception};
use serde_json::json;
use std::fmt::Display;

import_exception!(equipoise._errors, BudgetError);
import_exception!(equipoise._errors, DataError);
import_exception!(equipoise._errors, Interrupted);
import_exception!(equipoise._errors, LedgerFileError);
import_exception!(equipoise._errors, LostError);
import_exception!(equipoise._errors, RequestError);

/// Find all of them now: a process that is forked while another thread looks would wait for it for ever.
pub fn prepare(py: Python<'_>) {
    BudgetError::type_object(py);
    DataError::type_object(py);
    Interrupted::type_object(py);
    LedgerFileError::type_object(py);
    LostError::type_object(py);
    RequestError::type_object(py);
}

/// What was asked for is wrong; nothing was charged.
pub fn request(error: impl Display) -> PyErr {
    RequestError::new_err(error.to_string())
}

/// The same where it is known about which argument, and what to do.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub fn plan(error: PlanError) -> PyErr {
    plan_but(&error, None)
}

/// The same with a question that can be planned, where there is one.
pub fn plan_but(error: &PlanError, step: Option<NextStep>) -> PyErr {
    RequestError::new_err(parts(error, step.map(|step| step.written(Surface::Python, "data"))))
}

/// What a `RequestError` is made of: the line, the keyword that it is about, what to do, and a whole call that can be answered.
pub type Wrong = (String, Option<&'static str>, Option<String>, Option<String>);

/// An error of a plan as that.
pub fn parts(error: &PlanError, call: Option<String>) -> Wrong {
    let argument = error.argument().map(|option| option.keyword);
    (error.to_string(), argument, error.next_step().map(str::to_string), call)
}

/// The data is of a kind that the question cannot read; nothing was charged.
pub fn data(error: impl Display) -> PyErr {
    DataError::new_err(error.to_string())
}

/// The ledger cannot be used; nothing was charged.
pub fn ledger(error: &LedgerError) -> PyErr {
    LedgerFileError::new_err(error.to_string())
}

/// Why a data set or a limit was not entered.
pub fn register(error: RegisterError) -> PyErr {
    match &error {
        RegisterError::Ledger(_) => LedgerFileError::new_err(error.to_string()),
        RegisterError::Content(_) => data(error),
        _ => request(error),
    }
}

/// There is no answer where nothing was to be paid.
pub fn unpaid(why: impl Into<Unanswered>) -> PyErr {
    data(why.into().uncharged())
}

/// The charge stands, and rows could not be read.
pub fn unread(why: impl Into<Unanswered>) -> PyErr {
    lost(why.into())
}

/// The charge stands, and there is no answer.
pub fn lost(error: impl Display) -> PyErr {
    LostError::new_err(error.to_string())
}

/// Why nothing was paid.
pub fn pay(error: &PayError) -> PyErr {
    match error {
        PayError::Charge(error) => charge(error),
        PayError::Unreadable { .. } => lost(error),
    }
}

/// Why nothing was charged.
pub fn charge(error: &ChargeError) -> PyErr {
    match error {
        ChargeError::OverBudget(over) => {
            let part = |limit: Option<&Limit>| limit.map(Remaining::from);
            let parts = json!({
                "spent": part(over.spent.as_ref()),
                "requested": part(over.requested.as_ref()),
                "remaining": part(Some(&over.remaining)),
            });
            BudgetError::new_err((error.to_string(), parts.to_string()))
        }
        ChargeError::Ledger(_) | ChargeError::Apart(_) => LedgerFileError::new_err(error.to_string()),
        ChargeError::Lost { .. } => lost(error),
        _ => request(error),
    }
}
