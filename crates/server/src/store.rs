//! Members, their secrets and the registered data: one file of the server's directory, written as a whole or not at all.
//!
//! What was spent, and who changed what, is in the ledger, which is chained; here is what is in force now.

use crate::{
    authorise::{Caller, Shown},
    problem::Problem,
    secret::{self, Secret},
};
use equipoise_session::ledger::seconds_now;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How long a sign-in lasts, in seconds.
pub const SESSION: u64 = 12 * 3600;
/// How long an invitation waits, in seconds.
const INVITATION: u64 = 7 * 24 * 3600;
/// More members, data sets or secrets than this are refused, so that the file stays small.
const MOST: usize = 10_000;

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Registers data, sets limits, lets analysts in.
    Steward,
    /// Asks.
    Analyst,
    /// Reads the ledger and every answer.
    Reviewer,
    /// Keeps the server running: members, no data, no questions.
    Operator,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Steward, Self::Analyst, Self::Reviewer, Self::Operator];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steward => "steward",
            Self::Analyst => "analyst",
            Self::Reviewer => "reviewer",
            Self::Operator => "operator",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Somebody who may sign in. A name is never given to somebody else: budgets and entries go by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The name.
    pub name: String,
    /// What the member is.
    pub role: Role,
    /// Whether the member may still come in.
    pub active: bool,
}

/// What a secret opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opens {
    /// A session, once.
    Invitation,
    /// A session, as often as wanted: for a demonstration on one's own machine.
    Demonstration,
    /// The API, as a header.
    Token,
    /// The console and the API, as a cookie.
    Session,
    /// The same where a token was shown for it.
    SessionOfToken,
}

/// What is kept of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Credential {
    hash: String,
    member: String,
    opens: Opens,
    /// When it ends, in seconds since 1970.
    until: Option<u64>,
    /// What its holder calls it.
    label: String,
}

/// Data that a steward registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSource {
    /// Its id in paths.
    pub id: String,
    /// Its name in the ledger: the budget belongs to it.
    pub name: String,
    /// The real path of its file, pattern or folder.
    pub path: PathBuf,
    /// What separates fields of CSV, where it is not a comma.
    pub delimiter: Option<String>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// After how many seconds answers are recorded and shown.
    pub answer_time: u64,
    /// The analysts who may ask.
    pub grants: BTreeSet<String>,
    /// Whether an answer that somebody paid for is shown to others who may ask.
    #[serde(default)]
    pub shared: bool,
    /// The programs that may be asked for, by name.
    #[serde(default)]
    pub programs: BTreeMap<String, Allowed>,
}

/// A program that a steward allows to run on blocks of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// The program and its arguments. Files among them lie in a folder of programs.
    pub command: Vec<String>,
    /// More files and folders there that it sees.
    pub shows: Vec<String>,
    /// What it prints.
    pub output: String,
    /// What numbers can be.
    pub range: Option<String>,
    /// What labels there are.
    pub options: Option<Vec<String>>,
    /// What a block without an answer counts as.
    pub default: Option<serde_json::Value>,
    /// How answers become one, by its name.
    pub mechanism: Option<String>,
    /// How many blocks, where nobody says otherwise.
    pub blocks: Option<u64>,
    /// How long every block takes, in milliseconds.
    pub block_ms: u64,
    /// Megabytes of memory for each process.
    pub memory: u64,
    /// Processes and threads of a block.
    pub processes: u64,
    /// Whether it gets an Arrow stream in place of text.
    pub arrow: bool,
    /// What stood in its files when it was allowed, as a hash.
    pub fingerprint: String,
}

