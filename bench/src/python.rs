//! A Python process that a benchmark asks line by line; it measures its own time.

use std::{
    error::Error,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A running script.
pub struct Python {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Python {
    /// Start a script with this interpreter.
    pub fn start(python: &str, script: &str) -> Result<Self, Box<dyn Error>> {
        let mut child =
            Command::new(python).args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take().ok_or("no pipe to Python")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from Python")?).lines();
        Ok(Self { child, questions, answers })
    }

    /// One line to it, one line back.
    pub fn ask(&mut self, question: &str) -> Result<String, Box<dyn Error>> {
        writeln!(self.questions, "{question}")?;
        Ok(self.answers.next().ok_or("Python stopped; are its modules installed?")??)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
