//! Pictures as SVG files: an answer with its error bar and what the budget has left, and the answers of a simulation.
//!
//! What a release looks like is drawn by the session, for Python too; here is where it is written to.

mod simulation;

pub(crate) use simulation::simulation;

use equipoise_core::wording::{self, Surface};
use equipoise_engine::{files_of, on_disk};
use equipoise_session::{picture, release::Release};
use std::{
    fs,
    io::Write as _,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process,
};

type Failed = Box<dyn std::error::Error>;

/// Can a picture be written here, without the loss of any file that is kept, under whatever name? Asked before anything is
/// charged.
pub(crate) fn check(path: &Path, kept: &[&Path]) -> Result<(), String> {
    let shown = wording::shown(&path.to_string_lossy());
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Err(format!("a picture is an SVG file; give --plot a name that ends in .svg, not '{shown}'"));
    }
    can_be_written("the picture", path, kept)
}

/// Is there a folder for this file, and is it none of those that are kept? A pattern or a folder stands for its files, and a
/// ledger for what lies beside it.
pub(crate) fn can_be_written(what: &str, path: &Path, kept: &[&Path]) -> Result<(), String> {
    let shown = wording::shown(&path.to_string_lossy());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(format!("there is no folder for {what} '{shown}'; make it, or name another"));
    }
    let identity = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let beside = |path: &Path, ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let kept = kept.iter().flat_map(|kept| {
        let files = files_of(kept).unwrap_or_default().into_iter();
        let kept = on_disk(kept);
        files.chain([
            kept.to_path_buf(),
            beside(&kept, "-wal"),
            beside(&kept, "-shm"),
            beside(&kept, "-journal"),
        ])
    });
    let here = identity(path);
    if path.is_dir() || kept.filter_map(|kept| identity(&kept)).any(|kept| Some(kept) == here) {
        return Err(format!("{what} would take the place of '{shown}'; name another file"));
    }
    Ok(())
}

/// Draw a release; `fractions` are the quantiles that each of its questions asked for.
pub(crate) fn release(release: &Release, fractions: &[Vec<String>], path: &Path) -> Result<(), Failed> {
    write(path, &picture::release(release, fractions, Surface::CommandLine))
}

/// Whole or not at all, and through no link that lies in the way.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failed> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let unfinished = path.with_extension(format!("{ending}.{}.unfinished", process::id()));
    let _ = fs::remove_file(&unfinished);
    fs::OpenOptions::new().write(true).create_new(true).open(&unfinished)?.write_all(text.as_bytes())?;
    Ok(fs::rename(&unfinished, path)?)
}
