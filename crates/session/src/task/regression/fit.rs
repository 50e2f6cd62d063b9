//! A model of noisy sums, and how far off it may be. All of it is computed from what is released, and costs nothing.
//!
//! # Why the bars are as they say
//!
//! Values are counted in shares of half the width of their ranges, from the middle. S is the true matrix of the centred products of the columns that
//! explain, s its column for the one that is explained, and b the true coefficients: S·b = s. Let S' and s' be what noise makes of them, with
//! |S' - S| <= R and |s' - s| <= r, entry by entry; b' any coefficients, and X any matrix.
//!
//! 1. b' - b = X·(S·b' - s) + (I - X·S)·(b' - b). So d = |b' - b| is at most |X|·(|S'·b' - s'| + R·|b'| + r) + (|I - X·S'| + |X|·R)·d, entry by entry.
//! 2. Write that as d <= f + G·d. Wherever some e above zero has f + G·e <= e, the powers of G vanish and d <= e. Such an e is looked for, and
//!    found where noise leaves the columns apart; otherwise coefficients have no bar. How b' and X were computed does not matter.
//! 3. The squared errors of a model that is told are a weighted sum of the sums themselves: with noise it is off by at most the length
//!    of the weights times that of the noise, though the noise decided on the weights.

use super::sums::MomentSums;
use crate::task::bar::Bar;

/// What doubles lose in a few hundred steps, in parts.
const FLOATING: f64 = 1e-11;

/// Means of shares, and sums of centred products, with bars.
pub(super) struct Measured {
    pub rows: Bar,
    /// The mean of each column, the explained one last.
    means: Vec<Bar>,
    /// Centred products of each two columns.
    products: Vec<Vec<Bar>>,
    /// The noisy sums in steps: rows, columns, centred squares, products.
    shares: Vec<f64>,
    /// How far all of them are off along the straight line, and each by rounding.
    ball: f64,
    rounded: f64,
}

/// A model in shares.
pub(super) struct Model {
    pub coefficients: Vec<f64>,
    /// How far each coefficient may be off, where that can be told.
    pub within: Option<Vec<f64>>,
    /// The share of the squared errors around the mean that it explains, on these rows.
    pub explained: Bar,
}

impl Measured {
    /// What noisy sums tell, of rows whose places are rounded by at most so many steps.
    pub fn new(sums: &MomentSums, noisy: &[i64], rounding: f64) -> Self {
        let steps = sums.steps() as f64;
        let width = sums.width;
        let rows = Bar::around(noisy[0], sums.within).divided(steps);
        let most_rows = rows.high.max(1.0);
        // A product moves by what both factors are rounded by, and by its own rounding.
        let rounded = most_rows * (2.0 * rounding + 1.0) / steps;
        let share = |place: usize| Bar::around(noisy[place], sums.within).divided(steps).widened(rounded);
        let totals: Vec<Bar> = (0..width).map(|column| share(1 + column)).collect();
        let means: Vec<Bar> = totals.iter().map(|total| total.over(rows).between(-1.0, 1.0)).collect();
        let half = rows.divided(2.0);
        let mut products = vec![vec![Bar::exact(0.0); width]; width];
        let mut next = 1 + 2 * width;
        for column in 0..width {
            let square = share(1 + width + column).plus(half);
            products[column][column] = centred(square, [totals[column], totals[column]], rows);
            for other in column + 1..width {
                let product = centred(share(next), [totals[column], totals[other]], rows);
                products[column][other] = product;
                products[other][column] = product;
                next += 1;
            }
        }
        let shares = noisy.iter().map(|&number| number as f64 / steps).collect();
        Self { rows, means, products, shares, ball: sums.ball / steps, rounded }
    }

    /// The mean of a column in shares.
    pub fn mean(&self, column: usize) -> Bar {
        self.means[column]
    }

    /// The squared distances of the explained column from its mean, added up.
    pub fn spread(&self) -> Bar {
        let last = self.means.len() - 1;
        self.products[last][last]
    }

