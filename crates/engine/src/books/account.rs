//! Where a question is charged, and that no limit that covers the same files is walked around without a word.

use super::{
    Covering, FILE_NAME, LookupError, data_name, folder, ledger_path,
    near::{self, Members},
    shown,
};
use crate::{STANDARD_INPUT, TableAddress, remote::PostgresAddress};
use equipoise_session::ledger::{Elsewhere, Expected, Fault, FingerprintError, Ledger, LedgerError};
use std::path::{Path, PathBuf};

/// What is asked about, and what was said about where it is charged.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// A file, a pattern, a folder, or standard input.
    pub data: &'a Path,
    /// The name of standard input.
    pub name: Option<&'a str>,
    /// The ledger, where one was named.
    pub ledger: Option<&'a Path>,
    /// Count it apart from limits elsewhere that cover the same files, and say so in both ledgers.
    pub apart: bool,
}

/// Where a question is charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The ledger.
    pub ledger: PathBuf,
    /// The data set, by its name there.
    pub name: String,
    /// What is written down with a charge.
    pub expected: Expected,
}

impl Account {
    /// Where it is charged, or one line that says why not: a limit in a ledger beside or above the data that covers one of its
    /// files is not walked around, by another ledger, by another name or by a link.
    pub fn of(asked: &Asked<'_>) -> Result<Self, LookupError> {
        let ledger = ledger_path(asked.ledger, Some(asked.data));
        let name = data_name(asked.data, asked.name, &ledger).map_err(LookupError::Named)?;
        let members = Members::of(asked.data);
        if asked.ledger.is_none() && asked.data != Path::new(STANDARD_INPUT) {
            one_ledger(&members, &ledger).map_err(LookupError::Named)?;
        }
        let found = in_the_way(asked, &ledger, &name, &members)?;
        if let Some(first) = found.first().filter(|_| !asked.apart) {
            return Err(LookupError::Named(refusal(asked, first, &ledger)));
        }
        let elsewhere = |found: Covering| Elsewhere { ledger: found.ledger, data_set: found.name };
        let expected = Expected { files: members.ids(), apart: found.into_iter().map(elsewhere).collect() };
        Ok(Self { ledger, name, expected })
    }

    /// The same for the steward, who sets limits and is told of others ([`Account::known_elsewhere`]).
    pub fn registered(data: &Path, name: Option<&str>, ledger: Option<&Path>) -> Result<Self, LookupError> {
        let ledger = ledger_path(ledger, Some(data));
        let name = data_name(data, name, &ledger).map_err(LookupError::Named)?;
        let expected = Expected { files: Members::of(data).ids(), apart: Vec::new() };
        Ok(Self { ledger, name, expected })
    }

    /// Open the ledger to charge it; what is known of the data is written down with the charge.
    pub fn open(&self) -> Result<Ledger, LedgerError> {
        let opened = Ledger::open(&self.ledger)?;
        opened.expect(&self.name, self.expected.clone());
        Ok(opened)
    }

    /// For the steward: other names, here and in ledgers beside and above, that cover the same files.
    pub fn known_elsewhere(&self, data: &Path) -> Result<Vec<Covering>, LookupError> {
        let members = Members::of(data);
        let mut found = Vec::new();
        for (ledger, opened, own) in looked_at(&self.ledger, &members)? {
            let covering = near::coverings(&opened, &ledger, &members)?;
            found.extend(covering.into_iter().filter(|covering| !own || covering.name != self.name));
        }
        Ok(found)
    }

    /// For the steward: ledgers beside and above the data, this one left out, in which the same content is registered, and as what.
    pub fn content_elsewhere(&self, data: &Path) -> Result<Vec<Elsewhere>, LookupError> {
        let members = Members::of(data);
        let mut found = Vec::new();
        for (ledger, opened, _) in looked_at(&self.ledger, &members)?.into_iter().filter(|(.., own)| !own) {
            let Some(mut content) = super::content_of(data).map_err(LookupError::Named)? else { continue };
            let names = opened.same_content(&mut content).map_err(uncompared)?;
            found.extend(names.into_iter().map(|data_set| Elsewhere { ledger: ledger.clone(), data_set }));
        }
        Ok(found)
    }
}

fn uncompared(error: FingerprintError) -> LookupError {
    match error {
        FingerprintError::Ledger(error) => LookupError::Ledger(error),
        FingerprintError::Content(kind) => LookupError::Named(format!("the data could not be read ({kind})")),
    }
}

