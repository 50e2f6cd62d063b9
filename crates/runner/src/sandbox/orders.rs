//! What the sandbox is told, as words of a command line: from the process that has the data to the one that has not.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

/// The sizes that a block may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for each process.
    pub memory: u64,
    /// Processes and threads at once.
    pub processes: u64,
    /// Bytes of files in the scratch folder.
    pub scratch: u64,
    /// Bytes of an answer; a longer one is none.
    pub answer: usize,
    /// Steps of a WebAssembly module.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 2 << 30, processes: 32, scratch: 256 << 20, answer: 1 << 20, steps: 10_000_000_000 }
    }
}

/// How a program gets its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Input {
    /// On standard input.
    #[default]
    Stdin,
    /// As the file `block.csv` in its working folder; standard input is empty.
    CsvFile,
    /// The same as `block.arrow`.
    ArrowFile,
}

impl Input {
    const ALL: [Self; 3] = [Self::Stdin, Self::CsvFile, Self::ArrowFile];

    /// The name of the file, where it is one.
    pub(crate) fn file_name(self) -> Option<&'static str> {
        match self {
            Self::Stdin => None,
            Self::CsvFile => Some("block.csv"),
            Self::ArrowFile => Some("block.arrow"),
        }
    }

    /// How, in words for messages.
    pub(crate) fn words(self) -> String {
        self.file_name().map_or("on standard input".to_string(), |name| format!("as the file {name}"))
    }
}

/// Everything that the sandbox of one block is told. Nothing of it depends on rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    /// What is shown: where it lies, and where it is seen.
    pub shown: Vec<(PathBuf, PathBuf)>,
    /// What is covered, should it lie in what is shown.
    pub hidden: Vec<PathBuf>,
    /// Who the block is, where identities can be chosen.
    pub identity: u32,
    pub processor: Option<usize>,
    pub limits: Limits,
    pub input: Input,
    /// Is there a /proc?
    pub proc: bool,
    /// Are the program's messages passed on? Only where it sees no data.
    pub messages: bool,
    pub environment: Vec<(OsString, OsString)>,
    pub command: Vec<OsString>,
}

impl Orders {
    /// As words; [`Orders::read`] turns them back.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut say = |name: &str, value: &OsStr| {
            words.push(OsString::from(name));
            words.push(value.to_os_string());
        };
        for (from, to) in &self.shown {
            say("from", from.as_os_str());
            say("to", to.as_os_str());
        }
        for path in &self.hidden {
            say("hidden", path.as_os_str());
        }
        for (name, value) in &self.environment {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            say("environment", &pair);
        }
        if let Some(processor) = self.processor {
            say("processor", processor.to_string().as_ref());
        }
        say("identity", self.identity.to_string().as_ref());
        say("memory", self.limits.memory.to_string().as_ref());
        say("processes", self.limits.processes.to_string().as_ref());
        say("scratch", self.limits.scratch.to_string().as_ref());
        say("steps", self.limits.steps.to_string().as_ref());
        say("answer", self.limits.answer.to_string().as_ref());
        say("input", self.input.file_name().unwrap_or_default().as_ref());
        say("proc", if self.proc { "yes" } else { "no" }.as_ref());
        say("messages", if self.messages { "shown" } else { "dropped" }.as_ref());
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        words
    }

    /// Orders from words; nothing where they are none.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut orders = Self {
            shown: Vec::new(),
            hidden: Vec::new(),
            identity: 0,
            processor: None,
            limits: Limits::default(),
            input: Input::Stdin,
            proc: false,
            messages: false,
            environment: Vec::new(),
            command: Vec::new(),
        };
        let mut words = words.into_iter();
        loop {
            let name = words.next()?;
            if name == "--" {
                orders.command = words.collect();
                return (!orders.command.is_empty()).then_some(orders);
            }
            let value = words.next()?;
            orders.hear(name.to_str()?, value)?;
        }
    }

    fn hear(&mut self, name: &str, value: OsString) -> Option<()> {
        let number = || value.to_str()?.parse::<u64>().ok();
        match name {
            "from" => self.shown.push((value.into(), PathBuf::new())),
            "to" => self.shown.last_mut()?.1 = value.into(),
            "hidden" => self.hidden.push(value.into()),
            "environment" => self.environment.push(pair(&value)?),
            "processor" => self.processor = Some(usize::try_from(number()?).ok()?),
            "identity" => self.identity = u32::try_from(number()?).ok()?,
            "memory" => self.limits.memory = number()?,
            "processes" => self.limits.processes = number()?,
            "scratch" => self.limits.scratch = number()?,
            "steps" => self.limits.steps = number()?,
            "answer" => self.limits.answer = usize::try_from(number()?).ok()?,
            "input" => {
                let named = |input: &Input| input.file_name().unwrap_or_default() == value;
                self.input = Input::ALL.into_iter().find(named)?;
            }
            "proc" => self.proc = value == "yes",
            "messages" => self.messages = value == "shown",
            _ => return None,
        }
        Some(())
    }
}

fn pair(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|&byte| byte == b'=')?;
    let part = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((part(&bytes[..at]), part(&bytes[at + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back() {
        let orders = Orders {
            shown: vec![("/usr".into(), "/usr".into()), ("/a b".into(), "/c\nd".into())],
            hidden: vec!["/usr/data.csv".into()],
            identity: 7,
            processor: Some(3),
            limits: Limits { memory: 1, processes: 2, scratch: 3, answer: 4, steps: 5 },
            input: Input::ArrowFile,
            proc: true,
            messages: true,
            environment: vec![("A".into(), "b=c".into())],
            command: vec!["/bin/sh".into(), "--".into(), OsString::from_vec(vec![0xff])],
        };
        assert_eq!(Orders::read(orders.words()), Some(orders));
        assert_eq!(Orders::read(["from".into()]), None);
        assert_eq!(Orders::read(["--".into()]), None);
    }
}
