//! Files on disk: what opening says before any charge, and what is lost after it.

use equipoise_engine::csv::{Csv, CsvOptions, Header};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use std::{
    env,
    fs::{self, File, OpenOptions},
    io::Write,
    path::PathBuf,
};

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("equipoise-engine-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct Seen {
    rows: usize,
    sum: f64,
}

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        self.rows += batch.rows;
        if let [Cells::Floats(values)] = batch.cells {
            self.sum += values.iter().filter(|value| !value.is_nan()).sum::<f64>();
        }
    }
}

fn scan(csv: &Csv) -> Result<(usize, f64), Lost> {
    let [mut one, mut two] = [Seen::default(), Seen::default()];
    csv.scan(&[ColumnRead { column: 0, kind: ColumnType::Float }], &mut [&mut one, &mut two])?;
    Ok((one.rows + two.rows, one.sum + two.sum))
}

#[test]
fn what_cannot_be_opened_is_one_clear_line() {
    let folder = Folder::new("open");
    let table: [(&str, &[u8], &str); 6] = [
        ("empty", b"", "'F' is empty; its first line must name the columns, or say `no_header`"),
        ("blank", b"\n1\n", "the first line of 'F' is blank; it must name the columns, or say `no_header`"),
        ("latin", b"gr\xf6sse\n", "the header of 'F' is not UTF-8 text; convert the file to UTF-8 CSV first"),
        (
            "quote",
            b"\"a\n1\n",
            "the header of 'F' has a stray quote; put quotes around whole names or nowhere",
        ),
        ("twice", b"a,b, a\n1,2,3\n", "columns 1 and 3 of 'F' are both called 'a'; rename one"),
        (
            "long",
            &b"x".repeat(2 << 20),
            "the header of 'F' is longer than 1048576 bytes; check that it is a CSV file",
        ),
    ];
    for (name, content, line) in table {
        let path = folder.file(name, content);
        let error = Csv::open(&path, &CsvOptions::default()).err().expect(name).to_string();
        assert_eq!(error.replace(&path.display().to_string(), "F"), line);
    }
    let missing = folder.0.join("a\nb.csv");
    let error = Csv::open(&missing, &CsvOptions::default()).err().expect("missing").to_string();
    assert!(error.starts_with("there is no file '") && error.ends_with("a\\u{a}b.csv'; check the path"));
    let error = Csv::open(&folder.0, &CsvOptions::default()).err().expect("a folder").to_string();
    assert!(error.ends_with("is a folder; name a file in it"), "{error}");
    let below = folder.0.join("empty/below.csv");
    assert!(Csv::open(below, &CsvOptions::default()).err().expect("missing").to_string().contains("no file"));
}

#[cfg(unix)]
#[test]
fn devices_and_refused_files_are_one_clear_line() {
    let error = Csv::open("/dev/null", &CsvOptions::default()).err().expect("a device").to_string();
    assert_eq!(error, "'/dev/null' is a pipe or a device; save its content to a file first");
    let folder = Folder::new("refused");
    let path = folder.file("secret.csv", b"a\n1\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    fs::set_permissions(&path, mode).expect("own file");
    // The superuser may read everything.
    if let Err(error) = Csv::open(&path, &CsvOptions::default()) {
        let line = error.to_string();
        assert!(
            line.ends_with("cannot be read (permission denied); check its permissions and the disk"),
            "{line}"
        );
    }
}

#[test]
fn delimiters_are_checked() {
    for delimiter in ['"', '\n', '\r', 'é', '→'] {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        let error = Csv::from_bytes(b"a\n".to_vec(), &options).err().expect("refused").to_string();
        assert!(
            error.ends_with("cannot separate fields; take one ASCII character, not a quote or a line end")
        );
        assert!(!error.contains(char::is_control));
    }
    for delimiter in [';', '\t', '|', '\u{1f}', ' '] {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        let csv = Csv::from_bytes(format!("a{delimiter}b\n1{delimiter}2\n").into_bytes(), &options).unwrap();
        assert_eq!(csv.columns(), ["a", "b"]);
        assert_eq!(scan(&csv), Ok((1, 1.0)));
    }
}

#[test]
fn opening_looks_at_no_row() {
    let declared = Header::Declared(vec!["a".to_string(), "b".to_string()]);
    let rows: [&[u8]; 4] = [b"", b"\xff\n", b"\"\n1,2\n", b"1\n"];
    for header in [declared, Header::Numbered] {
        let options = CsvOptions { header, ..CsvOptions::default() };
        for rows in rows {
            assert!(Csv::from_bytes(rows.to_vec(), &options).is_ok());
        }
    }
    for rows in rows {
        let csv = Csv::from_bytes([b"a,b\n", rows].concat(), &CsvOptions::default()).unwrap();
        assert_eq!(csv.columns(), ["a", "b"]);
    }
}

#[test]
fn a_file_that_changed_since_it_was_opened_is_lost_or_read_as_it_is() {
    let folder = Folder::new("changed");
    let path = folder.file("a.csv", b"a\n1\n2\n");
    let csv = Csv::open(&path, &CsvOptions::default()).unwrap();
    assert_eq!(scan(&csv), Ok((2, 3.0)));
    assert_eq!(scan(&csv), Ok((2, 3.0)), "a source can be read again");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"4\n").unwrap();
    assert_eq!(scan(&csv), Ok((3, 7.0)));
    File::create(&path).unwrap().write_all(b"b\n1\n2\n").unwrap();
    assert_eq!(scan(&csv), Err(Lost), "another header");
    File::create(&path).unwrap();
    assert_eq!(scan(&csv), Err(Lost), "cut off");
}

/// Does something to the file in the midst of the scan.
struct Meddles<F: FnMut() + Send>(F);

impl<F: FnMut() + Send> Visitor for Meddles<F> {
    fn batch(&mut self, _: Batch<'_>) {
        self.0();
    }
}

#[test]
fn a_file_that_changes_during_the_scan_is_lost() {
    let folder = Folder::new("during");
    let content = [b"a\n".to_vec(), b"12345\n".repeat(1000)].concat();
    let options = CsvOptions { block_bytes: 64, ..CsvOptions::default() };
    let path = folder.file("a.csv", &content);
    let csv = Csv::open(&path, &options).unwrap();
    let mut cuts = Meddles(|| OpenOptions::new().write(true).open(&path).unwrap().set_len(500).unwrap());
    assert_eq!(csv.scan(&[], &mut [&mut cuts]), Err(Lost));
    folder.file("a.csv", &content);
    let mut grows =
        Meddles(|| OpenOptions::new().append(true).open(&path).unwrap().write_all(b"1\n").unwrap());
    assert_eq!(csv.scan(&[], &mut [&mut grows]), Err(Lost));
}

#[test]
fn a_field_of_a_billion_characters_is_one_null_record() {
    let folder = Folder::new("billion");
    let path = folder.file("a.csv", b"a\n1\n");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    // A hole in the file: it takes no room on the disk.
    file.set_len(1_000_000_004).unwrap();
    file.write_all(b"\n2\n").unwrap();
    let csv = Csv::open(&path, &CsvOptions { block_bytes: 4 << 20, ..CsvOptions::default() }).unwrap();
    assert_eq!(scan(&csv), Ok((3, 3.0)));
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kilobytes < 200_000, "{kilobytes} kB");
    }
}