/// A folder or a pattern that nobody named a ledger for must not walk around the ledger that lies beside one of its files.
fn one_ledger(members: &Members, charged: &Path) -> Result<(), String> {
    let charged = charged.canonicalize().ok();
    for member in members.homes.values() {
        let beside = ledger_path(None, Some(member));
        if beside.exists() && beside.canonicalize().ok() != charged {
            return Err(format!(
                "'{}' has a ledger beside it, '{}'; name that with `ledger`, or ask of the file itself",
                shown(member),
                shown(&beside)
            ));
        }
    }
    Ok(())
}

/// The ledgers that are looked at, open, and whether each is the one that is charged. An older copy of that one is left out: what
/// it has, the one that is charged has too.
fn looked_at(charged: &Path, members: &Members) -> Result<Vec<(PathBuf, Ledger, bool)>, LookupError> {
    let own = match Ledger::open_read_only(charged) {
        Ok(own) => Some(own),
        Err(LedgerError { fault: Fault::Missing, .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let real = charged.canonicalize().ok();
    let mut found = Vec::new();
    for ledger in near::ledgers(members) {
        if real.is_some() && ledger.canonicalize().ok() == real {
            continue;
        }
        let Some(other) = near::opened(&ledger, members)? else { continue };
        let head = other.head()?;
        let is_older_copy = match &own {
            Some(own) => own.contains(&head)?,
            None => false,
        };
        if !is_older_copy {
            found.push((ledger, other, false));
        }
    }
    found.extend(own.map(|own| (charged.to_path_buf(), own, true)));
    Ok(found)
}

/// What covers the same files and is not what is charged.
fn in_the_way(
    asked: &Asked<'_>,
    charged: &Path,
    name: &str,
    members: &Members,
) -> Result<Vec<Covering>, LookupError> {
    let looked = looked_at(charged, members)?.into_iter();
    let looked =
        looked.map(|(ledger, opened, own)| Ok((near::coverings(&opened, &ledger, members)?, ledger, own)));
    let looked = looked.collect::<Result<Vec<_>, LookupError>>()?;
    let here = |covering: &Covering| covering.name == name && covering.limited;
    let limited_here = looked.iter().any(|(coverings, _, own)| *own && coverings.iter().any(here));
    let mut found = Vec::new();
    for (coverings, ledger, own) in looked {
        // In one ledger the steward sets the limits, and was warned where two names are the same files.
        if own && limited_here {
            continue;
        }
        // Where no ledger was named, what was spent is not to be counted in two that nobody named, either; a limit says which of
        // them counts, and one without, such as that of a hard link above, does not stand in its way.
        let unnamed = !own && !limited_here && asked.ledger.is_none() && ledger.ends_with(FILE_NAME);
        let counts = |covering: &Covering| {
            let other = !own || covering.name != name;
            other && (covering.limited || unnamed)
        };
        found.extend(coverings.into_iter().filter(counts));
    }
    Ok(found)
}

/// What covers it, and what to do.
fn refusal(asked: &Asked<'_>, covering: &Covering, charged: &Path) -> String {
    let [name, ledger] = [Path::new(&covering.name), &covering.ledger].map(shown);
    let here = covering.ledger == charged;
    let reached =
        data_name(asked.data, asked.name, &covering.ledger).is_ok_and(|named| named == covering.name);
    let next = if reached {
        "name that ledger with `ledger`".to_string()
    } else if covering.several {
        "ask of those, or name that ledger with `ledger`".to_string()
    } else if let (false, Some(table)) = (covering.present, table_of(&covering.name)) {
        format!("give the table its name '{}' back", shown(Path::new(&table)))
    } else if !covering.present {
        let place = folder(&covering.ledger).join(&covering.name);
        format!("put it back as '{}'", shown(&place))
    } else if here {
        format!("ask of '{name}'")
    } else {
        format!("ask of '{name}' with `ledger={ledger}`")
    };
    let who = if here { "the ledger writes" } else { "both ledgers write" };
    format!("{covering}; {next}, or say `apart` to count it apart, which {who} down")
}

/// The table that a name of a data set has in it, where it is one.
fn table_of(name: &str) -> Option<String> {
    match PostgresAddress::of(Path::new(name)) {
        Some(address) => Some(address.ok()?.table?.typed()),
        None => TableAddress::of(Path::new(name))?.table,
    }
}
