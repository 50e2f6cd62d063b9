//! Which change is chosen in this process. `EQUIPOISE_MUTANT` holds its number; with `EQUIPOISE_MUTANT_REACHED` nothing is
//! changed, and each number that is asked for is written to that file once.

use std::{
    fs::OpenOptions,
    io::Write,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

const UNREAD: u32 = u32::MAX;
const RECORDING: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;
const MOST: usize = 1 << 16;

static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// Whether change `number` is the chosen one.
#[inline]
pub fn on(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen >= RECORDING { slow(number) } else { chosen == number }
}

#[cold]
fn slow(number: u32) -> bool {
    if CHOSEN.load(Relaxed) == UNREAD {
        let chosen = match std::env::var("EQUIPOISE_MUTANT") {
            Ok(text) => text.parse().unwrap_or(NONE),
            Err(_) if std::env::var_os("EQUIPOISE_MUTANT_REACHED").is_some() => RECORDING,
            Err(_) => NONE,
        };
        CHOSEN.store(chosen, Relaxed);
        return on(number);
    }
    if !REACHED[number as usize].swap(true, Relaxed)
        && let Some(path) = std::env::var_os("EQUIPOISE_MUTANT_REACHED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        // Programs whose environment or files are taken away record nothing, and are not changed.
        let _ = file.write_all(&number.to_le_bytes());
    }
    false
}
