//! A Parquet file that is written row by row: columns as they are declared, buffered for a row group at a time.
//!
//! It writes flat tables only. Memory is bounded by [`GROUP_ROWS`]; texts that repeat are held once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// Rows of a row group: enough for an engine to skip by, few enough to hold in memory.
pub(super) const GROUP_ROWS: usize = 32_768;

/// How hard texts and numbers are compressed; higher levels gain little on columns that are sorted.
const ZSTD_LEVEL: i32 = 6;

/// A column: its name, what it holds in words, and where its value comes from.
pub(super) struct Column<Row: 'static> {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) value: Of<Row>,
}

/// The type of a column with the function that finds its value in a row.
pub(super) enum Of<Row: 'static> {
    /// Text that every row has.
    Name(for<'r> fn(&'r Row) -> Cow<'r, str>),
    /// Text.
    Text(for<'r> fn(&'r Row) -> Option<Cow<'r, str>>),
    /// A whole number that every row has.
    Count(fn(&Row) -> i64),
    /// A whole number.
    Whole(fn(&Row) -> Option<i64>),
    /// A floating-point number.
    Real(fn(&Row) -> Option<f64>),
    /// Yes or no.
    Flag(fn(&Row) -> Option<bool>),
    /// A day that every row has, in days since 1970.
    Day(fn(&Row) -> i32),
    /// A day, in days since 1970.
    MaybeDay(fn(&Row) -> Option<i32>),
}

impl<Row> Of<Row> {
    /// The column's type as SQL names it.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Name(_) | Self::Text(_) => "VARCHAR",
            Self::Count(_) | Self::Whole(_) => "BIGINT",
            Self::Real(_) => "DOUBLE",
            Self::Flag(_) => "BOOLEAN",
            Self::Day(_) | Self::MaybeDay(_) => "DATE",
        }
    }

    /// Whether a row may have no value.
    pub(super) const fn is_optional(&self) -> bool {
        !matches!(self, Self::Name(_) | Self::Count(_) | Self::Day(_))
    }

    fn form(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match self {
            Self::Name(_) | Self::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Count(_) | Self::Whole(_) => (Physical::INT64, None),
            Self::Real(_) => (Physical::DOUBLE, None),
            Self::Flag(_) => (Physical::BOOLEAN, None),
            Self::Day(_) | Self::MaybeDay(_) => (Physical::INT32, Some(LogicalType::Date)),
        };
        let is_there = if self.is_optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let form = Type::primitive_type_builder(name, physical)
            .with_repetition(is_there)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(form))
    }

    const fn buffer(&self) -> Buffer {
        match self {
            Self::Name(_) | Self::Text(_) => Buffer::Texts(Vec::new()),
            Self::Count(_) | Self::Whole(_) => Buffer::Wholes(Vec::new()),
            Self::Real(_) => Buffer::Reals(Vec::new()),
            Self::Flag(_) => Buffer::Flags(Vec::new()),
            Self::Day(_) | Self::MaybeDay(_) => Buffer::Days(Vec::new()),
        }
    }
}

/// The values of a column that are not yet written.
enum Buffer {
    Texts(Vec<ByteArray>),
    Wholes(Vec<i64>),
    Reals(Vec<f64>),
    Flags(Vec<bool>),
    Days(Vec<i32>),
}

/// A Parquet file in the making.
pub(super) struct Sheet<Row: 'static, Out: Write + Send> {
    columns: &'static [Column<Row>],
    /// For each column its values, and for each row whether it has one.
    held: Vec<(Buffer, Vec<i16>)>,
    held_rows: usize,
    /// Texts of this row group, each once.
    texts: HashMap<Box<str>, ByteArray>,
    rows: u64,
    writer: SerializedFileWriter<Out>,
}

