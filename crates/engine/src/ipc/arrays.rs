//! Arrays out of the message that holds them. Only cells that can be read are made into arrays: nothing that has arrays in
//! it. Where buffers lie and how long they are unpacked is held against the message before room is made.

use crate::unpack::{Codec, Unpacker};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_ipc::{BodyCompressionMethod, CompressionType, FieldNode, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, UnionMode};
use equipoise_session::source::Lost;
use flatbuffers::VectorIter;

/// The arrays of a message, one after another.
pub struct Arrays<'a> {
    rows: usize,
    nodes: VectorIter<'a, FieldNode>,
    buffers: VectorIter<'a, arrow_ipc::Buffer>,
    /// How many buffers of bytes each array of views has.
    more_buffers: VectorIter<'a, i64>,
    body: &'a Buffer,
    codec: Option<Codec>,
    unpacker: &'a mut Unpacker,
    /// Writers of old gave unions a bitmap.
    old: bool,
}

impl<'a> Arrays<'a> {
    pub fn new(
        batch: RecordBatch<'a>,
        version: MetadataVersion,
        body: &'a Buffer,
        unpacker: &'a mut Unpacker,
    ) -> Result<Self, Lost> {
        let codec = match batch.compression() {
            None => None,
            Some(packed) if packed.method() != BodyCompressionMethod::BUFFER => return Err(Lost),
            Some(packed) => Some(match packed.codec() {
                CompressionType::LZ4_FRAME => Codec::Lz4Frame,
                CompressionType::ZSTD => Codec::Zstd,
                _ => return Err(Lost),
            }),
        };
        Ok(Self {
            rows: usize::try_from(batch.length()).map_err(|_| Lost)?,
            nodes: batch.nodes().unwrap_or_default().iter(),
            buffers: batch.buffers().unwrap_or_default().iter(),
            more_buffers: batch.variadicBufferCounts().unwrap_or_default().iter(),
            body,
            codec,
            unpacker,
            old: version < MetadataVersion::V5,
        })
    }

    /// How many rows each array has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The next array, which is of this type. That of codes stands for these values.
    pub fn read(&mut self, data_type: &DataType, values: Option<&ArrayRef>) -> Result<ArrayRef, Lost> {
        let node = self.column()?;
        let nulls = usize::try_from(node.null_count()).map_err(|_| Lost)?;
        let array = ArrayData::builder(data_type.clone()).len(self.rows).align_buffers(true);
        if *data_type == DataType::Null {
            return Ok(make_array(array.build().map_err(|_| Lost)?));
        }
        let bitmap = self.buffer()?;
        if nulls > 0 && bitmap.len() < self.rows.div_ceil(8) {
            return Err(Lost);
        }
        let array = array.null_bit_buffer((nulls > 0).then_some(bitmap)).null_count(nulls);
        let more = match data_type {
            DataType::Binary | DataType::LargeBinary => 2,
            DataType::BinaryView => self.more_buffers()?.checked_add(1).ok_or(Lost)?,
            DataType::Boolean | DataType::FixedSizeBinary(_) | DataType::Dictionary(..) => 1,
            other if other.is_primitive() => 1,
            _ => return Err(Lost),
        };
        // There are no more than the message says, so that this ends with them.
        let buffers = (0..more).map(|_| self.buffer()).collect::<Result<Vec<_>, _>>()?;
        let mut array = array.buffers(buffers);
        if let DataType::Dictionary(..) = data_type {
            array = array.add_child_data(values.ok_or(Lost)?.to_data());
        }
        // Offsets, views and codes are looked at here, all of them.
        Ok(make_array(array.build().map_err(|_| Lost)?))
    }

    /// Leave out the next array, which is of this type. It has as many rows as the others.
    pub fn skip(&mut self, data_type: &DataType) -> Result<(), Lost> {
        self.column()?;
        self.skip_parts(data_type)
    }

    /// What is said of the next column.
    fn column(&mut self) -> Result<&'a FieldNode, Lost> {
        let node = self.nodes.next().ok_or(Lost)?;
        let of_all = |count: i64| usize::try_from(count).is_ok_and(|count| count <= self.rows);
        if usize::try_from(node.length()) == Ok(self.rows) && of_all(node.null_count()) {
            Ok(node)
        } else {
            Err(Lost)
        }
    }

    /// Leave out an array inside of another, which has a length of its own.
    fn skip_inner(&mut self, data_type: &DataType) -> Result<(), Lost> {
        self.nodes.next().ok_or(Lost)?;
        self.skip_parts(data_type)
    }

    /// Leave out the buffers of an array, and the arrays in it.
    fn skip_parts(&mut self, data_type: &DataType) -> Result<(), Lost> {
        use DataType as T;
        match data_type {
            T::Null => Ok(()),
            T::Utf8 | T::Binary | T::LargeUtf8 | T::LargeBinary => self.skip_buffers(3),
            T::Utf8View | T::BinaryView => {
                let more = self.more_buffers()?;
                self.skip_buffers(more.checked_add(2).ok_or(Lost)?)
            }
            T::List(inner) | T::LargeList(inner) | T::Map(inner, _) => {
                self.skip_buffers(2)?;
                self.skip_inner(inner.data_type())
            }
            T::ListView(inner) | T::LargeListView(inner) => {
                self.skip_buffers(3)?;
                self.skip_inner(inner.data_type())
            }
            T::FixedSizeList(inner, _) => {
                self.skip_buffers(1)?;
                self.skip_inner(inner.data_type())
            }
            T::Struct(fields) => {
                self.skip_buffers(1)?;
                fields.iter().try_for_each(|field| self.skip_inner(field.data_type()))
            }
            T::RunEndEncoded(ends, values) => {
                self.skip_inner(ends.data_type())?;
                self.skip_inner(values.data_type())
            }
            T::Union(fields, mode) => {
                let offsets = usize::from(*mode == UnionMode::Dense);
                self.skip_buffers(1 + usize::from(self.old) + offsets)?;
                fields.iter().try_for_each(|(_, field)| self.skip_inner(field.data_type()))
            }
            _ => self.skip_buffers(2),
        }
    }

    fn more_buffers(&mut self) -> Result<usize, Lost> {
        usize::try_from(self.more_buffers.next().ok_or(Lost)?).map_err(|_| Lost)
    }

    fn skip_buffers(&mut self, count: usize) -> Result<(), Lost> {
        if self.buffers.len() < count {
            return Err(Lost);
        }
        self.buffers.by_ref().take(count).for_each(drop);
        Ok(())
    }

    /// The next buffer, unpacked.
    fn buffer(&mut self) -> Result<Buffer, Lost> {
        /// Stands where bytes would not have become fewer.
        const NOT_PACKED: i64 = -1;
        let place = self.buffers.next().ok_or(Lost)?;
        let at = usize::try_from(place.offset()).map_err(|_| Lost)?;
        let length = usize::try_from(place.length()).map_err(|_| Lost)?;
        if at.checked_add(length).is_none_or(|end| end > self.body.len()) {
            return Err(Lost);
        }
        let bytes = self.body.slice_with_length(at, length);
        let Some(codec) = self.codec.filter(|_| length > 0) else { return Ok(bytes) };
        let (unpacked, packed) = bytes.split_first_chunk::<8>().ok_or(Lost)?;
        match i64::from_le_bytes(*unpacked) {
            NOT_PACKED => Ok(bytes.slice(unpacked.len())),
            0 => Ok(Buffer::default()),
            length => {
                let length = usize::try_from(length).map_err(|_| Lost)?;
                Ok(Buffer::from_vec(self.unpacker.unpack(codec, packed, length)?))
            }
        }
    }
}
