//! Rows of a table, by column.

/// One column of some rows of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: String,
    /// A value for each row.
    pub values: Values,
    /// Whether some rows may have no value. They then hold the greatest integer, or not a number.
    pub optional: bool,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// A number of zeros, as numbers below 2^64.
    Zeros(usize),
    /// Numbers below 2^32.
    U32(Vec<u32>),
    /// Numbers below 2^64.
    U64(Vec<u64>),
    /// Fractions.
    F64(Vec<f64>),
    /// Words: the position of each in the list.
    Words(Vec<u8>, Vec<String>),
}

impl Values {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Zeros(n) => *n,
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Words(codes, _) => codes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    /// A column whose rows all have values.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values, optional: false }
    }

    /// Numbers below 2^32.
    pub fn u32(name: impl Into<String>, values: Vec<u32>) -> Self {
        Self::new(name, Values::U32(values))
    }

    /// Numbers below 2^64.
    pub fn u64(name: impl Into<String>, values: Vec<u64>) -> Self {
        Self::new(name, Values::U64(values))
    }

    /// Fractions.
    pub fn f64(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self::new(name, Values::F64(values))
    }

    /// Words: the position of each in the list.
    pub fn words(name: impl Into<String>, codes: Vec<u8>, words: &[&str]) -> Self {
        Self::new(name, Values::Words(codes, words.iter().map(ToString::to_string).collect()))
    }

    /// The same; some rows may have no value.
    pub fn optional(self) -> Self {
        Self { optional: true, ..self }
    }
}
