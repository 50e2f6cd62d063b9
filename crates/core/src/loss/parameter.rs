//! Privacy parameters: exact numbers that cannot be out of range.

use crate::{
    ratio::{Ratio, RatioError},
    wording,
};
use std::{fmt, str::FromStr};

/// Why a parameter was not accepted. `Display` is one line: what, the value, the range, the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// The text is not a number.
    NotANumber {
        /// Which parameter.
        name: &'static str,
        /// What is wrong with the text.
        reason: RatioError,
    },
    /// The number lies outside the accepted range.
    OutOfRange {
        /// Which parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is accepted, and what to do.
        accepted: &'static str,
    },
}

impl ParameterError {
    /// A number outside its range.
    pub fn out_of_range(name: &'static str, value: impl fmt::Display, accepted: &'static str) -> Self {
        let value = wording::shown(&value.to_string());
        Self::OutOfRange { name, value, accepted }
    }

    /// Which parameter.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotANumber { name, .. } | Self::OutOfRange { name, .. } => name,
        }
    }

    /// What is wrong, and what to do.
    pub fn parts(&self) -> (String, String) {
        match self {
            Self::NotANumber { name, reason } => {
                let (problem, hint) = reason.parts();
                (format!("{name}: {problem}"), hint)
            }
            Self::OutOfRange { name, value, accepted } => {
                (format!("{name} {value} is not accepted:"), accepted.to_string())
            }
        }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, hint) = self.parts();
        f.write_str(&wording::with_hint(&problem, &hint))
    }
}

impl std::error::Error for ParameterError {}

macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $label:literal, $accepted:literal, |$value:ident| $inside:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ratio);

        impl $name {
            /// This number, if it is in range.
            pub fn new($value: Ratio) -> Result<Self, ParameterError> {
                if $inside { Ok(Self($value)) } else { Err(ParameterError::out_of_range($label, $value, $accepted)) }
            }

            /// The exact number.
            pub fn ratio(&self) -> &Ratio {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = ParameterError;
            fn from_str(text: &str) -> Result<Self, ParameterError> {
                let value = text.parse().map_err(|reason| ParameterError::NotANumber { name: $label, reason })?;
                Self::new(value)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

parameter! {
    /// The parameter epsilon of a request: exact, in (0, 1000].
    Eps, "epsilon", "give a number above 0 and at most 1000, such as 1 or 0.5",
    |value| value.is_positive() && value <= Ratio::from(1000u64)
}

parameter! {
    /// The parameter delta of a request: exact, in [0, 1).
    Delta, "delta", "give 0, or a number below 1 such as 1e-6",
    |value| !value.is_negative() && value < Ratio::one()
}

parameter! {
    /// The parameter rho of zero-concentrated privacy: exact, in (0, 500000].
    Rho, "rho", "give a number above 0 and at most 500000, such as 0.1",
    |value| value.is_positive() && value <= Ratio::from(500_000u64)
}

parameter! {
    /// The share of the records that a sample takes: exact, in (0, 1].
    Rate, "rate", "give a number above 0 and at most 1, such as 0.1",
    |value| value.is_positive() && value <= Ratio::one()
}

impl Delta {
    /// No failure probability at all.
    pub fn zero() -> Self {
        Self(Ratio::zero())
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_say_what_to_write() {
        for (text, expected) in [
            ("0", "epsilon 0 is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5"),
            ("-1", "epsilon -1 is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5"),
            (
                "NaN",
                "epsilon: 'NaN' is not a number; write a decimal like 0.5 or 1e-6, or a fraction like 1/3",
            ),
            ("1/0", "epsilon: '1/0' divides by zero; write a decimal like 0.5"),
            (
                "1e400",
                "epsilon 1000000000000000000000000000000000000... is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5",
            ),
        ] {
            assert_eq!(text.parse::<Eps>().unwrap_err().to_string(), expected);
        }
        for text in ["1", "-1e-9", "2"] {
            let error = text.parse::<Delta>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "delta {} is not accepted: give 0, or a number below 1 such as 1e-6",
                    text.parse::<Ratio>().unwrap()
                )
            );
        }
        assert!(
            "0".parse::<Rate>().is_err() && "1.01".parse::<Rate>().is_err() && "1".parse::<Rate>().is_ok()
        );
        assert!("0".parse::<Rho>().is_err() && "0".parse::<Delta>().unwrap().is_zero());
    }
}
