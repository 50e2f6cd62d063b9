//! Where the fields of a block end: the places of all delimiters and line ends, found without a branch per byte.
//!
//! Quotes are not looked at here; a line that has one is read again, by [`quoted`](super::quoted).

/// The ends of fields and lines in a block.
#[derive(Default)]
pub struct Index {
    /// Where each delimiter or line end stands; beyond `count` it is scratch.
    ends: Vec<u32>,
    /// For each line, how many of `ends` belong to it and the lines before; beyond `lines` it is scratch.
    ends_up_to: Vec<u32>,
    lines: usize,
}

/// A line of plain fields: their ends, the last one being the end of the line.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Where the line begins.
    pub begin: usize,
    /// Where each field ends.
    pub ends: &'a [u32],
}

impl Line<'_> {
    /// Where the line ends.
    pub fn end(&self) -> usize {
        self.ends.last().map_or(self.begin, |&end| end as usize)
    }
}

const WINDOW: usize = 64;

impl Index {
    /// Find the ends in a block of whole lines. The last line may lack its line end.
    pub fn fill(&mut self, block: &[u8], delimiter: u8) {
        assert!(u32::try_from(block.len()).is_ok(), "a block is far below 4 GiB");
        let needed = block.len() + 1;
        if self.ends.len() < needed {
            self.ends.resize(needed, 0);
            self.ends_up_to.resize(needed, 0);
        }
        let mut count = 0;
        self.lines = 0;
        let (windows, rest) = block.as_chunks::<WINDOW>();
        for (k, window) in windows.iter().enumerate() {
            let found = Found::new(window, delimiter);
            self.push(found, k * WINDOW, &mut count);
        }
        if !rest.is_empty() {
            let mut window = [0; WINDOW];
            window[..rest.len()].copy_from_slice(rest);
            let mut found = Found::new(&window, delimiter);
            found.ends &= (1 << rest.len()) - 1; // the filling may look like a delimiter
            self.push(found, windows.len() * WINDOW, &mut count);
        }
        if block.last().is_some_and(|&last| last != b'\n') {
            let end = Found { ends: 1, line_ends: 1 };
            self.push(end, block.len(), &mut count);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a block is below 4 GiB")]
    fn push(&mut self, found: Found, offset: usize, count: &mut usize) {
        let mut ends = found.ends;
        while ends != 0 {
            let at = ends.trailing_zeros();
            ends &= ends - 1;
            self.ends[*count] = offset as u32 + at;
            *count += 1;
            self.ends_up_to[self.lines] = *count as u32;
            self.lines += (found.line_ends >> at & 1) as usize;
        }
    }

    /// How many lines there are.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// One line.
    #[inline]
    pub fn line(&self, number: usize) -> Line<'_> {
        let first = if number == 0 { 0 } else { self.ends_up_to[number - 1] as usize };
        let begin = if first == 0 { 0 } else { self.ends[first - 1] as usize + 1 };
        Line { begin, ends: &self.ends[first..self.ends_up_to[number] as usize] }
    }
}

/// One bit for each byte of a window.
#[derive(Clone, Copy)]
struct Found {
    /// Delimiters and line ends.
    ends: u64,
    line_ends: u64,
}

impl Found {
    #[inline]
    fn new(window: &[u8; WINDOW], delimiter: u8) -> Self {
        let line_ends = bits(&window.map(|byte| u8::from(byte == b'\n')));
        let delimiters = bits(&window.map(|byte| u8::from(byte == delimiter)));
        Self { ends: line_ends | delimiters, line_ends }
    }
}

/// The lowest bits of 64 bytes that are zero or one.
#[inline]
fn bits(flags: &[u8; WINDOW]) -> u64 {
    // In the product, byte i meets bit 7(8 - i) at bit 56 + i, and no two terms meet at one bit.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = flags.as_chunks::<8>();
    let mut bits = 0;
    for (k, word) in words.iter().enumerate() {
        bits |= (u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56) << (8 * k);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bits_by_hand() {
        for place in 0..WINDOW {
            let mut flags = [0; WINDOW];
            flags[place] = 1;
            assert_eq!(bits(&flags), 1 << place);
            let flags = flags.map(|flag| 1 - flag);
            assert_eq!(bits(&flags), !(1 << place));
        }
    }

    proptest! {
        #[test]
        fn lines_and_fields_are_what_splitting_gives(text in "[a,\n\0]{0,200}", delimiter in prop::sample::select(vec![b',', b'\0', b'a'])) {
            let block = text.as_bytes();
            let mut index = Index::default();
            index.fill(b"1,2,3\n4,5,6\n7\n", b','); // what an earlier block left behind
            index.fill(block, delimiter);
            let mut expected: Vec<Vec<&[u8]>> = block.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == delimiter).collect()).collect();
            if block.is_empty() || block.ends_with(b"\n") {
                expected.pop();
            }
            let found: Vec<Vec<&[u8]>> = (0..index.lines()).map(|number| {
                let line = index.line(number);
                let mut begin = line.begin;
                line.ends.iter().map(|&end| { let field = &block[begin..end as usize]; begin = end as usize + 1; field }).collect()
            }).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
