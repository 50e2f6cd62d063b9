//! Private SQL: a query about one table becomes the batch of questions that the command line could ask too, and the release becomes rows.
//!
//! # Guarantee
//!
//! Nothing here reads rows or draws noise. A [`Query`] is words: questions with aggregates, a filter and group keys, which the session
//! plans, charges and answers as it does any batch; and what is done to the release afterwards, `HAVING`, `ORDER BY`, `LIMIT` and
//! arithmetic, which sees released values and nothing else.
//!
//! # What is accepted
//!
//! A grammar that was written down, and nothing besides it: what it does not have is an error with its line and column, so that nothing is
//! silently ignored. Expressions about rows are those of [`equipoise_expression`], which are total and about one record.
//!
//! # Example
//!
//! ```
//! use equipoise_session::request::Request;
//! use equipoise_sql_front::Query;
//!
//! let query = Query::read(
//!     "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) town, COUNT(*) AS n, AVG(salary)
//!      FROM 'people.csv' WHERE age >= 18 GROUP BY town HAVING n > 100",
//!     &Request::default(),
//! )?;
//! assert_eq!(query.table().name, "people.csv");
//! assert_eq!(query.batch().questions.len(), 2);
//! let wrong = Query::read("SELECT salary FROM people", &Request::default()).unwrap_err();
//! assert!(wrong.to_string().starts_with("line 1, column 8: 'salary' stands outside of an aggregate"));
//! # Ok::<(), equipoise_sql_front::SqlError>(())
//! ```

#![forbid(unsafe_code)]

mod aggregate;
pub mod apart;
mod clauses;
mod error;
mod evaluate;
mod inner;
mod interval;
mod options;
mod outer;
mod paying;
mod query;
mod rows;
pub mod several;
mod token;
mod words;

pub use aggregate::{Row as FunctionRow, TABLE as AGGREGATES};
pub use error::SqlError;
pub use outer::FUNCTIONS;
pub use paying::{Unpayable, paying};
pub use query::{Query, Table};
pub use rows::{Cell, Column, Rows};
