//! What was calibrated before, by its public parameters: analysts ask many questions at one epsilon.
//!
//! What is remembered is a function of its key, so that a plan is the same whether anything was remembered or not. No row is ever in it,
//! and no answer. How long a plan takes tells whether this process has planned at the same prices lately, which is no secret of the data.

use std::sync::{Arc, Mutex};

/// The last values of a function, by what they were made of.
pub(crate) struct Remembered<K, V> {
    /// The last one used stands last.
    kept: Mutex<Vec<(K, Arc<V>)>>,
    most: usize,
}

impl<K: PartialEq, V> Remembered<K, V> {
    /// Nothing yet, and no more than so many.
    pub const fn up_to(most: usize) -> Self {
        Self { kept: Mutex::new(Vec::new()), most }
    }

    /// The value for this key: the one that is remembered, or one that is made now.
    pub fn get<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(value) = self.known(&key) {
            return Ok(value);
        }
        let value = Arc::new(make(&key)?);
        // A fork may have been made while another thread was in here, and nobody leaves then.
        if let Ok(mut kept) = self.kept.try_lock() {
            if kept.len() == self.most {
                kept.remove(0);
            }
            kept.push((key, Arc::clone(&value)));
        }
        Ok(value)
    }

    fn known(&self, key: &K) -> Option<Arc<V>> {
        let mut kept = self.kept.try_lock().ok()?;
        let place = kept.iter().rposition(|(known, _)| known == key)?;
        let found = kept.remove(place);
        let value = Arc::clone(&found.1);
        kept.push(found);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const KEPT: usize = 64;

    #[test]
    fn the_last_values_are_made_once_and_failures_are_not_kept() {
        let made = Cell::new(0);
        let squares = Remembered::up_to(KEPT);
        let square = |number: u64| {
            let make = |number: &u64| {
                made.set(made.get() + 1);
                number.checked_mul(*number).ok_or("too large")
            };
            squares.get(number, make).map(|square| *square)
        };
        assert_eq!((square(7), square(7), made.get()), (Ok(49), Ok(49), 1));
        assert_eq!((square(u64::MAX), square(u64::MAX), made.get()), (Err("too large"), Err("too large"), 3));
        for number in 0..KEPT as u64 {
            assert_eq!(square(number), Ok(number * number));
        }
        // Seven was used again on the way, and zero is what has not been used for the longest time.
        assert_eq!(made.get(), 3 + KEPT as u64 - 1);
        square(1000).unwrap();
        assert_eq!((square(7), made.get()), (Ok(49), 3 + KEPT as u64));
        assert_eq!((square(0), made.get()), (Ok(0), 4 + KEPT as u64));
    }
}
