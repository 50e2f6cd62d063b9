//! Many at once: one limit under 200 analysts, with kills and restarts; how many requests a second; and whether the time of an answer
//! tells anything of the rows. Small by default; the figures of docs/server.md come from
//!
//!     EQUIPOISE_LOAD=1 cargo test --release --workspace --test load -- --nocapture --test-threads 1

#![expect(
    clippy::large_futures,
    clippy::format_collect,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a client of a few lines, and figures for people"
)]

mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::{
    acts::data_sets::{self, Limiting, Number, Registering},
    app, serve,
    state::State,
    store::{Opens, Role},
};
use equipoise_session::{
    ledger::Ledger,
    plan::Plan,
    request::Request,
    session::{self, Paid, Session},
};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use support::{Server, settings, steward};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The full measurements are asked for.
fn is_full() -> bool {
    std::env::var_os("EQUIPOISE_LOAD").is_some()
}

/// So many more analysts who may ask, with a token each.
fn analysts(state: &State, many: usize) -> Vec<String> {
    let one = |number: usize| {
        let name = format!("analyst {number}");
        state.store.add_member(&name, Role::Analyst).unwrap();
        data_sets::grant(state, &steward(), "pay", &name, true).unwrap();
        state.store.issue(&name, Opens::Token, "").unwrap().reveal().to_string()
    };
    (0..many).map(one).collect()
}

/// A connection that stays open.
struct Client(TcpStream, Vec<u8>);

impl Client {
    async fn new(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(stream, Vec::new()))
    }

    /// The status and the body of an answer; nothing where the server ended under it.
    async fn send(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        key: &str,
        body: &str,
    ) -> Option<(u16, String)> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
        if !key.is_empty() {
            let _ = write!(head, "idempotency-key: {key}\r\n");
        }
        if !body.is_empty() {
            let _ = write!(head, "content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        self.0.write_all(format!("{head}\r\n{body}").as_bytes()).await.ok()?;
        self.1.clear();
        let mut buffer = [0; 16 << 10];
        loop {
            let length = self.0.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
            self.1.extend_from_slice(&buffer[..length]);
            let text = String::from_utf8_lossy(&self.1);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
            if body.len() >= length.parse().ok()? {
                return Some((head.split(' ').nth(1)?.parse().ok()?, body.to_string()));
            }
        }
    }
}

async fn listening(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve::serve(listener, None, server.app.clone(), std::future::pending()));
    address
}

fn count(epsilon: &str) -> String {
    json!({ "statistic": "count", "epsilon": epsilon }).to_string()
}

fn median() -> String {
    json!({ "statistic": "median", "column": "salary", "epsilon": 1 }).to_string()
}

const QUESTIONS: &str = "/v1/data-sets/pay/questions";