impl Allowed {
    /// How long every block takes, in seconds.
    pub fn block_time(&self) -> f64 {
        std::time::Duration::from_millis(self.block_ms).as_secs_f64()
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    members: Vec<Member>,
    credentials: Vec<Credential>,
    data_sets: Vec<DataSource>,
    /// The id of the ledger that these belong to.
    #[serde(default)]
    ledger: Option<String>,
}

/// The file, and what it says.
pub struct Store {
    path: PathBuf,
    content: Mutex<Content>,
    /// Held as long as the server runs: one server for one directory.
    _lock: File,
}

/// So many programs a data set has.
const MOST_PROGRAMS: usize = 50;

/// What a cookie stands for.
const SESSIONS: [Opens; 2] = [Opens::Session, Opens::SessionOfToken];
/// So many of these a member has; the oldest ends where one more begins.
const MOST_SESSIONS: usize = 20;

/// The version of the file's layout.
const VERSION: u32 = 1;

fn unusable(error: &io::Error) -> String {
    format!("the server's directory cannot be used: {error}")
}

/// The members of a backup as they are put back: nobody comes in who was put out since. Links and sessions are worth nothing, since
/// they may have been used or ended. Where the members are still there as they were last, whoever was removed stays out, tokens and
/// grants that ended stay ended, and names that were given since are not given again.
pub fn put_back(backup: &[u8], last: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut content: Content = serde_json::from_slice(backup).ok()?;
    content.credentials.retain(|one| one.opens == Opens::Token);
    let last = last.and_then(|bytes| serde_json::from_slice::<Content>(bytes).ok());
    if let Some(last) = last.filter(|last| last.ledger == content.ledger) {
        content.credentials.retain(|one| last.credentials.iter().any(|known| known.hash == one.hash));
        for member in last.members {
            match content.members.iter_mut().find(|known| known.name == member.name) {
                Some(known) => known.active &= member.active,
                None => content.members.push(Member { active: false, ..member }),
            }
        }
        for data in &mut content.data_sets {
            if let Some(known) = last.data_sets.iter().find(|known| known.id == data.id) {
                data.grants.retain(|name| known.grants.contains(name));
            }
        }
    }
    serde_json::to_vec_pretty(&content).ok()
}

/// The directory for one server, or one restoring, at a time; it is made if it is not there.
pub fn lock(directory: &Path) -> Result<File, String> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
    builder.create(directory).map_err(|error| unusable(&error))?;
    let path = directory.join("lock");
    let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let lock = opened.map_err(|error| unusable(&error))?;
    lock.try_lock().map_err(|_| "another server uses this directory; stop it first".to_string())?;
    Ok(lock)
}

