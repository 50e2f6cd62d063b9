//! How many distinct items came.

use super::{
    Promise,
    paced::{Paced, Sizes},
    split,
    way::Way,
};
use crate::{
    Guarantee, Oblivious,
    choose::Method,
    copies::Spent,
    grid::Grid,
    hash::Key,
    sketch::{
        Counts, RefusedItem,
        kmv::{Kmv, Size},
    },
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};

/// How many distinct items came.
pub struct RobustDistinct {
    items: Key,
    form: Form,
}

enum Form {
    /// One sketch under a secret key: enough for one stream of items that come.
    Keyed(Kmv),
    Way(Box<Way<Kmv>>),
}

const DISTINCT: Kind = *b"distinct";

impl Sizes for Kmv {
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        split(alpha, 1 << 50)
    }

    fn shape(_: &Counts, alpha: &Ratio, ln_inverse: &Ratio) -> Result<Size, ParameterError> {
        Size::proved(alpha, ln_inverse)
    }

    fn some_question() -> &'static () {
        &()
    }

    fn some_update() -> u64 {
        1
    }
}

impl RobustDistinct {
    /// One sketch under a secret key: no limit on answers, for one stream of items that only come.
    pub fn keyed<C: Coins>(promise: &Promise, coins: &mut C) -> Result<Self, ParameterError> {
        let sketch = Kmv::new(&Size::keyed(promise.alpha()?, &promise.beta)?, coins);
        Ok(Self { items: Key::draw(coins), form: Form::Keyed(sketch) })
    }

    /// Copies behind a private median.
    pub fn copies<C: Coins>(promise: &Promise, coins: &mut C) -> Result<Self, ParameterError> {
        let copies = Paced::begin(promise, Counts::new(), coins)?;
        Ok(Self { items: Key::draw(coins), form: Form::Way(Box::new(Way::Copies(copies))) })
    }

    /// One sketch after another, or copies behind a monitor, for an answer that changes at most so often.
    pub fn of_changes<C: Coins>(
        method: Method,
        promise: &Promise,
        changes: u64,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let way = Way::of_changes(method, promise, changes, &Counts::new(), coins)?;
        Ok(Self { items: Key::draw(coins), form: Form::Way(Box::new(way)) })
    }

    /// The number that stands for an item.
    pub fn number(&self, item: &[u8]) -> u64 {
        self.items.hash_bytes(item)
    }

    /// Items come. Stops at the first that is refused, and says how many were followed.
    pub fn update(&mut self, numbers: &[u64]) -> Result<(), (usize, RefusedItem)> {
        match &mut self.form {
            Form::Keyed(sketch) => sketch.insert_all(numbers),
            Form::Way(way) => way.update_all(numbers)?,
        }
        Ok(())
    }

    /// How many distinct items came, about.
    pub fn query<C: Coins>(&mut self, coins: &mut C) -> Result<i128, Spent> {
        match &mut self.form {
            Form::Keyed(sketch) => Ok(sketch.query(&())),
            Form::Way(way) => way.query(&(), coins),
        }
    }

    /// How many answers are left; `None` without a limit.
    pub fn queries_left(&self) -> Option<u64> {
        match &self.form {
            Form::Keyed(_) => None,
            Form::Way(way) => Some(way.queries_left()),
        }
    }

    /// How often the answer may still change; `None` without a limit.
    pub fn changes_left(&self) -> Option<u64> {
        match &self.form {
            Form::Keyed(_) => None,
            Form::Way(way) => way.changes_left(),
        }
    }

    /// Count an answer that was given before: how a structure is rebuilt from a log.
    pub fn count_answer(&mut self) {
        if let Form::Way(way) = &mut self.form {
            way.count_answer();
        }
    }

    /// Does it keep its input, so that a stored state has no coins to use twice?
    pub fn keeps_input(&self) -> bool {
        matches!(&self.form, Form::Way(way) if way.keeps_input())
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        match &self.form {
            Form::Keyed(_) => Guarantee::Proved,
            Form::Way(way) => way.guarantee(),
        }
    }

    /// How many sketches there are.
    pub fn copy_count(&self) -> usize {
        match &self.form {
            Form::Keyed(_) => 1,
            Form::Way(way) => way.copy_count(),
        }
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        match &self.form {
            Form::Keyed(sketch) => sketch.space(),
            Form::Way(way) => way.space(),
        }
    }

