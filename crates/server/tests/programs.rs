//! Programs that a steward allows by name: who may what, what they may be made of, and that their answers are charged, timed and
//! recorded as any.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_session::ledger::Ledger;
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    time::{Duration, Instant},
};
use support::{Reply, Server};

/// Prints the number of a block's rows, and no number of a block without any.
const ROWS: &str = "n=$(tail -n +2 | wc -l)\n[ \"$n\" -gt 0 ] && echo $n\n";

fn server() -> Server {
    let server = Server::new();
    put_file(&server, "rows.sh", ROWS);
    server
}

fn put_file(server: &Server, name: &str, text: &str) {
    let path = server.folder.path().join("programs").join(name);
    fs::write(&path, text).unwrap();
    // Run by root, a program is nobody.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
}

fn rows() -> Value {
    json!({
        "command": ["sh", "rows.sh"], "output": "number", "range": "0,1000", "default": 0, "blocks": 8, "block_time": 0.3,
        "processes": 4,
    })
}

async fn put(server: &Server, member: &str, name: &str, said: &Value) -> Reply {
    server.call(Method::PUT, &format!("/v1/data-sets/pay/programs/{name}"), Some(member), Some(said)).await
}

/// Where the machine forbids sandboxes there is nothing to try; that it says so is looked at in any case.
async fn allowed(server: &Server) -> bool {
    let reply = put(server, "sam", "rows", &rows()).await;
    if reply.status == StatusCode::BAD_REQUEST && reply.text.contains("sandbox cannot be built") {
        eprintln!("no sandbox can be built here: {}", reply.text);
        return false;
    }
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text);
    assert_eq!(reply.json()["without_rows"], "gives no answer");
    true
}

#[tokio::test]
async fn a_program_is_planned_charged_timed_and_recorded_as_any_question() {
    let server = server();
    if !allowed(&server).await {
        return;
    }
    let question = json!({ "program": "rows", "epsilon": "1" });
    let plan =
        server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&question)).await.json();
    assert_eq!((&plan["statistic"], &plan["charge"]["epsilon"]), (&json!("program"), &json!("1")));
    assert_eq!(plan["mechanism"], "subsample, programs confined");
    assert_eq!(plan["more_like_it"], 4);
    let seconds = plan["answer_time"].as_u64().unwrap();
    let began = Instant::now();
    let accepted = server.ask("ana", "monday", &question).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{}", accepted.text);
    let accepted = accepted.json();
    assert_eq!(accepted["answer_time"].as_u64(), Some(seconds), "as its plan says");
    let id = accepted["id"].as_str().unwrap();
    // Before its time it is nothing but its time, and there is one program at a time.
    assert_eq!(server.get(&format!("/v1/releases/{id}"), "ana").await.status, StatusCode::ACCEPTED);
    let again = server.ask("ana", "monday", &question).await;
    assert_eq!((again.status, &again.json()["id"]), (StatusCode::CONFLICT, &json!(id)));
    let other = server.ask("ana", "tuesday", &question).await;
    assert_eq!(other.status, StatusCode::SERVICE_UNAVAILABLE, "{}", other.text);
    assert!(other.text.contains("another program runs") && !other.header("retry-after").is_empty());
    // Other questions go on beside it.
    let count = json!({ "statistic": "count", "epsilon": "0.1" });
    assert_eq!(server.ask("ana", "count", &count).await.status, StatusCode::ACCEPTED);
    let release = server.release("ana", id).await;
    assert_eq!(release.status, StatusCode::OK, "{}", release.text);
    assert!(began.elapsed() >= Duration::from_secs(seconds), "shown too early: {:?}", began.elapsed());
    let release = release.json();
    assert_eq!(release["statistic"], "program");
    // 2,000 rows in 8 blocks; the mean of a range of 1,000 over 8 blocks at epsilon 1 is off by some hundreds.
    assert!(release["value"].is_number() && release["blocks"]["count"] == 8, "{release}");
    let (charged, recorded) = times(&server, id);
    assert_eq!(recorded - charged, seconds, "the scheduled time is the one that is written down");
    // Asked again under its key it is given again, and the next program has its turn.
    let again = server.ask("ana", "monday", &question).await;
    assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &json!(id)));
    let explained = server.get(&format!("/v1/releases/{id}/explanation"), "ana").await;
    assert_eq!(explained.status, StatusCode::OK, "{}", explained.text);
    let folder = server.folder.path().to_string_lossy().into_owned();
    assert!(!explained.text.contains(&folder) && !release.to_string().contains(&folder), "where files lie");
    assert_eq!(server.get(&format!("/v1/releases/{id}/picture.svg"), "ana").await.status, StatusCode::OK);
    let page = server.get(&format!("/answers/{id}"), "ana").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    let offered =
        server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&question)).await.json();
    assert_eq!(offered["answered"]["id"], json!(id), "already answered, free");
}

