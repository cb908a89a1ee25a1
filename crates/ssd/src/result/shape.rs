//! How a result is declared: each field once, with its type, its unit and its meaning.
//!
//! A `table!` is a struct whose fields are keys of the result. Its declaration gives the JSON, the
//! shape that stored results are checked against, an empty result, and the page that describes them.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The shape of a value in a result.
pub(crate) enum ValueShape {
    /// A whole number of at least zero.
    Count,
    Number,
    Text,
    Flag,
    /// Anything: settings, or the counters of a policy.
    Free,
    List(Box<Self>),
    /// A value for each name of a list.
    Each(NameList, Box<Self>),
    /// A value for each name that the run decides, such as that of a flow.
    Named(&'static str, Box<Self>),
    TableDecl(TableDecl),
}

/// The declaration of a table: its name is that of the struct, and no other table has it.
#[derive(Copy, Clone)]
pub(crate) struct TableDecl {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: fn() -> Vec<KeyDecl>,
}

/// One key of a table.
pub(crate) struct KeyDecl {
    pub(crate) name: &'static str,
    /// The unit of the numbers here and below; empty for plain numbers and for other values.
    pub(crate) unit: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: TypeDecl,
    pub(crate) since: Since,
}

/// The type of a value, as a declaration needs it.
pub(crate) struct TypeDecl {
    pub(crate) shape: ValueShape,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    /// Whether its key may be missing.
    pub(crate) optional: bool,
}

/// Since when results have a key, and the value that stands for it in earlier results.
#[derive(Copy, Clone, PartialEq)]
pub(crate) enum Since {
    /// The first version that stored results.
    Start,
    /// A later one. Earlier results have zero of it.
    LaterZero,
    /// A later one. Earlier versions did not measure it.
    LaterNull,
}

/// Names that are the same in every run.
pub(crate) struct NameList {
    /// Their common name, in the singular.
    pub(crate) of: &'static str,
    pub(crate) names: Vec<NameDecl>,
}

/// One of them.
pub(crate) struct NameDecl {
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) since: Since,
}

impl NameDecl {
    /// A name that all results have.
    pub(crate) const fn new(key: &'static str, about: &'static str) -> Self {
        Self { key, about, since: Since::Start }
    }
}

impl Since {
    /// For a count: it is zero in earlier results, unless they had the name from the start.
    pub(crate) const fn unless(start: bool) -> Self {
        if start { Self::Start } else { Self::LaterZero }
    }
}

/// A list of names, as a type.
pub(crate) trait ListOfNames {
    fn list() -> NameList;
}

/// A type of values in a result.
pub(crate) trait Declared: Sized {
    fn kind() -> TypeDecl;

    fn value(self) -> Value;

    /// The keys that a field of this type adds to its table; usually one.
    fn keys(field: KeyDecl) -> Vec<KeyDecl> {
        vec![field]
    }

    /// Puts it into a table under its key.
    fn put(self, key: &str, into: &mut Map<String, Value>) {
        into.insert(key.to_owned(), self.value());
    }
}

impl TypeDecl {
    /// Never null, never missing.
    pub(crate) fn of(shape: ValueShape) -> Self {
        Self { shape, nullable: false, optional: false }
    }
}

macro_rules! plain {
    ($($type:ty: $shape:ident;)+) => {$(
        impl Declared for $type {
            fn kind() -> TypeDecl {
                TypeDecl::of(ValueShape::$shape)
            }

            fn value(self) -> Value {
                self.into()
            }
        }
    )+};
}

plain! {
    u32: Count;
    u64: Count;
    usize: Count;
    i64: Number;
    f64: Number;
    bool: Flag;
    String: Text;
    &'static str: Text;
    Value: Free;
}

impl<T: Declared> Declared for Option<T> {
    fn kind() -> TypeDecl {
        TypeDecl { nullable: true, ..T::kind() }
    }

    fn value(self) -> Value {
        self.map_or(Value::Null, T::value)
    }
}