    /// The state as bytes. They hold keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(DISTINCT, |out| {
            self.items.write(out);
            match &self.form {
                Form::Keyed(sketch) => {
                    true.write(out);
                    sketch.write(out);
                }
                Form::Way(way) => {
                    false.write(out);
                    way.write(out);
                }
            }
        })
    }

    /// Go on from a stored state; once only, unless it keeps its input.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(DISTINCT, bytes, |from| {
            let (items, keyed) = (Key::read(from)?, bool::read(from)?);
            let form = if keyed {
                Form::Keyed(Kmv::read(from)?)
            } else {
                Form::Way(Box::new(Way::read(from, coins)?))
            };
            Ok(Self { items, form })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TestWords, state::assert_refuses_damage};

    fn promise(answers: u64) -> Promise {
        let (alpha, beta) = ("0.5".parse().unwrap(), "0.1".parse().unwrap());
        Promise { alpha, beta, answers, asked: 0, keep: false }
    }

    #[test]
    fn distinct_goes_on_after_it_was_stored() {
        let mut coins = TestWords(21);
        let keyed = RobustDistinct::keyed(&promise(0), &mut coins).unwrap();
        let copies = RobustDistinct::copies(&promise(10), &mut coins).unwrap();
        assert_eq!((keyed.queries_left(), copies.queries_left()), (None, Some(10)));
        let [switching, flips] = [Method::Switching, Method::Flips]
            .map(|method| RobustDistinct::of_changes(method, &promise(10), 4, &mut coins).unwrap());
        assert_eq!((switching.changes_left(), flips.changes_left()), (Some(4), Some(4)));
        for mut distinct in [keyed, copies, switching, flips] {
            distinct.update(&[distinct.number(b"ann"), distinct.number(b"bob")]).unwrap();
            let bytes = distinct.to_bytes();
            let mut distinct = RobustDistinct::from_bytes(&bytes, &mut coins).unwrap();
            distinct.update(&[distinct.number(b"ann")]).unwrap();
            // All copies are exact, so anything else is a miss of the median.
            assert_eq!(distinct.query(&mut coins).unwrap(), 2);
            assert_eq!(distinct.guarantee(), Guarantee::Proved);
            assert!(distinct.space() > 0 && distinct.copy_count() > 0);
            assert_refuses_damage(&bytes, |bytes| RobustDistinct::from_bytes(bytes, &mut TestWords(1)).err());
        }
    }

    #[test]
    fn an_answer_from_a_log_counts() {
        let mut coins = TestWords(22);
        for method in [Method::Switching, Method::Flips] {
            let mut distinct = RobustDistinct::of_changes(method, &promise(10), 4, &mut coins).unwrap();
            distinct.update(&[1, 2, 3]).unwrap();
            distinct.count_answer();
            assert_eq!((distinct.queries_left(), distinct.changes_left()), (Some(9), Some(3)));
            assert_eq!(distinct.query(&mut coins).unwrap(), 3);
        }
    }

    #[test]
    fn some_of_the_copies_answer_where_that_is_asked_for() {
        let mut coins = TestWords(23);
        let few = Promise { asked: 20, ..promise(20) };
        let mut distinct = RobustDistinct::copies(&few, &mut coins).unwrap();
        let all = RobustDistinct::copies(&promise(20), &mut coins).unwrap();
        assert!(distinct.copy_count() > 2 * all.copy_count());
        distinct.update(&[5]).unwrap();
        assert_eq!(distinct.query(&mut coins).unwrap(), 1);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let mut coins = TestWords(24);
        // Without a declared number of answers, and nothing kept to begin again on.
        assert!(RobustDistinct::copies(&promise(0), &mut coins).is_err());
        for alpha in ["0", "-1", "1.01"] {
            let bad = Promise { alpha: alpha.parse().unwrap(), ..promise(1) };
            assert!(RobustDistinct::keyed(&bad, &mut coins).is_err(), "{alpha}");
            assert!(RobustDistinct::copies(&bad, &mut coins).is_err(), "{alpha}");
        }
        assert!(RobustDistinct::of_changes(Method::Flips, &promise(9), 0, &mut coins).is_err());
        assert!(RobustDistinct::of_changes(Method::Switching, &promise(9), 0, &mut coins).is_err());
    }
}