    /// The model of least squares, with columns told apart at least by what noise of this size would.
    pub fn fit(&self, deviation: f64) -> Model {
        let last = self.means.len() - 1;
        let square: Vec<Vec<f64>> = self.products[..last]
            .iter()
            .map(|row| row[..last].iter().map(|bar| bar.value).collect())
            .collect();
        let target: Vec<f64> = self.products[..last].iter().map(|row| row[last].value).collect();
        let apart = deviation * (last as f64).sqrt();
        let firm = firm(&square, apart);
        let inverse = inverse(&firm);
        let coefficients: Vec<f64> = inverse.iter().map(|row| dot(row, &target)).collect();
        let means: Vec<f64> = self.means.iter().map(|bar| bar.value).collect();
        let intercept = means[last] - dot(&coefficients, &means[..last]);
        Model {
            within: self.within(&inverse, &coefficients),
            explained: self.explained(intercept, &coefficients),
            coefficients,
        }
    }

    /// How far coefficients may be off, by points 1 and 2 above.
    fn within(&self, inverse: &[Vec<f64>], coefficients: &[f64]) -> Option<Vec<f64>> {
        let last = coefficients.len();
        let reach = |bar: Bar| (bar.high - bar.value).max(bar.value - bar.low) * (1.0 + FLOATING);
        let value = |row: usize, column: usize| self.products[row][column].value;
        // What each line of S·b' - s may come to.
        let line = |row: usize| {
            let told: f64 = (0..last).map(|column| value(row, column) * coefficients[column]).sum::<f64>()
                - value(row, last);
            let size: f64 = (0..last)
                .map(|column| {
                    let (bar, size) = (self.products[row][column], coefficients[column].abs());
                    (reach(bar) + FLOATING * bar.value.abs()) * size
                })
                .sum();
            told.abs() + size + reach(self.products[row][last]) + FLOATING * value(row, last).abs()
        };
        let lines: Vec<f64> = (0..last).map(line).collect();
        let first: Vec<f64> = inverse
            .iter()
            .map(|row| row.iter().zip(&lines).map(|(x, line)| x.abs() * line).sum::<f64>() * (1.0 + FLOATING))
            .map(|most| most.max(f64::MIN_POSITIVE))
            .collect();
        let again: Vec<Vec<f64>> = (0..last)
            .map(|row| {
                let one = |column: usize| {
                    let each = |middle: usize| inverse[row][middle] * value(middle, column);
                    let identity = f64::from(u8::from(row == column));
                    let left = (identity - (0..last).map(each).sum::<f64>()).abs();
                    let sizes: f64 = (0..last).map(|middle| each(middle).abs()).sum();
                    let noise: f64 = (0..last)
                        .map(|middle| inverse[row][middle].abs() * reach(self.products[middle][column]))
                        .sum();
                    (left + noise + FLOATING * (1.0 + sizes)) * (1.0 + FLOATING)
                };
                (0..last).map(one).collect()
            })
            .collect();
        certified(&first, &again)
    }

    /// The share that a model explains, by point 3 above.
    fn explained(&self, intercept: f64, coefficients: &[f64]) -> Bar {
        let width = self.means.len();
        let weight = |column: usize| if column + 1 == width { 1.0 } else { -coefficients[column] };
        let own: Vec<f64> = (0..width).map(weight).collect();
        let mut weights = vec![intercept * intercept + dot(&own, &own) / 2.0];
        weights.extend(own.iter().map(|weight| -2.0 * intercept * weight));
        weights.extend(own.iter().map(|weight| weight * weight));
        for (column, one) in own.iter().enumerate() {
            weights.extend(own[column + 1..].iter().map(|other| 2.0 * one * other));
        }
        let length = dot(&weights, &weights).sqrt();
        let sizes: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let rounded = sizes * (self.rounded + FLOATING * self.rows.high.max(1.0));
        let left = Bar::near(dot(&weights, &self.shares), (length * self.ball) * (1.0 + FLOATING) + rounded);
        let (left, spread) = (left.at_least_zero(), self.spread());
        let share =
            |left: f64, spread: f64| if spread > 0.0 { 1.0 - left / spread } else { f64::NEG_INFINITY };
        Bar {
            value: share(left.value, spread.value).min(1.0),
            low: share(left.high, spread.low).next_down(),
            high: share(left.low, spread.high).next_up().min(1.0),
        }
    }
}

