//! Forked children never repeat a word of their parent or of each other, however they were forked.
//!
//! Up to 2^16 words are compared, fewer than 2^31 pairs: chance repeats one with probability below 2^-33. So each test
//! forgives one repeated word in all, and chance repeats two with probability below 2^-66 < 1e-19. What is looked for
//! comes with each fork: tens of repeats.

use equipoise_core::coins::Words;
use equipoise_entropy::OsCoins;
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicI32, Ordering::SeqCst},
};
use std::{collections::HashSet, fs::File, io::Read, os::fd::FromRawFd, thread, time::Duration};

/// More than a refill (508 words).
const WORDS: usize = 600;

fn pipe() -> (File, i32) {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors; nobody else owns the first.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        (File::from_raw_fd(ends[0]), ends[1])
    }
}

/// What a child does with its words. It was forked from a process with threads: no allocation, no return.
fn send_and_exit(words: &[u64], writer: i32) -> ! {
    // SAFETY: the bytes are those of the slice; _exit runs nothing of the parent's.
    unsafe {
        let sent = libc::write(writer, words.as_ptr().cast(), size_of_val(words));
        libc::_exit(i32::from(usize::try_from(sent) != Ok(size_of_val(words))))
    }
}

fn receive(mut reader: File, writer: i32, child: i32, count: usize) -> Vec<u64> {
    let (mut bytes, mut status) = (vec![0; 8 * count], 0);
    // SAFETY: the writing end is ours to close, once; the child is ours to wait for.
    unsafe {
        libc::close(writer);
        reader.read_exact(&mut bytes).expect("the child sends all its words");
        assert_eq!((libc::waitpid(child, &raw mut status, 0), status), (child, 0));
    }
    bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

fn child_words(fork: fn() -> i32, coins: &mut [OsCoins]) -> Vec<u64> {
    let (reader, writer) = pipe();
    let child = fork();
    if child == 0 {
        let mut words = [0; WORDS];
        words.iter_mut().enumerate().for_each(|(i, word)| *word = coins[i % coins.len()].word());
        send_and_exit(&words, writer);
    }
    assert!(child > 0);
    receive(reader, writer, child, WORDS)
}

fn fork() -> i32 {
    // SAFETY: the child keeps to the rules of `send_and_exit`.
    unsafe { libc::fork() }
}

/// The system call alone: no handler of `pthread_atfork` runs.
#[cfg(target_os = "linux")]
fn bare_clone() -> i32 {
    // SAFETY: with no flags but the signal this is a fork, on a copy of the same stack; rules as above.
    i32::try_from(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) }).unwrap()
}

/// Words that stood here before.
fn repeats<'a>(words: impl IntoIterator<Item = &'a u64>) -> usize {
    let mut seen = HashSet::new();
    words.into_iter().filter(|word| !seen.insert(**word)).count()
}

fn all_differ(fork: fn() -> i32) {
    let mut coins = [OsCoins::new().unwrap(), OsCoins::new().unwrap()];
    let mut words = Vec::new();
    for _ in 0..60 {
        words.extend([coins[0].word(), coins[1].word()]);
        words.extend(child_words(fork, &mut coins));
    }
    words.extend((0..2 * WORDS).map(|i| coins[i % 2].word()));
    assert!(repeats(&words) <= 1);
}

#[test]
fn children_of_fork_repeat_nothing() {
    all_differ(fork);
}

#[cfg(target_os = "linux")]
#[test]
fn children_of_the_bare_system_call_repeat_nothing() {
    all_differ(bare_clone);
}

#[test]
fn a_grandchild_repeats_nothing() {
    let mut coins = [OsCoins::new().unwrap()];
    let (reader, writer) = pipe();
    let child = fork();
    if child == 0 {
        let mut words = [0; 2 * WORDS];
        words[..WORDS].fill_with(|| coins[0].word());
        if fork() != 0 {
            // SAFETY: as in `send_and_exit`; the grandchild, which holds the pipe, sends for both.
            unsafe { libc::_exit(0) }
        }
        words[WORDS..].fill_with(|| coins[0].word());
        send_and_exit(&words, writer);
    }
    let mut words = receive(reader, writer, child, 2 * WORDS);
    words.extend((0..WORDS).map(|_| coins[0].word()));
    assert!(repeats(&words) <= 1);
}