impl Store {
    /// Open the store of a directory, which is made if it is not there.
    pub fn open(directory: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| unusable(&error);
        let lock = lock(directory)?;
        let path = directory.join("members.json");
        let content = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str::<Content>(&text)
                .map_err(|_| "members.json cannot be read; restore it from a backup".to_string())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Content { version: VERSION, ..Content::default() }
            }
            Err(error) => return Err(failed(error)),
        };
        if content.version != VERSION {
            return Err(format!("members.json has version {}; use a newer server", content.version));
        }
        Ok(Self { path, content: Mutex::new(content), _lock: lock })
    }

    fn locked(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Change it, durably; where that fails nothing is changed.
    fn change<T>(&self, work: impl FnOnce(&mut Content) -> Result<T, Problem>) -> Result<T, Problem> {
        let mut content = self.locked();
        let mut changed = content.clone();
        let done = work(&mut changed)?;
        let now = seconds_now();
        changed.credentials.retain(|credential| credential.until.is_none_or(|until| until > now));
        if [changed.members.len(), changed.credentials.len(), changed.data_sets.len()]
            .iter()
            .any(|&many| many > MOST)
        {
            return Err(Problem::wrong(format!("there are {MOST} of these already; remove some first")));
        }
        self.write(&changed).map_err(Problem::inside)?;
        *content = changed;
        Ok(done)
    }

    fn write(&self, content: &Content) -> io::Result<()> {
        let unfinished = self.path.with_extension("json.unfinished");
        let _ = fs::remove_file(&unfinished);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(content)?)?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.path)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    }

    /// These belong to this ledger, and to no other that is put in its place.
    pub fn bind(&self, ledger: &str) -> Result<(), Problem> {
        let known = self.locked().ledger.clone();
        match known {
            Some(known) if known == ledger => Ok(()),
            Some(_) => Err(Problem::wrong(
                "the ledger is not the one of these members: it was removed or replaced; put it back, or restore a backup",
            )),
            None => self.change(|content| {
                content.ledger = Some(ledger.to_string());
                Ok(())
            }),
        }
    }

    /// Every member, in the order of their coming.
    pub fn members(&self) -> Vec<Member> {
        self.locked().members.clone()
    }

    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<Member> {
        self.locked().members.iter().find(|member| member.name == name).cloned()
    }

    /// Enter a member.
    pub fn add_member(&self, name: &str, role: Role) -> Result<(), Problem> {
        self.change(|content| {
            if content.members.iter().any(|member| member.name == name) {
                let line = "there is, or was, a member of this name, and budgets go by names; give another";
                return Err(Problem::new(axum::http::StatusCode::CONFLICT, line));
            }
            content.members.push(Member { name: name.to_string(), role, active: true });
            Ok(())
        })
    }

    /// Let a member come in no more: every secret ends at once.
    pub fn remove_member(&self, name: &str) -> Result<(), Problem> {
        self.change(|content| {
            let steward = |member: &&Member| member.active && member.role == Role::Steward;
            let stewards = content.members.iter().filter(steward).count();
            let member = content.members.iter_mut().find(|member| member.name == name && member.active);
            let member = member.ok_or_else(Problem::not_found)?;
            if member.role == Role::Steward && stewards == 1 {
                return Err(Problem::wrong("this is the last steward; make another first"));
            }
            member.active = false;
            content.credentials.retain(|credential| credential.member != name);
            for data in &mut content.data_sets {
                data.grants.remove(name);
            }
            Ok(())
        })
    }

    /// A secret for a member, which is kept as a hash.
    pub fn issue(&self, member: &str, opens: Opens, label: &str) -> Result<Secret, Problem> {
        let secret = Secret::fresh().map_err(Problem::inside)?;
        let lasts = match opens {
            Opens::Invitation => Some(INVITATION),
            Opens::Session | Opens::SessionOfToken => Some(SESSION),
            Opens::Demonstration | Opens::Token => None,
        };
        let credential = Credential {
            hash: secret.hash(),
            member: member.to_string(),
            opens,
            until: lasts.map(|lasts| seconds_now() + lasts),
            label: label.to_string(),
        };
        self.change(|content| {
            if SESSIONS.contains(&opens) {
                let is_one = |one: &Credential| one.member == member && SESSIONS.contains(&one.opens);
                let mut above = (content.credentials.iter().filter(|one| is_one(one)).count() + 1)
                    .saturating_sub(MOST_SESSIONS);
                // The oldest come first.
                content.credentials.retain(|one| {
                    let goes = above > 0 && is_one(one);
                    above -= usize::from(goes);
                    !goes
                });
            }
            content.credentials.push(credential);
            Ok(secret)
        })
    }

    /// End a secret.
    pub fn end(&self, secret: &str) -> Result<(), Problem> {
        let hash = secret::hash(secret);
        self.change(|content| {
            content.credentials.retain(|credential| credential.hash != hash);
            Ok(())
        })
    }

    /// End all tokens of a member.
    pub fn end_tokens(&self, member: &str) -> Result<(), Problem> {
        self.change(|content| {
            let of_tokens = [Opens::Token, Opens::SessionOfToken];
            content.credentials.retain(|one| one.member != member || !of_tokens.contains(&one.opens));
            Ok(())
        })
    }

    /// The labels of a member's tokens.
    pub fn tokens(&self, member: &str) -> Vec<String> {
        let content = self.locked();
        let own = content.credentials.iter().filter(|one| one.member == member && one.opens == Opens::Token);
        own.map(|one| one.label.clone()).collect()
    }

    /// Who shows this secret, and what it opens.
    fn holder(&self, secret: &str) -> Option<(Member, Opens)> {
        let (hash, now) = (secret::hash(secret), seconds_now());
        let content = self.locked();
        // Hashes of random secrets: how far two of them agree helps nobody.
        let found = content.credentials.iter().find(|credential| credential.hash == hash)?;
        if found.until.is_some_and(|until| until <= now) {
            return None;
        }
        let member = content.members.iter().find(|member| member.name == found.member && member.active)?;
        Some((member.clone(), found.opens))
    }

    /// The member who sends this token in a header.
    pub fn by_token(&self, secret: &str) -> Option<Caller> {
        let (member, opens) = self.holder(secret)?;
        let Member { name, role, .. } = member;
        (opens == Opens::Token).then_some(Caller { name, role, shown: Shown::Token })
    }

    /// The member who sends this cookie.
    pub fn by_cookie(&self, secret: &str) -> Option<Caller> {
        let (Member { name, role, .. }, opens) = self.holder(secret)?;
        match opens {
            Opens::Session => Some(Caller { name, role, shown: Shown::Session }),
            Opens::SessionOfToken => Some(Caller { name, role, shown: Shown::SessionOfToken }),
            _ => None,
        }
    }

    /// Whose link this is, without using it up.
    pub fn invited(&self, secret: &str) -> Option<Member> {
        let (member, opens) = self.holder(secret)?;
        matches!(opens, Opens::Invitation | Opens::Demonstration).then_some(member)
    }

    /// Sign in with a link or a token: a fresh secret for a cookie, whatever cookie was sent. A link is used up.
    pub fn sign_in(&self, secret: &str) -> Result<(Member, Secret), Problem> {
        let unknown = || {
            Problem::new(
                axum::http::StatusCode::UNAUTHORIZED,
                "this link or token is not valid, or was used already; ask for a new one",
            )
        };
        let (member, opens) = self.holder(secret).ok_or_else(unknown)?;
        let session = match opens {
            Opens::Invitation | Opens::Demonstration => Opens::Session,
            Opens::Token => Opens::SessionOfToken,
            Opens::Session | Opens::SessionOfToken => return Err(unknown()),
        };
        if opens == Opens::Invitation {
            // Two at once: whoever ends it has it.
            let hash = secret::hash(secret);
            self.change(|content| {
                let before = content.credentials.len();
                content.credentials.retain(|credential| credential.hash != hash);
                if content.credentials.len() == before { Err(unknown()) } else { Ok(()) }
            })?;
        }
        let fresh = self.issue(&member.name, session, "")?;
        Ok((member, fresh))
    }

    /// All registered data, in the order of registration.
    pub fn data_sets(&self) -> Vec<DataSource> {
        self.locked().data_sets.clone()
    }

    /// The data with this id.
    pub fn data_set(&self, id: &str) -> Option<DataSource> {
        self.locked().data_sets.iter().find(|data| data.id == id).cloned()
    }

    /// The data of this name in the ledger.
    pub fn data_set_named(&self, name: &str) -> Option<DataSource> {
        self.locked().data_sets.iter().find(|data| data.name == name).cloned()
    }

    /// Register data, or say anew where it is and how it is read. Its name stays what it was.
    pub fn put_data_set(&self, new: DataSource) -> Result<(), Problem> {
        self.change(|content| {
            if content.data_sets.iter().any(|data| data.name == new.name && data.id != new.id) {
                return Err(Problem::wrong("another data set has this name; give another"));
            }
            match content.data_sets.iter_mut().find(|data| data.id == new.id) {
                Some(data) if data.name != new.name => {
                    Err(Problem::wrong("the budget belongs to the name, so that it stays; leave it out"))
                }
                Some(data) => {
                    let (grants, programs) =
                        (std::mem::take(&mut data.grants), std::mem::take(&mut data.programs));
                    *data = DataSource { grants, programs, shared: data.shared, ..new };
                    Ok(())
                }
                None => {
                    content.data_sets.push(new);
                    Ok(())
                }
            }
        })
    }

    /// Show answers that somebody paid for to others who may ask, or no more.
    pub fn share(&self, id: &str, shared: bool) -> Result<(), Problem> {
        self.change(|content| {
            let data = content.data_sets.iter_mut().find(|data| data.id == id);
            data.ok_or_else(Problem::not_found)?.shared = shared;
            Ok(())
        })
    }

    /// Allow a program under a name, or no more.
    pub fn put_program(&self, id: &str, name: &str, program: Option<Allowed>) -> Result<(), Problem> {
        self.change(|content| {
            let data = content.data_sets.iter_mut().find(|data| data.id == id);
            let programs = &mut data.ok_or_else(Problem::not_found)?.programs;
            match program {
                Some(program) => {
                    programs.insert(name.to_string(), program);
                }
                None => {
                    programs.remove(name).ok_or_else(Problem::not_found)?;
                }
            }
            if programs.len() > MOST_PROGRAMS {
                return Err(Problem::wrong(format!(
                    "there are {MOST_PROGRAMS} programs for this data already; remove some first"
                )));
            }
            Ok(())
        })
    }

    /// Let an analyst ask, or no more.
    pub fn grant(&self, id: &str, analyst: &str, granted: bool) -> Result<(), Problem> {
        self.change(|content| {
            let is_analyst =
                |member: &Member| member.name == analyst && member.active && member.role == Role::Analyst;
            if granted && !content.members.iter().any(is_analyst) {
                return Err(Problem::wrong("there is no analyst of this name; invite one first"));
            }
            let data =
                content.data_sets.iter_mut().find(|data| data.id == id).ok_or_else(Problem::not_found)?;
            if granted {
                data.grants.insert(analyst.to_string());
            } else {
                data.grants.remove(analyst);
            }
            Ok(())
        })
    }
}