/// A sum of products less what the means come to.
fn centred(product: Bar, [one, other]: [Bar; 2], rows: Bar) -> Bar {
    product.less(one.multiplied(other).over(rows))
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The matrix with as little added to its diagonal as leaves no direction with less than this.
fn firm(square: &[Vec<f64>], apart: f64) -> Vec<Vec<f64>> {
    let with = |more: f64| {
        let mut matrix = square.to_vec();
        for (place, row) in matrix.iter_mut().enumerate() {
            row[place] += more;
        }
        matrix
    };
    let enough = |more: f64| is_positive(&with(more - apart));
    if enough(0.0) {
        return with(0.0);
    }
    let most: f64 =
        square.iter().map(|row| row.iter().map(|entry| entry.abs()).sum::<f64>()).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, 2.0 * (most + apart) + f64::MIN_POSITIVE);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle }
    }
    with(high)
}

/// Does a symmetric matrix have directions above zero only? By Cholesky's way.
fn is_positive(matrix: &[Vec<f64>]) -> bool {
    let many = matrix.len();
    let mut root = vec![vec![0.0; many]; many];
    for row in 0..many {
        for column in 0..=row {
            let less = dot(&root[row][..column], &root[column][..column]);
            let left = matrix[row][column] - less;
            if row == column {
                if left <= 0.0 || !left.is_finite() {
                    return false;
                }
                root[row][row] = left.sqrt();
            } else {
                root[row][column] = left / root[column][column];
            }
        }
    }
    true
}

/// The inverse of a matrix, by elimination; nothing rests on how exact it is.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let many = matrix.len();
    let unit = |row: usize| (0..many).map(move |column| f64::from(u8::from(row == column)));
    let mut wide: Vec<Vec<f64>> =
        (0..many).map(|row| matrix[row].iter().copied().chain(unit(row)).collect()).collect();
    for column in 0..many {
        let largest = |a: &usize, b: &usize| wide[*a][column].abs().total_cmp(&wide[*b][column].abs());
        let pivot = (column..many).max_by(largest).expect("some row");
        wide.swap(column, pivot);
        let by = wide[column][column];
        let by = if by.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { by };
        wide[column].iter_mut().for_each(|entry| *entry /= by);
        let taken = wide[column].clone();
        for (row, entries) in wide.iter_mut().enumerate() {
            let factor = entries[column];
            if row != column {
                entries.iter_mut().zip(&taken).for_each(|(entry, one)| *entry -= factor * one);
            }
        }
    }
    wide.into_iter().map(|row| row[many..].to_vec()).collect()
}

/// Numbers e above zero with f + G·e <= e, where there are such.
fn certified(first: &[f64], again: &[Vec<f64>]) -> Option<Vec<f64>> {
    let once = |e: &[f64]| -> Vec<f64> {
        first.iter().zip(again).map(|(f, row)| (f + dot(row, e)) * (1.0 + FLOATING)).collect()
    };
    // It grows towards the least such numbers, a little more each time so that it gets there.
    let mut e: Vec<f64> = first.to_vec();
    for _ in 0..2000 {
        let next = once(&e);
        if next.iter().any(|one| !one.is_finite()) {
            return None;
        }
        if next.iter().zip(&e).all(|(next, e)| next <= e) {
            return Some(e);
        }
        e = next.into_iter().map(|one| one * 1.001).collect();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_and_firm_matrices_by_hand() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        let found = inverse(&[vec![0.0, 2.0], vec![4.0, 0.0]]);
        near(found[0][1], 0.25);
        near(found[1][0], 0.5);
        // The eigenvalues are 1 and 3.
        let square = [vec![2.0, 1.0], vec![1.0, 2.0]];
        assert!(is_positive(&square) && !is_positive(&[vec![1.0, 2.0], vec![2.0, 1.0]]));
        near(firm(&square, 0.5)[0][0], 2.0);
        near(firm(&square, 1.5)[0][0], 2.5);
        near(firm(&[vec![-4.0]], 2.0)[0][0], 2.0);
    }

    #[test]
    fn reaches_are_certified_where_they_exist() {
        // e = 1 + e/2 is two.
        let [found] = certified(&[1.0], &[vec![0.5]]).unwrap()[..] else { panic!("one number") };
        assert!((2.0..2.01).contains(&found), "{found}");
        assert_eq!(certified(&[1.0], &[vec![1.0]]), None);
        assert_eq!(certified(&[1.0, 1.0], &[vec![0.0, 2.0], vec![0.6, 0.0]]), None);
        assert!(certified(&[1.0, 1.0], &[vec![0.0, 2.0], vec![0.4, 0.0]]).is_some());
    }
}
