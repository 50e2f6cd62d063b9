//! Parquet files written by hand, so that they can say what no writer says.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small, or cut on purpose"
)]

/// Bytes of Thrift's compact protocol.
#[derive(Clone, Default)]
pub struct Thrift(pub Vec<u8>);

impl Thrift {
    pub fn number(mut self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    fn whole(self, value: i64) -> Self {
        self.number(((value << 1) ^ (value >> 63)).cast_unsigned())
    }

    fn field(mut self, step: u8, wire: u8) -> Self {
        self.0.push(step << 4 | wire);
        self
    }

    /// A field this many numbers behind the last one.
    pub fn i32(self, step: u8, value: i64) -> Self {
        self.field(step, 5).whole(value)
    }

    pub fn i64(self, step: u8, value: i64) -> Self {
        self.field(step, 6).whole(value)
    }

    pub fn text(self, step: u8, text: &[u8]) -> Self {
        let mut with = self.field(step, 8).number(text.len() as u64);
        with.0.extend(text);
        with
    }

    pub fn structure(self, step: u8, inner: Thrift) -> Self {
        let mut with = self.field(step, 12);
        with.0.extend(inner.end());
        with
    }

    /// A list that says it has so many structs.
    pub fn structures(self, step: u8, count: u64, inner: &[Thrift]) -> Self {
        let mut with = self.field(step, 9);
        with.0.push(0xfc);
        with = with.number(count);
        for inner in inner {
            with.0.extend(inner.clone().end());
        }
        with
    }

    pub fn end(mut self) -> Vec<u8> {
        self.0.push(0);
        self.0
    }
}

/// An element of a schema: a group of so many columns.
pub fn group(name: &str, children: i64) -> Thrift {
    Thrift::default().i32(3, 0).text(1, name.as_bytes()).i32(1, children)
}

/// A required column of this physical type, with cells of this length where the type has one.
pub fn cells(name: &str, physical: i64, length: i64) -> Thrift {
    Thrift::default().i32(1, physical).i32(1, length).i32(1, 0).text(1, name.as_bytes())
}

/// A whole file with this schema, these row groups and these bytes before the footer.
pub fn file(pages: &[u8], schema: (u64, &[Thrift]), groups: (u64, &[Thrift]), rows: i64) -> Vec<u8> {
    let footer = Thrift::default()
        .i32(1, 1)
        .structures(1, schema.0, schema.1)
        .i64(1, rows)
        .structures(1, groups.0, groups.1)
        .end();
    let length = u32::try_from(footer.len()).expect("a small footer").to_le_bytes();
    [b"PAR1", pages, &footer, &length, b"PAR1"].concat()
}

/// A row group of one column, whose pages stand right behind the first four bytes.
pub fn row_group(codec: i64, pages: &[u8], rows: i64) -> Thrift {
    let length = i64::try_from(pages.len()).expect("a small file");
    // What it is a column of and how it is encoded is not looked at, but has to be there.
    let mut metadata = Thrift::default().i32(1, 5);
    metadata.0.extend([0x19, 0x15, 0x00, 0x19, 0x18, 0x01, b'x']);
    let metadata = metadata.i32(1, codec).i64(1, rows).i64(1, length).i64(1, length).i64(2, 4);
    let chunk = Thrift::default().i64(2, 4).structure(1, metadata);
    Thrift::default().structures(1, 1, &[chunk]).i64(1, length).i64(1, rows)
}

/// A page: what it is, how long it says it is unpacked, and its bytes.
pub fn page(kind: i64, unpacked: i64, described: (u8, Thrift), bytes: &[u8]) -> Vec<u8> {
    let packed = i64::try_from(bytes.len()).expect("a small page");
    let header =
        Thrift::default().i32(1, kind).i32(1, unpacked).i32(1, packed).structure(described.0, described.1);
    [header.end(), bytes.to_vec()].concat()
}

/// A page of cells of the first version, in this encoding.
pub fn data_page(values: i64, encoding: i64, unpacked: i64, bytes: &[u8]) -> Vec<u8> {
    let described = Thrift::default().i32(1, values).i32(1, encoding).i32(1, 3).i32(1, 3);
    page(0, unpacked, (2, described), bytes)
}

/// A dictionary.
pub fn dictionary_page(values: i64, unpacked: i64, bytes: &[u8]) -> Vec<u8> {
    page(2, unpacked, (4, Thrift::default().i32(1, values).i32(1, 0)), bytes)
}

/// Lengths that are all the same but for the first, as differences.
pub fn lengths(count: u64, first: i64, then: i64) -> Vec<u8> {
    let mut bytes = Thrift::default().number(128).number(4).number(count).whole(first);
    let mut left = count.saturating_sub(1);
    let mut step = then - first;
    while left > 0 {
        // The first difference of the first block in full, all others are zero: with parts of no bits.
        if step == 0 {
            bytes = bytes.whole(0);
            bytes.0.extend([0; 4]);
        } else {
            let (least, first_step) = (step.min(0), step - step.min(0));
            let others = -least;
            bytes = bytes.whole(least);
            bytes.0.extend([32; 4]);
            for place in 0..128u64 {
                let value = if place == 0 { first_step } else { others };
                if place.div_euclid(32) * 32 < left {
                    bytes.0.extend((value as u32).to_le_bytes());
                }
            }
            step = 0;
        }
        left = left.saturating_sub(128);
    }
    bytes.0
}
