//! The real program, killed between charge and record: what was charged is lost, never repeated, and no limit is overstepped.

mod support;

use equipoise_session::ledger::Ledger;
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};
use support::Server;

/// The program on a directory that is there already, and its address.
fn start(server: &Server) -> (Child, String) {
    let folder = server.folder.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise-server"))
        .args(["serve", "--listen", "127.0.0.1:0", "--questions-a-minute", "100000", "--directory"])
        .arg(folder.join("server"))
        .arg("--data")
        .arg(folder.join("data"))
        .arg("--programs")
        .arg(folder.join("programs"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("listening at http://").to_string();
    (child, address)
}

/// One request over a connection of its own; nothing where the server ended under it.
fn send(
    address: &str,
    method: &str,
    path: &str,
    token: &str,
    more: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{more}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    Some((status, text))
}

fn ask(address: &str, token: &str, key: &str) -> Option<(u16, String)> {
    let body = r#"{"statistic":"median","column":"salary","epsilon":"0.25"}"#;
    send(address, "POST", "/v1/data-sets/pay/questions", token, &format!("idempotency-key: {key}\r\n"), body)
}

#[test]
fn what_a_kill_takes_is_lost_and_the_limit_holds_through_many_of_them() {
    let mut server = Server::new();
    server.state.desk.close();
    let token = server.token("ana").to_string();
    // Let go of the directory.
    let other = Server::new();
    server.state = other.state.clone();
    server.app = other.app.clone();
    let (mut granted, mut lost) = (0, Vec::new());
    for round in 0..8 {
        let (mut child, address) = start(&server);
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let (address, token) = (address.clone(), token.clone());
                thread::spawn(move || {
                    let key = format!("round {round} number {number}");
                    (ask(&address, &token, &key), key)
                })
            })
            .collect();
        let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        // Some rounds end before any answer can be recorded, others after.
        let recorded = round % 2 == 1;
        thread::sleep(Duration::from_millis(if recorded { 1500 } else { 100 }));
        child.kill().unwrap();
        child.wait().unwrap();
        for (answer, key) in answers {
            let (status, _) = answer.expect("it was killed later");
            assert!(status == 202 || status == 403, "{status}");
            granted += usize::from(status == 202);
            if status == 202 && !recorded {
                lost.push(key);
            }
        }
    }
    assert_eq!(granted, 20, "20 of 0.25 each");
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, verified.lost), (20, lost.len() as u64));
    assert!(!lost.is_empty() && verified.recorded > 0, "{verified:?}");
    assert_eq!(ledger.balance("pay", None).unwrap().spent().eps.to_exact(), "5");
    let (mut child, address) = start(&server);
    for key in &lost {
        let (status, text) = ask(&address, &token, key).unwrap();
        assert_eq!(status, 410, "asking again repeats nothing: {text}");
    }
    let (status, _) = ask(&address, &token, "round 1 number 0").unwrap();
    assert_eq!(status, 200, "what was recorded is given again");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(Ledger::open_read_only(&server.ledger()).unwrap().verify(None).unwrap().charges, 20);
}

/// Processes of this machine that have this word on their command line.
fn with_word(word: &str, program: &str) -> usize {
    let has = |entry: &std::fs::DirEntry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words);
        words.split('\0').next().is_some_and(|first| first.ends_with(program)) && words.contains(word)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(has).count()
}

/// Killed while a program runs on blocks: the charge stands, the answer is lost and never repeated, and no process of a block is left.
#[test]
fn a_program_that_runs_when_the_server_is_killed_is_lost_and_ends() {
    let mut server = Server::new();
    server.state.desk.close();
    let (steward, analyst) = (server.token("sam").to_string(), server.token("ana").to_string());
    let other = Server::new();
    server.state = other.state.clone();
    server.app = other.app.clone();
    let word = format!("equipoise-test-{}", std::process::id());
    let (mut child, address) = start(&server);
    let body = format!(
        r#"{{"command":["sh","-c","[ $(wc -l) -gt 1 ] && sleep 20; echo 1","{word}"],"output":"number","range":"0,1","default":0,"blocks":4,"block_time":30}}"#
    );
    let path = "/v1/data-sets/pay/programs/slow";
    let (status, text) = send(&address, "PUT", path, &steward, "", &body).unwrap();
    if text.contains("sandbox cannot be built") {
        eprintln!("SKIPPED: no sandbox can be built here");
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    }
    assert_eq!(status, 201, "{text}");
    let run = |address: &str| {
        let body = r#"{"program":"slow","epsilon":"1"}"#;
        send(address, "POST", "/v1/data-sets/pay/questions", &analyst, "idempotency-key: run\r\n", body)
            .unwrap()
    };
    let (status, text) = run(&address);
    assert_eq!(status, 202, "{text}");
    let mut tries = 0..100;
    // The program itself, and not the sandbox that is built around it: what is killed before it knows its parent is not told.
    while with_word(&word, "sh") == 0 {
        assert!(tries.next().is_some(), "no block ever ran");
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut tries = 0..100;
    while with_word(&word, "") > 0 {
        assert!(tries.next().is_some(), "processes of a block outlive the server");
        thread::sleep(Duration::from_millis(100));
    }
    let verified = Ledger::open_read_only(&server.ledger()).unwrap().verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded, verified.lost), (1, 0, 1));
    let (mut child, address) = start(&server);
    let (status, text) = run(&address);
    assert_eq!(status, 410, "asking again repeats nothing: {text}");
    child.kill().unwrap();
    child.wait().unwrap();
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    assert_eq!(ledger.verify(None).unwrap().charges, 1);
    assert_eq!(ledger.balance("pay", None).unwrap().spent().eps.to_exact(), "1");
}