impl<Row, Out: Write + Send> Sheet<Row, Out> {
    /// An empty table called `table` with `columns`, whose rows will come in the order of the columns `sorted_by`.
    /// `notes` are kept in the file beside the table.
    pub(super) fn new(
        out: Out,
        table: &str,
        columns: &'static [Column<Row>],
        sorted_by: &[&str],
        notes: &[(&str, &str)],
    ) -> Result<Self, ParquetError> {
        let fields: Vec<TypePtr> =
            columns.iter().map(|it| it.value.form(it.name)).collect::<Result<_, _>>()?;
        let form = Type::group_type_builder(table).with_fields(fields).build()?;
        let place = |name: &&str| columns.iter().position(|column| column.name == *name);
        let sorted = sorted_by.iter().filter_map(place).filter_map(|at| i32::try_from(at).ok());
        let sorting = sorted.map(|column_idx| SortingColumn {
            column_idx,
            descending: false,
            nulls_first: false,
        });
        let note = |(key, value): &(&str, &str)| {
            KeyValue::new((*key).to_owned(), Some((*value).to_owned()))
        };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_created_by(concat!("cardproof-hub ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_sorting_columns(Some(sorting.collect()))
            .set_key_value_metadata(Some(notes.iter().map(note).collect()))
            .build();
        Ok(Self {
            columns,
            held: columns.iter().map(|column| (column.value.buffer(), Vec::new())).collect(),
            held_rows: 0,
            texts: HashMap::new(),
            rows: 0,
            writer: SerializedFileWriter::new(out, Arc::new(form), Arc::new(properties))?,
        })
    }

    /// Adds `row`.
    pub(super) fn push(&mut self, row: &Row) -> Result<(), ParquetError> {
        for (column, (buffer, levels)) in self.columns.iter().zip(&mut self.held) {
            let texts = &mut self.texts;
            let is_there = match (&column.value, buffer) {
                (Of::Name(of), Buffer::Texts(held)) => add(held, Some(once(texts, of(row)))),
                (Of::Text(of), Buffer::Texts(held)) => {
                    add(held, of(row).map(|text| once(texts, text)))
                }
                (Of::Count(of), Buffer::Wholes(held)) => add(held, Some(of(row))),
                (Of::Whole(of), Buffer::Wholes(held)) => add(held, of(row)),
                (Of::Real(of), Buffer::Reals(held)) => add(held, of(row)),
                (Of::Flag(of), Buffer::Flags(held)) => add(held, of(row)),
                (Of::Day(of), Buffer::Days(held)) => add(held, Some(of(row))),
                (Of::MaybeDay(of), Buffer::Days(held)) => add(held, of(row)),
                _ => return Err(ParquetError::General("a buffer of another type".to_owned())),
            };
            levels.push(i16::from(is_there));
        }
        self.held_rows += 1;
        self.rows += 1;
        if self.held_rows == GROUP_ROWS { self.end_group() } else { Ok(()) }
    }

    /// Writes what is held as a row group.
    fn end_group(&mut self) -> Result<(), ParquetError> {
        if self.held_rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (column, (buffer, levels)) in self.columns.iter().zip(&mut self.held) {
            let missing = || ParquetError::General("a column too few".to_owned());
            let mut writer = group.next_column()?.ok_or_else(missing)?;
            let levels_or_none = column.value.is_optional().then_some(levels.as_slice());
            write(&mut writer, buffer, levels_or_none)?;
            writer.close()?;
            levels.clear();
        }
        group.close()?;
        self.held_rows = 0;
        self.texts.clear();
        Ok(())
    }

    /// Ends the file; returns where it was written to, and how many rows it has.
    pub(super) fn finish(mut self) -> Result<(Out, u64), ParquetError> {
        self.end_group()?;
        Ok((self.writer.into_inner()?, self.rows))
    }
}

/// Puts `value` into `held` if it is there; whether it is.
fn add<T>(held: &mut Vec<T>, value: Option<T>) -> bool {
    let is_there = value.is_some();
    held.extend(value);
    is_there
}

/// `text` as it is held among `texts`.
fn once(texts: &mut HashMap<Box<str>, ByteArray>, text: Cow<'_, str>) -> ByteArray {
    if let Some(known) = texts.get(text.as_ref()) {
        return known.clone();
    }
    let bytes = ByteArray::from(text.as_bytes().to_vec());
    texts.insert(text.into(), bytes.clone());
    bytes
}

fn write(
    writer: &mut SerializedColumnWriter<'_>,
    buffer: &mut Buffer,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    match buffer {
        Buffer::Texts(held) => {
            writer.typed::<ByteArrayType>().write_batch(held, levels, None)?;
            held.clear();
        }
        Buffer::Wholes(held) => {
            writer.typed::<Int64Type>().write_batch(held, levels, None)?;
            held.clear();
        }
        Buffer::Reals(held) => {
            writer.typed::<DoubleType>().write_batch(held, levels, None)?;
            held.clear();
        }
        Buffer::Flags(held) => {
            writer.typed::<BoolType>().write_batch(held, levels, None)?;
            held.clear();
        }
        Buffer::Days(held) => {
            writer.typed::<Int32Type>().write_batch(held, levels, None)?;
            held.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    const COLUMNS: &[Column<i64>] = &[
        Column {
            name: "name",
            about: "",
            value: Of::Name(|row| Cow::Owned(format!("n{}", row % 7))),
        },
        Column { name: "number", about: "", value: Of::Count(|row| *row) },
        Column {
            name: "half",
            about: "",
            value: Of::Real(|row| (row % 2 == 0).then_some(*row as f64 / 2.0)),
        },
        Column { name: "is_even", about: "", value: Of::Flag(|row| Some(row % 2 == 0)) },
        Column { name: "day", about: "", value: Of::Day(|row| i32::try_from(*row).unwrap_or(0)) },
    ];

    #[test]
    fn rows_come_back_over_the_bounds_of_row_groups() {
        let count = GROUP_ROWS as i64 + 10;
        let mut sheet =
            Sheet::new(Vec::new(), "table", COLUMNS, &["number"], &[("key", "value")]).unwrap();
        (0..count).for_each(|row| sheet.push(&row).unwrap());
        let (bytes, rows) = sheet.finish().unwrap();
        assert_eq!(rows, count as u64);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let sorted = reader.metadata().row_group(1).sorting_columns().unwrap();
        assert_eq!(sorted[0].column_idx, 1);
        for (at, row) in reader.get_row_iter(None).unwrap().enumerate() {
            let (row, at) = (row.unwrap(), at as i64);
            assert_eq!(row.get_string(0).unwrap(), &format!("n{}", at % 7));
            assert_eq!(row.get_long(1).unwrap(), at);
            assert_eq!(row.get_double(2).ok(), (at % 2 == 0).then_some(at as f64 / 2.0));
            assert_eq!(row.get_bool(3).unwrap(), at % 2 == 0);
        }
    }

    #[test]
    fn an_empty_table_is_a_file_too() {
        let sheet = Sheet::new(Vec::new(), "table", COLUMNS, &[], &[]).unwrap();
        let (bytes, rows) = sheet.finish().unwrap();
        assert_eq!((rows, &bytes[..4], &bytes[bytes.len() - 4..]), (0, &b"PAR1"[..], &b"PAR1"[..]));
    }
}
