//! A ledger that was put back from an older copy: recognised by what clients and files of heads saw, read-only until a steward accounts
//! for what is missing; and backups that are put back by the command for it.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::{
    app, backup,
    sink::Sink,
    state::{Settings, State},
    store::{self, Opens, Role},
};
use equipoise_session::ledger::Ledger;
use serde_json::{Value, json};
use std::{fs, os::unix::net::UnixDatagram, path::Path, sync::Arc, time::Duration};
use support::{Server, settings};

fn count(epsilon: &str) -> Value {
    json!({ "statistic": "count", "epsilon": epsilon })
}

/// End a server and open its directory again, with other settings.
async fn reopened(mut server: Server, change: impl Fn(&mut Settings), between: impl FnOnce(&Path)) -> Server {
    server.state.desk.close();
    let other = Server::new();
    server.state = other.state.clone();
    server.app = other.app.clone();
    let folder = server.folder.path().join("server");
    // Until the server that ended has let go of its files.
    while store::lock(&folder).is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    between(&folder);
    let mut settings = settings(&server.folder);
    change(&mut settings);
    let state = loop {
        // Threads of the server that ended may still hold the directory.
        match State::open(settings.clone()) {
            Ok(state) => break state,
            Err(line) if line.contains("another server") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(line) => panic!("{line}"),
        }
    };
    server.state = state.clone();
    server.app = app(state);
    server
}

/// Put an older copy of the ledger in the place of the one that is there.
fn put_back(folder: &Path, copy: &Path) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("equipoise.ledger{ending}")));
    }
    fs::copy(copy, folder.join("equipoise.ledger")).unwrap();
}

async fn with_witness(server: &Server, member: &str, witness: &str) -> StatusCode {
    let headers = [("equipoise-witness", witness)];
    server.call_with(Method::GET, "/v1/me", Some(member), None, &headers).await.status
}

#[tokio::test]
async fn a_witness_makes_an_older_copy_read_only_until_it_is_accounted_for() {
    let server = Server::new();
    let copy = server.folder.path().join("copy");
    Ledger::open_read_only(&server.ledger()).unwrap().back_up(&copy).unwrap();
    let asked = server.ask("ana", "k", &count("0.5")).await;
    let charged = asked.header("equipoise-witness").to_string();
    let id = asked.json()["id"].as_str().unwrap().to_string();
    let release = server.release("ana", &id).await;
    let recorded = release.header("equipoise-witness").to_string();
    assert!(charged != recorded && charged.len() > 100 && recorded.len() > 100);
    // Shown again, both say nothing new; and what nobody has made says nothing at all.
    for witness in [&charged, &recorded, &recorded.replace(&id, &"0".repeat(32)), "x", ""] {
        assert_eq!(with_witness(&server, "ana", witness).await, StatusCode::OK);
        assert!(!server.state.rollback.is_found(), "{witness}");
    }
    assert!(server.state.rollback.agreed_ago().is_some_and(|ago| ago < 10));
    let server = reopened(server, |_| {}, |folder| put_back(folder, &copy)).await;
    assert!(!server.state.rollback.is_found(), "nobody can know yet");
    // Nobody who is no member is heeded.
    let nobody = [("equipoise-witness", recorded.as_str())];
    server.call_with(Method::GET, "/v1/data-sets", None, None, &nobody).await;
    assert!(!server.state.rollback.is_found());
    assert_eq!(with_witness(&server, "ana", &charged).await, StatusCode::OK);
    assert!(server.state.rollback.is_found());
    read_only(&server).await;
    // A restart changes nothing about that.
    let server = reopened(server, |_| {}, |_| {}).await;
    read_only(&server).await;
    let settled = server.call(Method::POST, "/v1/ledger/restored", Some("sam"), Some(&json!({}))).await;
    assert_eq!(settled.status, StatusCode::OK, "{}", settled.text);
    let over = server.ask("ana", "k2", &count("0.001")).await;
    assert_eq!((over.status.as_u16(), &over.json()["exit"]), (403, &json!(4)), "every limit counts as spent");
    // What was missing is counted, so the old witness is no news; the data can be asked about again under a higher limit.
    assert_eq!(with_witness(&server, "ana", &recorded).await, StatusCode::OK);
    assert!(!server.state.rollback.is_found());
    let limits = "/v1/data-sets/pay/limits";
    server.call(Method::PUT, limits, Some("sam"), Some(&json!({ "epsilon": 6, "delta": "1e-5" }))).await;
    assert_eq!(server.ask("ana", "k3", &count("1")).await.status, StatusCode::ACCEPTED);
    assert_eq!(server.ask("ana", "k4", &count("0.001")).await.status, StatusCode::FORBIDDEN);
    let verified = server.call(Method::POST, "/v1/ledger/verify", Some("rita"), Some(&json!({}))).await;
    assert_eq!(verified.status, StatusCode::OK, "{}", verified.text);
}