impl<T: Declared> Declared for Vec<T> {
    fn kind() -> TypeDecl {
        TypeDecl::of(ValueShape::List(Box::new(T::kind().shape)))
    }

    fn value(self) -> Value {
        self.into_iter().map(T::value).collect()
    }
}

/// A key that only some commands add to a result.
pub(crate) struct Only<T>(pub(super) Option<T>);

impl<T: Declared> Declared for Only<T> {
    fn kind() -> TypeDecl {
        TypeDecl { optional: true, ..T::kind() }
    }

    fn value(self) -> Value {
        self.0.map_or(Value::Null, T::value)
    }

    fn put(self, key: &str, into: &mut Map<String, Value>) {
        if let Some(value) = self.0 {
            value.put(key, into);
        }
    }
}

/// A value for each name of the list `N`, in its order.
pub(crate) struct EachName<N, T>(Vec<T>, PhantomData<N>);

impl<N: ListOfNames, T: Declared> EachName<N, T> {
    /// The values, in the order of the list.
    pub(crate) fn new(values: impl IntoIterator<Item = T>) -> Self {
        Self(values.into_iter().collect(), PhantomData)
    }
}

impl<N: ListOfNames, T: Declared> Declared for EachName<N, T> {
    fn kind() -> TypeDecl {
        TypeDecl::of(ValueShape::Each(N::list(), Box::new(T::kind().shape)))
    }

    fn value(self) -> Value {
        let names = N::list().names;
        assert_eq!(names.len(), self.0.len(), "there is a value for each {}", N::list().of);
        let pairs = names.into_iter().zip(self.0);
        pairs.map(|(name, value)| (name.key.to_owned(), value.value())).collect()
    }
}

/// A value for each name of a list, as keys of the table itself.
pub(crate) struct Flat<N, T>(pub(crate) EachName<N, T>);

impl<N: ListOfNames, T: Declared> Declared for Flat<N, T> {
    fn kind() -> TypeDecl {
        EachName::<N, T>::kind()
    }

    fn value(self) -> Value {
        self.0.value()
    }

    fn keys(field: KeyDecl) -> Vec<KeyDecl> {
        let key = |NameDecl { key, about, since }| KeyDecl {
            name: key,
            unit: field.unit,
            about,
            kind: T::kind(),
            since,
        };
        N::list().names.into_iter().map(key).collect()
    }

    fn put(self, _: &str, into: &mut Map<String, Value>) {
        let Value::Object(mut all) = self.value() else { unreachable!("a list has names") };
        into.append(&mut all);
    }
}

/// A value for each name that the run decides.
pub(crate) struct ByName<N, T>(Vec<(String, T)>, PhantomData<N>);

/// The kind of thing that has such names.
pub(crate) trait Called {
    const OF: &'static str;
}

impl<N: Called, T: Declared> ByName<N, T> {
    pub(crate) fn new(values: impl IntoIterator<Item = (String, T)>) -> Self {
        Self(values.into_iter().collect(), PhantomData)
    }
}

impl<N: Called, T: Declared> Declared for ByName<N, T> {
    fn kind() -> TypeDecl {
        TypeDecl::of(ValueShape::Named(N::OF, Box::new(T::kind().shape)))
    }

    fn value(self) -> Value {
        self.0.into_iter().map(|(name, value)| (name, value.value())).collect()
    }
}

