//! What is changed, what is left alone, and that both stand in one text.

use crate::{points, rewrite::rewrite};

const TEXT: &str = r#"//! A file.
const SIZE: usize = 3 + 4;

fn check(spent: u64, limit: u64) -> Result<(), String> {
    if spent > limit && limit != 7 {
        return Err(format!("{} left", limit - 1));
    }
    note(spent);
    if let Some(one) = found(spent) && one < 2 {
        grow(one);
    }
    Ok(())
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut Formatter) -> Result { write(f, self.0 + 1) }
}

#[cfg(test)]
mod tests {
    fn unseen(a: u8) -> bool { a == 1 }
}
"#;

fn changes() -> Vec<String> {
    points::find(TEXT).unwrap().0.into_iter().map(|point| point.change).collect()
}

#[test]
fn each_kind_of_change_is_found_and_nothing_in_constants_words_or_tests() {
    let expected = [
        "always Ok(())",
        "`if spent > limit && limit != 7` never",
        "`&&` to `||` in `spent > limit && limit != 7`",
        "`>` to `>=` in `spent > limit`",
        "`!=` to `==` in `limit != 7`",
        "`7` to `8`",
        "`note(spent);` left out",
        "`<` to `<=` in `one < 2`",
        "`2` to `3`",
        "`grow(one);` left out",
    ];
    assert_eq!(changes(), expected);
}

#[test]
fn modules_of_tests_in_other_files_are_told() {
    let text = "#[cfg(test)]\nmod audits;\nmod kept;\n#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n";
    assert_eq!(points::find(text).unwrap().1, ["audits", "../x_tests"]);
}

#[test]
fn all_changes_stand_in_one_text_that_parses() {
    let (found, _) = points::find(TEXT).unwrap();
    let numbered: Vec<_> = found.iter().enumerate().collect();
    let written = rewrite(TEXT, &numbered);
    syn::parse_file(&written.text).unwrap();
    assert_eq!(written.text.matches("equipoise_mutant::on(").count(), found.len());
    for (number, range) in &written.changed {
        assert_eq!(written.text[range.clone()], found[*number].changed);
    }
    // Without its questions the text is what it was.
    assert_eq!(rewrite(TEXT, &[]).text, TEXT);
    assert!(written.text.contains("format!(\"{} left\", limit - 1)"));
}

/// A sandbox that is changed lets real fork bombs loose on whoever looks for mutants.
#[test]
fn the_sandbox_is_never_changed_and_hostile_programs_never_run_on_changed_lines() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = crate::tree::changed_files(root, &crate::FOLDERS, &crate::UNTOUCHED).unwrap();
    assert!(files.iter().any(|file| file == "crates/runner/src/program.rs"));
    assert!(!files.iter().any(|file| file.starts_with("crates/runner/src/sandbox")), "{files:?}");
    assert!(root.join("crates/runner/src/sandbox/inside.rs").is_file(), "where the limits are set");
    for (krate, name) in crate::HOSTILE {
        assert!(root.join(format!("crates/{krate}/tests/{name}.rs")).is_file(), "{krate} {name}");
        let program = crate::tree::Program { path: "".into(), name: name.into(), krate: krate.into() };
        assert!(
            ["core", "engine", "ledger", "runner", "session"]
                .iter()
                .all(|own| !crate::counts(own, &program, true))
        );
    }
}