/// Nothing is written; what only reads goes on.
async fn read_only(server: &Server) {
    let head = Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap();
    let limit = json!({ "epsilon": 100 });
    let path = json!({ "path": "pay.csv" });
    let monitor = json!({ "data_set": "pay", "epsilon": "0.1", "delta": "1e-7", "budget_per_unit": 1 });
    for (method, address, member, body) in [
        (Method::POST, "/v1/data-sets/pay/questions", "ana", Some(count("0.1"))),
        (Method::POST, "/v1/monitors", "ana", Some(monitor)),
        (Method::PUT, "/v1/data-sets/pay/limits", "sam", Some(limit.clone())),
        (Method::PUT, "/v1/data-sets/pay/limits/ana", "sam", Some(limit)),
        (Method::PUT, "/v1/data-sets/pay/grants/bob", "sam", None),
        (Method::PUT, "/v1/data-sets/other", "sam", Some(path)),
        (Method::PUT, "/v1/data-sets/pay/answer-time", "sam", Some(json!({ "seconds": 3 }))),
        (Method::PUT, "/v1/data-sets/pay/sharing", "sam", Some(json!({ "shared": true }))),
    ] {
        let key = [("idempotency-key", "read-only")];
        let reply = server.call_with(method, address, Some(member), body.as_ref(), &key).await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{address}: {}", reply.text);
        assert!(reply.text.contains("an older copy"), "{}", reply.text);
    }
    let plan = server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&count("0.1"))).await;
    assert_eq!(plan.status, StatusCode::OK);
    let seen = server.get("/v1/ledger/head", "rita").await.json();
    assert_eq!((&seen["read_only"], &seen["entries"]), (&json!(true), &json!(head.entries)));
}

#[tokio::test]
async fn files_of_heads_and_the_systems_log_have_every_commit_and_show_an_older_copy() {
    let server = Server::new();
    let folder = server.folder.path().to_path_buf();
    let (heads, socket) = (folder.join("heads"), folder.join("log"));
    let log = UnixDatagram::bind(&socket).unwrap();
    log.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let follow = |settings: &mut Settings| {
        settings.heads = vec![Sink::File(heads.clone()), Sink::Syslog(socket.clone())];
    };
    let server = reopened(server, follow, |_| {}).await;
    let copy = folder.join("copy");
    Ledger::open_read_only(&server.ledger()).unwrap().back_up(&copy).unwrap();
    let id = server.ask("ana", "k", &count("0.5")).await.json()["id"].as_str().unwrap().to_string();
    server.release("ana", &id).await;
    let head = Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap();
    let text = fs::read_to_string(&heads).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The one at the start, the files of the data, the charge, the record: each entry that was the last of a commit.
    assert!(lines.len() >= 3 && lines.last().unwrap().ends_with(&head.to_string()), "{text}");
    let mut logged = Vec::new();
    let mut buffer = [0; 400];
    for _ in 0..lines.len() {
        let length = log.recv(&mut buffer).unwrap();
        logged.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
    }
    assert!(logged.iter().all(|line| line.starts_with("<133>equipoise-server: head ")), "{logged:?}");
    assert!(logged.last().unwrap().ends_with(&head.to_string()));
    // What a crash cut off is no head, and the ones before it count.
    fs::write(&heads, format!("{text}2026-01-01T00:00:00Z cut off")).unwrap();
    let server = reopened(server, follow, |_| {}).await;
    assert!(!server.state.rollback.is_found());
    let server = reopened(server, follow, |folder| put_back(folder, &copy)).await;
    assert!(server.state.rollback.is_found(), "at the start, before anybody asks");
    read_only(&server).await;
    let bound = json!({ "epsilon": "0.5" });
    let settled = server.call(Method::POST, "/v1/ledger/restored", Some("sam"), Some(&bound)).await;
    assert_eq!(settled.status, StatusCode::OK, "{}", settled.text);
    let seen = server.get("/v1/data-sets/pay", "ana").await.json();
    assert_eq!((&seen["spent"]["epsilon"], &seen["remaining"]["epsilon"]), (&json!("0.5"), &json!("4.5")));
    let server = reopened(server, follow, |_| {}).await;
    assert!(!server.state.rollback.is_found(), "the last head is the one of the ledger again");
    // A file of another ledger is none of this one.
    fs::write(&heads, format!("2026-01-01T00:00:00Z {} 7 {}\n", "a".repeat(32), "b".repeat(64))).unwrap();
    let error = Sink::File(heads).last().unwrap().unwrap();
    assert_eq!(error.entries, 7);
}