/// Declares a table: a struct whose fields are the keys, in the order of the result.
///
/// The first paragraph describes the table. Each field has its meaning as a comment, its type, its
/// unit if it has one, and `later 0` or `later null` if results of earlier versions lack it.
macro_rules! table {
    ($(#[doc = $doc:literal])+ struct $table:ident {
        $($(#[doc = $about:literal])+ $field:ident: $type:ty $(, $unit:literal)?
            $(, later $since:tt)?;)+
    }) => {
        $(#[doc = $doc])+
        pub(crate) struct $table {
            $($(#[doc = $about])+ pub(crate) $field: $type,)+
        }

        impl $crate::result::shape::Declared for $table {
            fn kind() -> $crate::result::shape::TypeDecl {
                fn fields() -> Vec<$crate::result::shape::KeyDecl> {
                    let mut fields = Vec::new();
                    $(fields.extend(<$type as $crate::result::shape::Declared>::keys(
                        $crate::result::shape::KeyDecl {
                            name: stringify!($field),
                            unit: concat!($($unit)?),
                            about: concat!($($about),+),
                            kind: <$type as $crate::result::shape::Declared>::kind(),
                            since: $crate::result::shape::since!($($since)?),
                        },
                    ));)+
                    fields
                }
                $crate::result::shape::TypeDecl::of($crate::result::shape::ValueShape::TableDecl(
                    $crate::result::shape::TableDecl {
                        name: stringify!($table),
                        about: concat!($($doc),+),
                        fields,
                    },
                ))
            }

            fn value(self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $($crate::result::shape::Declared::put(
                    self.$field, stringify!($field), &mut map,
                );)+
                serde_json::Value::Object(map)
            }
        }
    };
}

macro_rules! since {
    () => {
        $crate::result::shape::Since::Start
    };
    (0) => {
        $crate::result::shape::Since::LaterZero
    };
    (null) => {
        $crate::result::shape::Since::LaterNull
    };
}

pub(crate) use {since, table};

/// Shapes as JSON. Tables and lists of names are in it once, and places refer to them by name.
#[derive(Default)]
pub(crate) struct Written {
    tables: BTreeMap<&'static str, Value>,
    names: BTreeMap<&'static str, Value>,
}

impl Written {
    /// A key with its unit, meaning and shape.
    pub(crate) fn field(&mut self, field: KeyDecl) -> Value {
        let KeyDecl { name, unit, about, kind, since } = field;
        json!({
            "name": name,
            "unit": unit,
            "about": about.trim(),
            "nullable": kind.nullable,
            "optional": kind.optional,
            "since": since.written(),
            "shape": self.shape(kind.shape),
        })
    }

    fn shape(&mut self, shape: ValueShape) -> Value {
        let mut inner = |is: &str, of: &str, inside: Box<ValueShape>| {
            let inside = self.shape(*inside);
            json!({ "is": is, "of": of, "inside": inside })
        };
        match shape {
            ValueShape::Count => json!({ "is": "count" }),
            ValueShape::Number => json!({ "is": "number" }),
            ValueShape::Text => json!({ "is": "text" }),
            ValueShape::Flag => json!({ "is": "flag" }),
            ValueShape::Free => json!({ "is": "free" }),
            ValueShape::List(inside) => inner("list", "", inside),
            ValueShape::Named(of, inside) => inner("named", of, inside),
            ValueShape::Each(list, inside) => {
                let value = inner("each", list.of, inside);
                let names = list.names.into_iter().map(
                    |n| json!({ "name": n.key, "about": n.about, "since": n.since.written() }),
                );
                self.names.insert(list.of, names.collect());
                value
            }
            ValueShape::TableDecl(table) => {
                if !self.tables.contains_key(table.name) {
                    let fields = (table.fields)().into_iter().map(|f| self.field(f)).collect();
                    self.tables.insert(
                        table.name,
                        json!({ "about": table.about.trim(), "fields": Value::Array(fields) }),
                    );
                }
                json!({ "is": "table", "of": table.name })
            }
        }
    }

    /// The tables and the lists of names that were used.
    pub(crate) fn met(self) -> (Value, Value) {
        let map = |met: BTreeMap<&str, Value>| {
            met.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        (map(self.tables), map(self.names))
    }
}

impl Since {
    fn written(self) -> Value {
        match self {
            Self::Start => "start".into(),
            Self::LaterZero => "later, 0".into(),
            Self::LaterNull => "later, null".into(),
        }
    }
}
