//! What was settled when a state began: the same command line goes on with it, another is told what differs.

use equipoise_core::{ratio::Ratio, wording};

/// A flag that a state settles.
pub(super) struct Settled {
    pub flag: &'static str,
    /// What was typed now.
    pub typed: Option<String>,
    /// What holds where nothing was typed; empty where that is left to the program.
    otherwise: &'static str,
}

impl Settled {
    pub(super) fn new(flag: &'static str, typed: Option<impl ToString>, otherwise: &'static str) -> Self {
        Self { flag, typed: typed.map(|typed| one_text(&typed.to_string())), otherwise }
    }

    /// A flag without a value.
    pub(super) fn given(flag: &'static str, given: bool) -> Self {
        Self::new(flag, given.then_some("given"), "")
    }

    /// As the state keeps it.
    pub(super) fn kept(&self) -> (String, String) {
        let value = self.typed.clone().unwrap_or_else(|| one_text(self.otherwise));
        (self.flag.to_string(), value)
    }
}

/// Numbers in their one text, everything else as it is.
fn one_text(typed: &str) -> String {
    typed.parse::<Ratio>().map_or_else(|_| typed.to_string(), |number| number.to_exact())
}

/// Is what was typed what the state began with? Whatever is left out is as it was settled.
pub(super) fn same(typed: &[Settled], kept: Option<&[(String, String)]>, state: &str) -> Result<(), String> {
    for settled in typed {
        let Some(value) = &settled.typed else { continue };
        let flag = settled.flag;
        let Some(kept) = kept else {
            return Err(format!(
                "{flag} was settled when the state '{state}' began, by a version that did not write it down; leave it out, or begin \
                 a new state"
            ));
        };
        let began = kept.iter().find(|(known, _)| known == flag).map_or("", |(_, value)| value);
        if began == value {
            continue;
        }
        let [shown, state] = [value.as_str(), state].map(wording::shown);
        let with = if shown == "given" { flag.to_string() } else { format!("{flag} {shown}") };
        let began = match began {
            "" => "without it".to_string(),
            began => format!("with {}", wording::shown(began)),
        };
        return Err(format!(
            "{with} is not what the state '{state}' began with: it began {began}; leave it out, or begin a new state"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers_and_what_is_left_out_stays() {
        let of = |alpha: Option<&str>, keep: bool| {
            [Settled::new("--alpha", alpha, "0.5"), Settled::given("--keep", keep)]
        };
        let kept = of(Some("0.20"), true).map(|settled| settled.kept());
        for typed in [of(Some("0.2"), true), of(Some("1/5"), false), of(None, false)] {
            assert_eq!(same(&typed, Some(&kept), "s"), Ok(()));
        }
        let differs = same(&of(Some("0.3"), false), Some(&kept), "s").unwrap_err();
        assert_eq!(
            differs,
            "--alpha 0.3 is not what the state 's' began with: it began with 0.2; leave it out, or begin a new state"
        );
        let kept = of(None, false).map(|settled| settled.kept());
        assert_eq!(same(&of(Some("0.5"), false), Some(&kept), "s"), Ok(()), "the default, typed");
        let differs = same(&of(None, true), Some(&kept), "s").unwrap_err();
        assert!(differs.starts_with("--keep is not what the state 's' began with: it began without it"));
        assert!(
            same(&of(Some("0.5"), false), None, "s").is_err() && same(&of(None, false), None, "s").is_ok()
        );
    }
}
