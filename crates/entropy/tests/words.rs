//! Words of one process: balanced, distinct across refills, owners and threads, and kept to one owner.

use equipoise_core::coins::Words;
use equipoise_entropy::OsCoins;
use std::{collections::HashSet, thread};

fn draw(coins: &mut OsCoins, count: usize) -> Vec<u64> {
    (0..count).map(|_| coins.word()).collect()
}

/// False alarms: at most 256·exp(-50) < 1e-19, by Hoeffding's bound for 128 counts of both signs.
#[test]
fn each_bit_and_each_change_of_a_bit_is_balanced() {
    const WORDS: i32 = 1 << 20;
    const LARGEST: i32 = 5 << 10; // five times the root of the number of words
    let mut coins = OsCoins::new().unwrap();
    let mut excess = [[0_i32; 64]; 2];
    let mut last = coins.word();
    for _ in 0..WORDS {
        let word = coins.word();
        for (excess, bits) in excess.iter_mut().zip([word, word ^ last]) {
            excess.iter_mut().enumerate().for_each(|(i, sum)| *sum += i32::from(bits >> i & 1 == 1));
        }
        last = word;
    }
    for ones in excess.as_flattened() {
        assert!((ones - WORDS / 2).abs() <= LARGEST, "{ones} ones in {WORDS} words");
    }
}

/// 20 320 words make fewer than 2^28 pairs, so that chance repeats one with probability below 2^-36. One is forgiven, and
/// two are below 2^-72; a buffer that is used twice repeats hundreds.
#[test]
fn refills_owners_and_threads_never_repeat_a_word() {
    let mut coins: Vec<OsCoins> = (0..4).map(|_| OsCoins::new().unwrap()).collect();
    let mut words: Vec<u64> = coins.iter_mut().flat_map(|coins| draw(coins, 2540)).collect();
    // Each owner moves, half-used, to a thread of its own.
    let threads = coins.into_iter().map(|mut coins| thread::spawn(move || draw(&mut coins, 2540)));
    words.extend(threads.collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()));
    assert!(words.iter().collect::<HashSet<_>>().len() >= 20_320 - 1);
}

#[test]
fn debug_shows_nothing() {
    assert_eq!(format!("{:#?}", OsCoins::new().unwrap()), "OsCoins");
}

/// Compiles only if `OsCoins` lacks the trait: with it, the call would have two candidates.
macro_rules! lacks {
    ($($name:ident)*) => {$({
        trait Ambiguous<A> { fn call() {} }
        impl<T> Ambiguous<()> for T {}
        impl<T: $name> Ambiguous<u8> for T {}
        <OsCoins as Ambiguous<_>>::call();
    })*};
}

#[test]
fn coins_have_one_owner_who_may_be_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<OsCoins>();
    lacks!(Sync Clone Default);
}
