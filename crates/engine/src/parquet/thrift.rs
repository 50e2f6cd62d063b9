//! Reading what Parquet writes about itself: the compact protocol of Thrift, without trust.
//!
//! Every value says its own type. Here nothing is read as anything but what it says it is, nothing nests deeper than
//! [`DEEPEST`] levels, and no list is longer than the bytes behind it.

use crate::limits::DEEPEST;

/// Why bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// More bytes are needed.
    Ends,
    /// No more bytes can mend it.
    Wrong,
}

/// What type a value says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    True,
    False,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Wire {
    fn of(bits: u8) -> Result<Self, Broken> {
        Ok(match bits {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::Double,
            8 => Self::Binary,
            // A list and a set are written alike.
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(Broken::Wrong),
        })
    }
}

/// A place in bytes.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes have been read.
    pub fn at(&self) -> usize {
        self.at
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let end = self.at.checked_add(count).ok_or(Broken::Wrong)?;
        let taken = self.bytes.get(self.at..end).ok_or(Broken::Ends)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        self.take(1).map(|byte| byte[0])
    }

    /// A number of up to 64 bits, seven in a byte.
    pub fn number(&mut self) -> Result<u64, Broken> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Broken::Wrong);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Broken::Wrong)
    }

    /// A whole number with a sign, of any width.
    pub fn whole(&mut self) -> Result<i64, Broken> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A value that must be a whole number of 32 bits.
    pub fn i32(&mut self, wire: Wire) -> Result<i32, Broken> {
        if wire != Wire::I32 {
            return Err(Broken::Wrong);
        }
        i32::try_from(self.whole()?).map_err(|_| Broken::Wrong)
    }

    /// A value that must be a whole number of 64 bits, and not a negative one.
    pub fn length(&mut self, wire: Wire) -> Result<u64, Broken> {
        if wire != Wire::I64 {
            return Err(Broken::Wrong);
        }
        u64::try_from(self.whole()?).map_err(|_| Broken::Wrong)
    }

    /// A value that must be bytes.
    pub fn binary(&mut self, wire: Wire) -> Result<&'a [u8], Broken> {
        if wire != Wire::Binary {
            return Err(Broken::Wrong);
        }
        let length = usize::try_from(self.number()?).map_err(|_| Broken::Wrong)?;
        self.take(length)
    }

    /// The next field of a struct: its number and type, or `None` at the end. `last` is the number of the field before it.
    pub fn field(&mut self, last: &mut i16) -> Result<Option<(i16, Wire)>, Broken> {
        let byte = self.byte()?;
        let (step, wire) = (byte >> 4, byte & 0x0f);
        if wire == 0 {
            return Ok(None);
        }
        let wire = Wire::of(wire)?;
        *last = match step {
            0 => i16::try_from(self.whole()?).map_err(|_| Broken::Wrong)?,
            step => last.checked_add(i16::from(step)).ok_or(Broken::Wrong)?,
        };
        Ok(Some((*last, wire)))
    }

    /// The beginning of a value that must be a list: the type of its elements and how many there are. Each has a byte at
    /// least, so that there cannot be more than bytes.
    pub fn list(&mut self, wire: Wire) -> Result<(Wire, usize), Broken> {
        if wire != Wire::List {
            return Err(Broken::Wrong);
        }
        let byte = self.byte()?;
        // Some writers give an empty list no type.
        if byte == 0 {
            return Ok((Wire::Byte, 0));
        }
        let count = match byte >> 4 {
            15 => self.number()?,
            count => u64::from(count),
        };
        let count = self.count(count)?;
        let element = Wire::of(byte & 0x0f)?;
        // Readers do not agree on how long these are, so that they could be led to different places. Parquet has none.
        if count > 0 && matches!(element, Wire::True | Wire::False) {
            return Err(Broken::Wrong);
        }
        Ok((element, count))
    }

    fn count(&self, count: u64) -> Result<usize, Broken> {
        let count = usize::try_from(count).map_err(|_| Broken::Wrong)?;
        if count > self.left() { Err(Broken::Ends) } else { Ok(count) }
    }

    /// Read past a value.
    pub fn skip(&mut self, wire: Wire) -> Result<(), Broken> {
        self.skip_at(wire, DEEPEST)
    }

    fn skip_at(&mut self, wire: Wire, depth: usize) -> Result<(), Broken> {
        let below = depth.checked_sub(1).ok_or(Broken::Wrong)?;
        match wire {
            Wire::True | Wire::False => {}
            Wire::Byte => drop(self.byte()?),
            Wire::I16 | Wire::I32 | Wire::I64 => drop(self.number()?),
            Wire::Double => drop(self.take(8)?),
            Wire::Uuid => drop(self.take(16)?),
            Wire::Binary => drop(self.binary(wire)?),
            Wire::List => {
                let (element, count) = self.list(wire)?;
                (0..count).try_for_each(|_| self.skip_at(element, below))?;
            }
            Wire::Map => {
                let count = self.number()?;
                let count = self.count(count)?;
                let types = if count > 0 { self.byte()? } else { return Ok(()) };
                let (key, value) = (Wire::of(types >> 4)?, Wire::of(types & 0x0f)?);
                if [key, value].iter().any(|wire| matches!(wire, Wire::True | Wire::False)) {
                    return Err(Broken::Wrong);
                }
                (0..count).try_for_each(|_| {
                    self.skip_at(key, below)?;
                    self.skip_at(value, below)
                })?;
            }
            Wire::Struct => {
                let mut last = 0;
                while let Some((_, wire)) = self.field(&mut last)? {
                    self.skip_at(wire, below)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(i16, Wire)>, Broken> {
        let (mut cursor, mut last, mut all) = (Cursor::new(bytes), 0, Vec::new());
        while let Some((field, wire)) = cursor.field(&mut last)? {
            cursor.skip(wire)?;
            all.push((field, wire));
        }
        assert_eq!(cursor.at(), bytes.len());
        Ok(all)
    }

    #[test]
    fn fields_by_hand() {
        // 1: i32 -1, 2: binary "ab", 3: true, 300: list of two i64, 301: a struct in a struct, and a map.
        let bytes = [
            &[0x15, 0x01, 0x18, 0x02, b'a', b'b', 0x11, 0x09, 0xd8, 0x04, 0x26, 0x02, 0x80, 0x01][..],
            &[0x1c, 0x1c, 0x00, 0x00, 0x1b, 0x01, 0x83, 0x00, 0x05, 0x00],
        ]
        .concat();
        let expected = [
            (1, Wire::I32),
            (2, Wire::Binary),
            (3, Wire::True),
            (300, Wire::List),
            (301, Wire::Struct),
            (302, Wire::Map),
        ];
        assert_eq!(fields(&bytes), Ok(expected.to_vec()));
        for end in 0..bytes.len() {
            assert_eq!(fields(&bytes[..end]), Err(Broken::Ends), "{end}");
        }
    }

    #[test]
    fn what_is_too_deep_or_too_long_is_wrong() {
        let nested = |depth: usize| [vec![0x1c; depth], vec![0; depth + 1]].concat();
        assert_eq!(fields(&nested(DEEPEST)), Ok(vec![(1, Wire::Struct)]));
        assert_eq!(fields(&nested(DEEPEST + 1)), Err(Broken::Wrong));
        let lists = [vec![0x19; 100_000], vec![0]].concat();
        assert_eq!(fields(&lists), Err(Broken::Wrong));
        // A list of 2^31 - 1 structs, one of as many booleans, a number of more than 64 bits.
        assert_eq!(fields(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0]), Err(Broken::Ends));
        assert_eq!(fields(&[0x19, 0x21, 1, 1, 0]), Err(Broken::Wrong));
        assert_eq!(fields(&[&[0x16][..], &[0xff; 9], &[0x02, 0]].concat()), Err(Broken::Wrong));
        let (mut cursor, largest) = (Cursor::new(&[0xfe, 0xff, 0xff, 0xff, 0x0f]), Ok(i32::MAX));
        assert_eq!(cursor.i32(Wire::I32), largest);
        assert_eq!(Cursor::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).i32(Wire::I32), Err(Broken::Wrong));
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut cursor = Cursor::new(&bytes);
            let _ = cursor.skip(Wire::Struct);
            prop_assert!(cursor.at() <= bytes.len());
        }
    }
}