#[test]
fn a_fork_disturbs_no_other_thread_that_draws() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let others = [(); 2].map(|()| {
        thread::spawn(|| {
            let mut coins = OsCoins::new().unwrap();
            let mut last = vec![coins.word(); WORDS];
            loop {
                last.fill_with(|| coins.word());
                if DONE.load(SeqCst) {
                    break last;
                }
            }
        })
    });
    let mut coins = [OsCoins::new().unwrap()];
    let mut words: Vec<u64> = (0..40).flat_map(|_| child_words(fork, &mut coins)).collect();
    DONE.store(true, SeqCst);
    words.extend(others.into_iter().flat_map(|other| other.join().unwrap()));
    assert!(repeats(&words) <= 1);
}

/// The hardest moment: a signal handler forks in the middle of a draw or of a refill. Parent and child go on
/// from the same instruction; from the first whole draw on they must part, and zeros of the wiped page must
/// not pass for words.
#[test]
fn a_fork_in_the_middle_of_a_draw_repeats_nothing() {
    static CHILD: AtomicI32 = AtomicI32::new(-1);
    static BARE: AtomicBool = AtomicBool::new(false);
    static DRAWS: AtomicBool = AtomicBool::new(false);
    extern "C" fn fork_here(_: i32) {
        #[cfg(target_os = "linux")]
        let fork = if BARE.load(SeqCst) { bare_clone } else { fork };
        CHILD.store(fork(), SeqCst);
    }
    let handler: extern "C" fn(i32) = fork_here;
    // SAFETY: fork and an atomic store are allowed in a handler; no other test uses the signal.
    let (_, drawing) =
        unsafe { (libc::signal(libc::SIGUSR1, handler as libc::sighandler_t), libc::pthread_self()) };
    let mut coins = OsCoins::new().unwrap();
    let mut repeated = 0;
    for round in 0..200 {
        let (reader, writer) = pipe();
        CHILD.store(-1, SeqCst);
        BARE.store(round % 2 == 1, SeqCst);
        DRAWS.store(false, SeqCst);
        let alarm = thread::spawn(move || {
            // Not while the other still holds locks of `spawn`: a fork in a handler would wait for them for ever.
            while !DRAWS.load(SeqCst) {
                thread::yield_now();
            }
            thread::sleep(Duration::from_micros(50 + round));
            // SAFETY: the drawing thread waits for this one before it ends.
            unsafe { libc::pthread_kill(drawing, libc::SIGUSR1) };
        });
        DRAWS.store(true, SeqCst);
        let mut words = [coins.word(); WORDS];
        while CHILD.load(SeqCst) == -1 {
            words[0] = coins.word(); // the last of these the fork may find taken already, and so shared
        }
        words[1..].fill_with(|| coins.word());
        let child = CHILD.load(SeqCst);
        if child == 0 {
            send_and_exit(&words, writer);
        }
        alarm.join().unwrap();
        let childs = receive(reader, writer, child, WORDS);
        assert!(!words.contains(&0) && !childs.contains(&0), "round {round}");
        repeated += repeats(words[1..].iter().chain(&childs[1..]));
        assert!(repeated <= 1, "round {round}");
    }
}

/// What is locked inside only is never locked in a child, whatever another thread does at the moment of the fork.
#[test]
fn a_child_finds_no_lock_that_another_thread_took_inside() {
    static LOCK: Mutex<u64> = Mutex::new(0);
    static OVER: AtomicBool = AtomicBool::new(false);
    let worker = thread::spawn(|| {
        while !OVER.load(SeqCst) {
            let _inside = equipoise_entropy::fork::enter();
            let mut times = LOCK.lock().unwrap();
            for _ in 0..1000 {
                *times = times.wrapping_add(1);
            }
        }
    });
    for _ in 0..200 {
        let mut status = 0;
        // SAFETY: the child tries a lock, which allocates nothing, and leaves by _exit; the parent waits for it.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let _inside = equipoise_entropy::fork::enter();
                libc::_exit(i32::from(LOCK.try_lock().is_err()));
            }
            assert!(child > 0 && libc::waitpid(child, &raw mut status, 0) == child);
        }
        assert_eq!(status, 0);
    }
    OVER.store(true, SeqCst);
    worker.join().unwrap();
}