/// Ask until it is granted or refused; a server that is gone or full is asked again under the same key.
async fn persists(address: impl Fn() -> SocketAddr, token: String, key: String, epsilon: String) -> u16 {
    let body = count(&epsilon);
    loop {
        if let Some(mut client) = Client::new(address()).await
            && let Some((status, _)) = client.send("POST", QUESTIONS, &token, &key, &body).await
            && status != 503
        {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_limit_under_many_analysts_is_spent_exactly() {
    let many = if is_full() { 200 } else { 40 };
    let server = Server::new();
    let tokens = analysts(&server.state, many);
    let address = listening(&server).await;
    let began = Instant::now();
    // Two questions each of a twentieth of what the limit gives to half of them.
    let price = format!("{}/{}", 5, many);
    let asked = tokens.iter().flat_map(|token| [0, 1].map(|number| (token.clone(), number)));
    let asked: Vec<_> = asked
        .map(|(token, number)| {
            tokio::spawn(persists(move || address, token, format!("key {number}"), price.clone()))
        })
        .collect();
    let mut granted = 0;
    for one in asked {
        match one.await.unwrap() {
            202 => granted += 1,
            403 => {}
            other => panic!("status {other}"),
        }
    }
    assert_eq!(granted, many, "5 of {price} each");
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    assert_eq!(ledger.balance("pay", None).unwrap().spent().eps.to_exact(), "5");
    println!(
        "{many} analysts, {} questions at once, {granted} granted: exactly the limit, in {:.1} s",
        2 * many,
        began.elapsed().as_secs_f64()
    );
}

/// The program on a directory that is there already.
struct Program(Child, SocketAddr);

impl Program {
    fn start(server: &Server) -> Self {
        let folder = server.folder.path();
        let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise-server"))
            .args(["serve", "--listen", "127.0.0.1:0", "--questions-a-minute", "100000", "--directory"])
            .arg(folder.join("server"))
            .arg("--data")
            .arg(folder.join("data"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("listening at http://").parse().unwrap();
        Self(child, address)
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_limit_holds_through_kills_and_restarts() {
    // So many charges of each that most of the kills come while there is something left.
    let (many, kills, of_each) = if is_full() { (200, 100, 20) } else { (20, 2, 2) };
    let mut server = Server::new();
    let tokens = analysts(&server.state, many);
    server.state.desk.close();
    let other = Server::new();
    server.state = other.state.clone();
    server.app = other.app.clone();
    let began = Instant::now();
    let mut program = Program::start(&server);
    let address = Arc::new(std::sync::Mutex::new(program.1));
    // Each asks again and again under new keys until the limit refuses.
    let price = format!("{}/{}", 5, of_each * many);
    let asked: Vec<_> = tokens
        .into_iter()
        .map(|token| {
            let (address, price) = (address.clone(), price.clone());
            tokio::spawn(async move {
                for number in 0.. {
                    let address = address.clone();
                    let at = move || *address.lock().unwrap();
                    match persists(at, token.clone(), format!("key {number}"), price.clone()).await {
                        // 409 and 410: charged by a try whose answer never came.
                        200 | 202 | 409 | 410 => {}
                        403 => return,
                        other => panic!("status {other}"),
                    }
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            })
        })
        .collect();
    for number in 1..=kills {
        // Answers are due after a second: some starts end before, others show some.
        let lives = Duration::from_millis(if number % 5 == 0 { 1600 } else { 400 });
        tokio::time::sleep(lives).await;
        program.kill();
        program = Program::start(&server);
        *address.lock().unwrap() = program.1;
    }
    for one in asked {
        one.await.unwrap();
    }
    program.kill();
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    let verified = ledger.verify(None).unwrap();
    assert_eq!(ledger.balance("pay", None).unwrap().spent().eps.to_exact(), "5");
    assert_eq!(verified.charges, (of_each * many) as u64);
    assert!(
        !is_full() || (verified.recorded > 0 && verified.lost > 0),
        "some starts show answers, others lose them"
    );
    println!(
        "{many} analysts, {kills} kills: {} charges, {} recorded, {} lost, exactly the limit, in {:.1} s",
        verified.charges,
        verified.recorded,
        verified.lost,
        began.elapsed().as_secs_f64()
    );
}

/// How much processor time this process has used, client and server together, in seconds.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let numbers = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system, in hundredths of a second.
    numbers.skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The same question with a price of its own: no two are equal, and nothing can be looked up.
fn priced(body: &str, number: usize) -> String {
    let mut question: Value = serde_json::from_str(body).unwrap();
    question["epsilon"] = format!("0.1{number:06}").into();
    question.to_string()
}

/// So many a second, from several connections at once.
async fn rate(address: SocketAddr, tokens: &[String], each: usize, path: &'static str, body: &str) -> f64 {
    let began = Instant::now();
    let all: Vec<_> = tokens
        .iter()
        .enumerate()
        .map(|(place, token)| {
            let (token, body) = (token.clone(), body.to_string());
            tokio::spawn(async move {
                let mut client = Client::new(address).await.unwrap();
                for number in 0..each {
                    let body = priced(&body, place * each + number);
                    let (status, text) = client.send("POST", path, &token, "", &body).await.unwrap();
                    assert_eq!(status, 200, "{text}");
                }
            })
        })
        .collect();
    for one in all {
        one.await.unwrap();
    }
    (tokens.len() * each) as f64 / began.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_many_a_second() {
    let each = if is_full() { 400 } else { 10 };
    let server = Server::new();
    let tokens = analysts(&server.state, 8);
    let address = listening(&server).await;
    for (name, body) in [
        ("count", count("0.1")),
        ("median", median()),
        ("mean", json!({ "statistic": "mean", "column": "salary", "epsilon": 1 }).to_string()),
    ] {
        let before = processor_time();
        let over_http = rate(address, &tokens, each, "/v1/data-sets/pay/plans", &body).await;
        let each_took = (processor_time() - before) * 1000.0 / (tokens.len() * each) as f64;
        println!("plans of {name} over HTTP: {over_http:.0} a second, {each_took:.2} ms of a processor each");
        let data = server.state.store.data_set("pay").unwrap();
        let (began, before) = (Instant::now(), processor_time());
        for number in 0..each {
            let request = Request::from_json(&priced(&body, 100_000 + number)).unwrap();
            let (source, ledger) = (server.state.open_data(&data).unwrap(), server.state.ledger().unwrap());
            let facts = session::facts(Some(&ledger), "pay", source.columns()).unwrap();
            let plan = Plan::new(&request, &facts).unwrap();
            let balance = ledger.balance("pay", Some("analyst 0")).unwrap();
            std::hint::black_box(plan.summary().document(Some(&balance)));
        }
        println!(
            "  the same in process, one thread: {:.0} a second, {:.2} ms of a processor each",
            each as f64 / began.elapsed().as_secs_f64(),
            (processor_time() - before) * 1000.0 / each as f64
        );
        let before = processor_time();
        for number in 0..each {
            let request = Request::from_json(&priced(&body, 200_000 + number)).unwrap();
            let columns = ["person", "salary"].map(String::from);
            let facts = session::facts(None, "pay", &columns).unwrap();
            std::hint::black_box(Plan::new(&request, &facts).unwrap());
        }
        println!(
            "  the plan alone: {:.2} ms of a processor each",
            (processor_time() - before) * 1000.0 / each as f64
        );
    }
    // Questions: taken over HTTP, and asked and recorded in process.
    let limit = Limiting {
        epsilon: Some(Number::Text("1000".into())),
        delta: Some(Number::Text("1e-5".into())),
        ..Limiting::default()
    };
    data_sets::limit(&server.state, &steward(), "pay", None, &limit).unwrap();
    let (began, mut taken) = (Instant::now(), 0);
    let rounds = if is_full() { 5 } else { 1 };
    for round in 0..rounds {
        let all: Vec<_> = tokens
            .iter()
            .flat_map(|token| (0..4).map(move |number| (token.clone(), number)))
            .map(|(token, number)| {
                let key = format!("{round} {number}");
                tokio::spawn(persists(move || address, token, key, "0.001".into()))
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap(), 202);
            taken += 1;
        }
        // Their places are free when their answers are recorded.
        tokio::time::sleep(Duration::from_millis(1100)).await;
    }
    let busy = began.elapsed().checked_sub(Duration::from_millis(1100) * rounds).unwrap();
    println!(
        "questions taken over HTTP: {:.0} a second while they are taken",
        f64::from(taken) / busy.as_secs_f64()
    );
    let data = server.state.store.data_set("pay").unwrap();
    let request = Request::from_json(&count("0.001")).unwrap();
    let began = Instant::now();
    for _ in 0..each {
        let source = server.state.open_data(&data).unwrap();
        let mut session = Session::new(server.state.ledger().unwrap(), Some("analyst 0".into())).unwrap();
        let facts = session::facts(Some(session.ledger()), "pay", source.columns()).unwrap();
        let Paid::Charged(charged) = session.charge(Plan::new(&request, &facts).unwrap(), None).unwrap()
        else {
            panic!("no key was given")
        };
        session.run(*charged, &*source).unwrap();
    }
    println!(
        "questions in process, one thread, charge to record: {:.0} a second",
        each as f64 / began.elapsed().as_secs_f64()
    );
    // Earlier counts are looked at before a median: of an analyst who has many.
    let before = processor_time();
    let over_http = rate(address, &tokens[..1], each, "/v1/data-sets/pay/plans", &median()).await;
    println!(
        "plans of median over HTTP, one connection, {each} counts before: {over_http:.0} a second, {:.2} ms of a processor each",
        (processor_time() - before) * 1000.0 / each as f64
    );
}

/// Questions about neighbouring data sets, of which one has a row that takes long to read, and about one of twenty times the rows: all
/// are answered at the same distance from their charge.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_an_answer_tells_nothing_of_the_rows() {
    let rounds = if is_full() { 100 } else { 3 };
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let rows = |many: u32| (0..many).map(|row| format!("{row},{}\n", 1000 + row % 999)).collect::<String>();
    let base = format!("person,salary\n{}", rows(20_000));
    let long = format!("{base}1,{}\n", "9".repeat(900_000));
    let large = format!("person,salary\n{}", rows(400_000));
    let names = ["base", "neighbour", "large"];
    let state = State::open(settings(&folder)).unwrap();
    state.store.add_member("ana", Role::Analyst).unwrap();
    let token = state.store.issue("ana", Opens::Token, "").unwrap().reveal().to_string();
    for (name, text) in names.into_iter().zip([base, long, large]) {
        std::fs::write(folder.path().join(format!("data/{name}.csv")), text).unwrap();
        let said =
            Registering { path: format!("{name}.csv"), answer_time: Some(1), ..Registering::default() };
        data_sets::register(&state, &steward(), name, &said).unwrap();
        let limit = Limiting { epsilon: Some(Number::Text("1000".into())), ..Limiting::default() };
        data_sets::limit(&state, &steward(), name, None, &limit).unwrap();
        data_sets::grant(&state, &steward(), name, "ana", true).unwrap();
    }
    let mut server = Server::new();
    server.app = app(state.clone());
    let server = Arc::new(server);
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds {
        let mut all = Vec::new();
        for name in names {
            let (server, token) = (server.clone(), token.clone());
            all.push(tokio::spawn(async move {
                let path = format!("/v1/data-sets/{name}/questions");
                let question: Value = json!({ "statistic": "median", "column": "salary", "epsilon": "0.01" });
                let key = format!("{name} {round}");
                let headers = [("idempotency-key", key.as_str())];
                let sent = Instant::now();
                let reply =
                    server.call_with(Method::POST, &path, Some(&token), Some(&question), &headers).await;
                assert_eq!(reply.status, StatusCode::ACCEPTED, "{}", reply.text);
                let began = Instant::now();
                let path = format!("/v1/releases/{}", reply.json()["id"].as_str().unwrap());
                tokio::time::sleep(Duration::from_millis(900)).await;
                let mut status = StatusCode::ACCEPTED;
                while status == StatusCode::ACCEPTED {
                    status = server.call(Method::GET, &path, Some(&token), None).await.status;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                // The charge is later than the request.
                assert!(sent.elapsed() >= Duration::from_secs(1), "shown too early: {:?}", sent.elapsed());
                (status, began.elapsed().as_secs_f64() * 1000.0)
            }));
        }
        for (place, one) in all.into_iter().enumerate() {
            let (status, time) = one.await.unwrap();
            assert_eq!(status, StatusCode::OK);
            times[place].push(time);
        }
    }
    for (name, times) in names.into_iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        println!(
            "{name}: {} answers, 5 % within {:.0} ms, half {:.0}, 95 % {:.0} after the charge",
            times.len(),
            at(0.05),
            at(0.5),
            at(0.95)
        );
    }
    println!(
        "largest difference of the distributions: base to neighbour {:.2}, base to large {:.2}; by chance {:.2} one time in twenty",
        apart(&times[0], &times[1]),
        apart(&times[0], &times[2]),
        1.36 * (2.0 / f64::from(rounds)).sqrt()
    );
    let scans = names.map(|name| state.desk.longest_scan(name).unwrap_or_default().as_millis());
    println!("longest scans, which only stewards see: {scans:?} ms");
}

/// The Kolmogorov distance of two sorted samples.
fn apart(one: &[f64], two: &[f64]) -> f64 {
    let below =
        |sample: &[f64], at: f64| sample.partition_point(|value| *value <= at) as f64 / sample.len() as f64;
    one.iter().chain(two).map(|at| (below(one, *at) - below(two, *at)).abs()).fold(0.0, f64::max)
}
