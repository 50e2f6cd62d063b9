//! What formats with typed columns share: what a type means, one cell of any type, and cells for visitors.
//!
//! # Rules
//!
//! 1. A cell reads as its text would in CSV: an integer 12 is the text `12`, a text `12` is the integer 12, a text `true` is a
//!    yes. An empty text is null, as there.
//! 2. A number keeps its exact value: it is never rounded through its text, and a yes is also the number 1.
//! 3. Bytes are text if they are UTF-8, and null if not. Bytes of a fixed length are texts of hexadecimal digits,
//!    and never numbers.
//! 4. Moments finer than microseconds are the microsecond in which they lie, but as texts (ids and keys) they keep all their
//!    digits; those without a time zone are in UTC.
//! 5. Lists, maps, structs, unions, intervals, durations and times of day cannot be read; a plan refuses them.
//!
//! Whatever a cell holds, it is one cell: no value makes a batch fail.

mod batch;
mod meaning;
pub mod memory;
mod plain;
mod rows;
mod value;

pub(crate) use batch::Columns;
use batch::Lying;
pub(crate) use meaning::{Described, TOO_WIDE, declared, without_text};
pub use meaning::{Meaning, decimal as decimal_kind, unreadable_line};
pub use rows::{LONGEST_TEXT, RowBlock};
pub use value::Value;