#[tokio::test]
async fn a_backup_is_put_back_with_the_server_stopped_and_the_ledger_says_so() {
    let server = Server::new();
    let folder = server.folder.path().to_path_buf();
    let first = server.ask("ana", "k", &count("0.5")).await.json()["id"].as_str().unwrap().to_string();
    server.release("ana", &first).await;
    let members = &server.state.store;
    let link = members.issue("sam", Opens::Invitation, "").unwrap().reveal().to_string();
    let kept = folder.join("backup");
    let head = backup::back_up(&folder.join("server"), &kept).unwrap();
    assert!(backup::back_up(&folder.join("server"), &kept).is_err(), "nothing is overwritten");
    let second = server.ask("ana", "k2", &count("0.25")).await.json()["id"].as_str().unwrap().to_string();
    let witness = server.release("ana", &second).await.header("equipoise-witness").to_string();
    // Since the backup: a link is used, a member comes, another is removed, a third one's tokens end.
    members.sign_in(&link).unwrap();
    members.add_member("eve", Role::Analyst).unwrap();
    members.remove_member("olga").unwrap();
    members.end_tokens("bob").unwrap();
    // A file of heads has what the copy lacks, and then what was put back.
    let heads = Sink::File(folder.join("heads"));
    drop(heads.follow(Some(&Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap())).unwrap());
    let directory = folder.join("server");
    let in_use = backup::restore(&directory, &kept, "sam", None).unwrap_err();
    assert!(in_use.contains("another server"), "{in_use}");
    let between = |directory: &Path| {
        let whole = loop {
            match backup::restore(directory, &kept, "sam", None) {
                Err(line) if line.contains("another server") => std::thread::sleep(Duration::from_millis(20)),
                other => break other.unwrap_err(),
            }
        };
        assert!(whole.contains("nothing is to be put back"), "{whole}");
        // The disk is gone.
        fs::write(directory.join("equipoise.ledger"), "").unwrap();
        let bound = equipoise_server::acts::review::bound(Some("0.25"), None).unwrap();
        let now = backup::restore(directory, &kept, "sam", bound.as_ref()).unwrap();
        assert!(now.entries > head.entries && now.ledger == head.ledger);
        drop(heads.follow(Some(&now)).unwrap());
    };
    let server = reopened(server, |settings| settings.heads = vec![heads.clone()], between).await;
    // Nobody comes in who was put out since.
    let members = &server.state.store;
    assert!(members.sign_in(&link).is_err(), "a link signs in once");
    for member in ["olga", "bob"] {
        assert_eq!(server.get("/v1/me", member).await.status, StatusCode::UNAUTHORIZED, "{member}");
    }
    assert!(members.add_member("eve", Role::Analyst).is_err(), "a name is given once");
    // The others are those of the backup, and what was shown since is counted.
    let seen = server.get("/v1/data-sets/pay", "ana").await.json();
    assert_eq!(seen["spent"]["epsilon"], "0.75");
    assert_eq!(with_witness(&server, "ana", &witness).await, StatusCode::OK);
    assert!(!server.state.rollback.is_found(), "what is missing was accounted for");
    assert_eq!(server.release("ana", &first).await.status, StatusCode::OK);
    assert_eq!(server.get(&format!("/v1/releases/{second}"), "ana").await.status, StatusCode::NOT_FOUND);
    let entries = server.get("/v1/ledger/entries?after=0", "rita").await.text;
    assert!(entries.contains("\"restored\"") && entries.contains("\"gap\""), "{entries}");
}

/// A ledger that is no copy at all, but another: members do not go with it.
#[tokio::test]
async fn a_ledger_that_was_removed_is_not_begun_anew() {
    let server = Server::new();
    let directory = server.folder.path().join("server");
    let settings = settings(&server.folder);
    server.state.desk.close();
    let Server { folder, state, app, .. } = server;
    drop((state, app));
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(directory.join(format!("equipoise.ledger{ending}")));
    }
    let line = loop {
        match State::open(settings.clone()).map(|state: Arc<State>| state.began) {
            Err(line) if line.contains("another server") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => break other.unwrap_err(),
        }
    };
    assert!(line.contains("removed or replaced"), "{line}");
    drop(folder);
}
