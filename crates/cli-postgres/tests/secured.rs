//! A server that others could listen to: the line is encrypted, its certificate is checked, and passwords come from where libpq looks.

#[path = "../../postgres/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// An authority, and a certificate of it for `localhost`; nothing, with a loud line, where there is no openssl.
fn certificates(folder: &Path) -> Option<()> {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt &&
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout server.key -out server.csr &&
        printf 'subjectAltName=DNS:localhost\\nbasicConstraints=CA:FALSE\\n' > server.ext &&
        openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt &&
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=stranger -keyout other.key -out other.crt";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).output().expect("a shell");
    if !made.status.success() {
        eprintln!("\n!! SKIPPED: openssl is not installed, and no encrypted line was tested\n");
        return None;
    }
    Some(())
}

fn count(folder: &Path, address: &str, variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"));
    command.args(["count", address, "--epsilon", "10", "--json"]).current_dir(folder).env("HOME", folder);
    for name in
        ["PGPASSWORD", "PGSSLROOTCERT", "PGPASSFILE", "PGSERVICE", "XDG_STATE_HOME", "EQUIPOISE_LEDGER"]
    {
        command.env_remove(name);
    }
    for (name, value) in variables {
        command.env(name, value);
    }
    command.output().expect("the program runs")
}

#[test]
fn a_line_is_encrypted_to_a_server_that_is_known_and_a_password_comes_from_a_file() {
    // For the user of the server, who reads the key.
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let Some(()) = certificates(folder.path()) else { return };
    fs::write(at("hba"), "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n")
        .expect("a file");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
    fs::set_permissions(at("server.key"), fs::Permissions::from_mode(0o640)).expect("permissions");
    // A key is the server's user's own, or root's and of the server's group.
    let _ = Command::new("chgrp").arg("postgres").arg(at("server.key")).output();
    let settings = [
        "ssl=on".to_string(),
        format!("ssl_cert_file={}", at("server.crt").display()),
        format!("ssl_key_file={}", at("server.key").display()),
        format!("hba_file={}", at("hba").display()),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let Some(cluster) = support::started(&settings) else { return };
    let script = "SET password_encryption = 'scram-sha-256'; CREATE ROLE reader LOGIN PASSWORD 'geheim:x';
        CREATE TABLE t AS SELECT generate_series(1, 1000) AS x; GRANT SELECT ON t TO reader";
    assert!(cluster.psql("postgres", script).status.success());
    let port = cluster.port;
    let asked = |more: &str, variables: &[(&str, &Path)]| {
        let address = format!("postgres://reader@localhost:{port}/postgres?table=t{more}");
        let output = count(folder.path(), &address, variables);
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(!said.contains("geheim"), "{said}");
        (output.status.code().expect("no signal"), said)
    };
    let known = format!("&sslmode=verify-full&sslrootcert={}", at("ca.crt").display());
    let (code, said) = asked(&known, &[]);
    assert!(code == 2 && said.contains("the server does not let this role in"), "{said}");
    fs::write(at(".pgpass"), format!("localhost:{port}:*:reader:geheim\\:x\n")).expect("a file");
    let (code, said) = asked(&known, &[]);
    assert!(code == 2 && said.contains("does not let this role in"), "a file that others may read: {said}");
    fs::set_permissions(at(".pgpass"), fs::Permissions::from_mode(0o600)).expect("permissions");
    assert_eq!(asked(&known, &[]), (0, String::new()));
    assert_eq!(asked("&sslmode=verify-full", &[("PGSSLROOTCERT", &at("ca.crt"))]), (0, String::new()));
    // Somebody else's authority, no authority, and a name that the certificate does not have.
    let stranger = format!("&sslmode=verify-full&sslrootcert={}", at("other.crt").display());
    for more in [stranger.as_str(), "&sslmode=verify-full"] {
        let (code, said) = asked(more, &[]);
        assert!(
            code == 2 && said.contains("no encrypted line to a server whose certificate can be trusted"),
            "{said}"
        );
    }
    let address = format!("postgres://reader@127.0.0.1:{port}/postgres?table=t{known}");
    let output = count(folder.path(), &address, &[]);
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("no encrypted line to a server whose certificate can be trusted"), "{said}");
    // The server takes encrypted lines only.
    let (code, said) = asked("&sslmode=disable", &[]);
    assert!(code == 2 && said.contains("does not let this role in"), "{said}");
    let ledger = fs::read(at(".local/state/equipoise/equipoise.ledger")).expect("the user's ledger");
    assert!(!ledger.windows(6).any(|bytes| bytes == b"geheim" || bytes == b"reader"), "no role, no password");
}