/// The seconds of a charge and of its record, as the ledger has them.
fn times(server: &Server, id: &str) -> (u64, u64) {
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    let (entry, recorded) = ledger.find(id).unwrap().unwrap();
    let seconds = |time: &str| -> u64 {
        let parts: Vec<u64> = time[11..19].split(':').map(|part| part.parse().unwrap()).collect();
        let day: u64 = time[8..10].parse().unwrap();
        ((day * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
    };
    (seconds(&entry.time), seconds(&recorded.unwrap().receipt.time))
}

#[tokio::test]
async fn only_what_a_steward_allows_runs_and_only_as_it_was() {
    let server = server();
    let question = json!({ "program": "rows", "epsilon": "1" });
    let unknown = server.ask("ana", "none", &question).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert!(unknown.text.contains("no program 'rows'"), "{}", unknown.text);
    // What an analyst may not say is not taken from them.
    for more in ["command", "range", "block_time", "shows"] {
        let mut said = question.clone();
        said[more] = json!("x");
        assert_eq!(server.ask("ana", "more", &said).await.status, StatusCode::BAD_REQUEST, "{more}");
    }
    if !allowed(&server).await {
        return;
    }
    // Analysts see what it answers with, and not what it is.
    let seen = server.get("/v1/data-sets/pay", "ana").await;
    assert_eq!(seen.json()["programs"][0]["name"], "rows");
    assert!(!seen.text.contains("rows.sh"), "{}", seen.text);
    let seen = server.get("/v1/data-sets/pay", "sam").await;
    assert_eq!(seen.json()["programs"][0]["command"], json!(["sh", "rows.sh"]));
    // Registering the data anew keeps it.
    let anew =
        server.call(Method::PUT, "/v1/data-sets/pay", Some("sam"), Some(&json!({ "path": "pay.csv" }))).await;
    assert_eq!(anew.json()["programs"][0]["name"], "rows");
    // A file that was changed is another program.
    put_file(&server, "rows.sh", "cat >/dev/null; echo 7\n");
    let changed = server.ask("ana", "changed", &question).await;
    assert_eq!(changed.status, StatusCode::CONFLICT, "{}", changed.text);
    assert!(changed.text.contains("not as they were when it was allowed"));
    fs::remove_file(server.folder.path().join("programs/rows.sh")).unwrap();
    assert_eq!(server.ask("ana", "gone", &question).await.status, StatusCode::CONFLICT);
    let removed = server.call(Method::DELETE, "/v1/data-sets/pay/programs/rows", Some("sam"), None).await;
    assert_eq!((removed.status, &removed.json()["programs"]), (StatusCode::OK, &json!([])));
    assert_eq!(server.ask("ana", "removed", &question).await.status, StatusCode::BAD_REQUEST);
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    assert_eq!(ledger.verify(None).unwrap().charges, 0, "none of this was charged");
    let entries = server.get("/v1/ledger/entries", "rita").await.text;
    assert!(entries.contains("allowed the program 'rows'") && entries.contains("is allowed no more"));
}

/// A steward of data is not whoever runs the machine: only files of the folders of programs are shown to programs, and never data.
#[tokio::test]
async fn programs_are_made_of_files_of_their_folders_alone() {
    let server = server();
    let folder = server.folder.path();
    fs::write(folder.join("secret.txt"), "a key").unwrap();
    for (name, to) in [
        ("out", folder.join("secret.txt")),
        ("members", folder.join("server/members.json")),
        ("data", folder.join("data/pay.csv")),
    ] {
        symlink(to, folder.join("programs").join(name)).unwrap();
    }
    let absolute = |path: &str| folder.join(path).to_string_lossy().into_owned();
    for (words, said) in [
        (vec!["cat".to_string(), absolute("secret.txt")], "outside of the folders of programs"),
        (vec!["cat".to_string(), absolute("server/members.json")], "outside of the folders of programs"),
        (vec!["cat".to_string(), absolute("data/pay.csv")], "outside of the folders of programs"),
        (vec!["cat".to_string(), "out".to_string()], "leads out of"),
        (vec!["cat".to_string(), "members".to_string()], "leads out of"),
        (vec!["cat".to_string(), "data".to_string()], "leads out of"),
        (vec!["cat".to_string(), "Cargo.toml".to_string()], "outside of the folders of programs"),
        (vec![absolute("secret.txt")], "not in a folder of programs"),
        (vec!["../secret.txt".to_string()], "not in a folder of programs"),
        (vec!["/bin/sh".to_string()], "not in a folder of programs"),
        (vec!["no-such-program-anywhere".to_string()], "no program 'no-such-program-anywhere'"),
        (vec![], "1 to 100 words"),
        (vec!["a\0b".to_string()], "word of a command"),
    ] {
        let mut allowing = rows();
        allowing["command"] = json!(words);
        let reply = put(&server, "sam", "rows", &allowing).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{words:?}: {}", reply.text);
        assert!(reply.text.contains(said), "{words:?}: {}", reply.text);
    }
    for shown in ["../server", "/etc", "out", ".."] {
        let mut allowing = rows();
        allowing["shows"] = json!([shown]);
        let reply = put(&server, "sam", "rows", &allowing).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{shown}: {}", reply.text);
    }
    for (name, value) in [
        ("block_time", json!(0)),
        ("block_time", json!(1e9)),
        ("memory", json!(0)),
        ("processes", json!(1_000_000)),
        ("blocks", json!(1_000_000)),
        ("input", json!("xml")),
        ("output", json!("rows")),
        ("range", json!("5,1")),
        ("unsafe_no_sandbox", json!(true)),
    ] {
        let mut allowing = rows();
        allowing[name] = value.clone();
        let reply = put(&server, "sam", "rows", &allowing).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{name} {value}: {}", reply.text);
    }
    for name in ["Rows", "a%2Fb", "%3Cb%3E", &"a".repeat(65)] {
        assert_eq!(put(&server, "sam", name, &rows()).await.status, StatusCode::BAD_REQUEST, "{name}");
    }
    assert!(server.state.store.data_set("pay").unwrap().programs.is_empty());
}

/// What a program reads of the machine is not what others have there: it answers with what it sees, and sees no data.
#[tokio::test]
async fn a_hostile_program_sees_neither_data_nor_ledger_nor_members() {
    let server = server();
    let folder = server.folder.path().to_string_lossy().into_owned();
    let spy = format!("cat >/dev/null; ls {folder}/data {folder}/server 2>/dev/null | wc -l\n");
    put_file(&server, "spy.sh", &spy);
    let mut spying = rows();
    spying["command"] = json!(["sh", "spy.sh"]);
    spying["output"] = json!("label");
    spying["range"] = Value::Null;
    spying["default"] = Value::Null;
    spying["blocks"] = json!(60);
    let reply = put(&server, "sam", "spy", &spying).await;
    if reply.text.contains("sandbox cannot be built") {
        return;
    }
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text);
    let limit = json!({ "epsilon": 100, "delta": "1e-3" });
    server.call(Method::PUT, "/v1/data-sets/pay/limits", Some("sam"), Some(&limit)).await;
    let question = json!({ "program": "spy", "epsilon": 20, "delta": "1e-4" });
    let accepted = server.ask("ana", "spy", &question).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{}", accepted.text);
    let id = accepted.json()["id"].as_str().unwrap().to_string();
    for _ in 0..120 {
        let reply = server.get(&format!("/v1/releases/{id}"), "ana").await;
        if reply.status == StatusCode::OK {
            // Blocks that ran out of time on a busy machine give no answer, and there may be no release.
            let release = reply.json();
            assert!(release["value"] == "0" || release["outcome"] == "refused", "{release}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("the release did not come");
}

#[tokio::test]
async fn a_server_without_a_folder_of_programs_runs_none() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/pay.csv"), "person,salary\n1,2\n").unwrap();
    let settings = equipoise_server::state::Settings { programs: Vec::new(), ..support::settings(&folder) };
    let state = equipoise_server::state::State::open(settings).unwrap();
    let said =
        equipoise_server::acts::data_sets::Registering { path: "pay.csv".into(), ..Default::default() };
    equipoise_server::acts::data_sets::register(&state, &support::steward(), "pay", &said).unwrap();
    let allowing = serde_json::from_value(rows()).unwrap();
    let refused =
        equipoise_server::acts::programs::put(&state, &support::steward(), "pay", "rows", &allowing)
            .unwrap_err();
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.detail.contains("--programs"), "{}", refused.detail);
}
