//! `equipoise serve` hands over to the server, with everything that was typed, or says how to build it.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

#[test]
fn the_server_is_found_beside_the_program_or_on_the_path_and_given_every_word() {
    let folder = tempfile::tempdir().unwrap();
    // Away from the folder in which everything is built: the server may be there.
    let program = folder.path().join("equipoise");
    fs::copy(env!("CARGO_BIN_EXE_equipoise"), &program).unwrap();
    let run = |path: &std::path::Path| {
        let words = ["serve", "--demo", "--listen", "127.0.0.1:0", "--help"];
        let output = Command::new(&program).args(words).env("PATH", path).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let (code, _, said) = run(&elsewhere);
    assert!(code == Some(2) && said.contains("'cargo install --path crates/server'"), "{said}");
    for (place, name) in [(&elsewhere, "path"), (&folder.path().to_path_buf(), "beside")] {
        let server = place.join("equipoise-server");
        fs::write(&server, format!("#!/bin/sh\necho {name} \"$@\"\nexit 7\n")).unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        let (code, said, _) = run(&elsewhere);
        assert_eq!(
            (code, said.as_str()),
            (Some(7), &*format!("{name} serve --demo --listen 127.0.0.1:0 --help\n"))
        );
    }
}
