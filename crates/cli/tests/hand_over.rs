//! The program becomes the one that reads tables of Postgres where a word has the address of one, and the one that joins tables where a query
//! is about several, or says how to build them.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command, sync::Mutex};

/// One test at a time writes a program and starts it: a child that another test starts meanwhile would hold the file open for writing, and
/// it could not be run ("text file busy").
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn tables_of_postgres_are_left_to_the_program_that_reads_them() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    // Away from the folder in which everything is built: the other program may be there.
    let program = folder.path().join("equipoise");
    fs::copy(env!("CARGO_BIN_EXE_equipoise"), &program).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(&program);
        let output = command
            .args(words)
            .env("PATH", &elsewhere)
            .env("HOME", folder.path())
            .env_remove("XDG_STATE_HOME")
            .current_dir(&elsewhere)
            .output();
        let output = output.unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let count = ["count", "postgres://ann@h/d?table=t", "--epsilon", "1"];
    let (code, _, said) = run(&count);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(
        said,
        "equipoise: 'postgres://h/d?table=public.t': tables of Postgres are read by 'equipoise-postgres', which is not installed \
         beside this program or on PATH; build it with 'cargo install --path crates/cli-postgres' in the source of equipoise\n"
    );
    let secret = ["count", "postgres://ann:secret@h/d?table=t", "--epsilon", "1"];
    let (code, _, said) = run(&secret);
    assert!(
        code == Some(2) && said.contains("an address takes no password") && !said.contains("secret"),
        "{said}"
    );
    // A ledger there is left to it as well.
    fs::write(elsewhere.join("a.csv"), "x\n1\n").unwrap();
    let ledger = ["count", "a.csv", "--epsilon", "1", "--ledger", "postgres://ann@h/d"];
    let (code, _, said) = run(&ledger);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(
        said,
        "equipoise: ledger postgres://..: a ledger on a server is kept by 'equipoise-postgres', which is not installed beside this \
         program or on PATH; build it with 'cargo install --path crates/cli-postgres' in the source of equipoise; nothing was charged\n"
    );
    let other = elsewhere.join("equipoise-postgres");
    fs::write(&other, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let sql = "SELECT COUNT(*) FROM 'PostgreSQL://h/d?table=t'";
    for words in [&count[..], &ledger, &["sql", sql]] {
        let (code, said, _) = run(words);
        assert_eq!((code, said.trim_end()), (Some(7), &*words.join(" ")));
    }
    // Everything else is answered here.
    assert_eq!(run(&["calibrate", "--help"]).0, Some(0));
    assert!(!Path::new(&elsewhere.join("equipoise.ledger")).exists());
}

#[test]
fn queries_about_several_tables_are_left_to_the_program_that_joins_them() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("equipoise");
    fs::copy(env!("CARGO_BIN_EXE_equipoise"), &program).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("a.csv"), "id,x\n1,2\n").unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(&program);
        let output = command.args(words).env("PATH", &elsewhere).current_dir(&elsewhere).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let join = ["sql", "SELECT COUNT(*) FROM a.csv JOIN b.csv ON a.id = b.id", "--epsilon", "1"];
    let (code, _, said) = run(&join);
    assert_eq!(code, Some(2));
    assert_eq!(
        said,
        "equipoise: line 1, column 28: a join is not accepted: a query here is one SELECT about one table; joins, subqueries and set \
         operations are for the program equipoise-sql; where it is not installed, build it with 'cargo install --path \
         sql/equipoise-sql' in the source of equipoise\n"
    );
    let other = elsewhere.join("equipoise-sql");
    fs::write(&other, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let with = ["sql", "WITH b AS (SELECT * FROM a.csv) SELECT COUNT(*) FROM b", "--epsilon", "1"];
    for words in [&join[..], &with[..]] {
        let (code, said, _) = run(words);
        assert_eq!((code, said.trim_end()), (Some(7), &*words.join(" ")));
    }
    // One table is answered here.
    assert_eq!(run(&["sql", "SELECT COUNT(*) FROM a.csv", "--epsilon", "1"]).0, Some(0));
}

#[test]
fn members_of_a_cluster_are_the_program_that_joins_tables() {
    let folder = tempfile::tempdir().unwrap();
    // Away from the folder in which everything is built: the other program may be there.
    let program = folder.path().join("equipoise");
    fs::copy(env!("CARGO_BIN_EXE_equipoise"), &program).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new(&program).args(words).env("PATH", "").current_dir(folder.path()).output();
        let output = output.unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let words = ["cluster", "executor", "--listen", "127.0.0.1:0", "--help"];
    let (code, _, said) = run(&words);
    assert!(code == Some(2) && said.contains("'cargo install --path sql/equipoise-sql'"), "{said}");
    let member = folder.path().join("equipoise-sql");
    fs::write(&member, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&member, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said, _) = run(&words);
    assert_eq!((code, said.as_str()), (Some(7), "cluster executor --listen 127.0.0.1:0 --help\n"));
    // A query about one table is nobody's but this program's.
    fs::write(folder.path().join("a.csv"), "x\n1\n").unwrap();
    let query = ["sql", "--cluster", "127.0.0.1:50050", "SELECT COUNT(*) FROM 'a.csv'", "--epsilon", "1"];
    let (code, _, said) = run(&query);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(said, "equipoise: a query about one table is answered on this host; leave --cluster out\n");
}
