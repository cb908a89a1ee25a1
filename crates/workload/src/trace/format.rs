//! The macro that makes a list of modules the formats of traces.

use super::columns::Columns;
use super::feed::Cut;
use super::record::Parser;

/// The work with a format's parser, once the format is known.
pub(crate) trait Visit {
    type Answer;

    fn visit<P: Parser>(self) -> Self::Answer;
}

/// A format's name.
pub(super) struct Name;

impl Visit for Name {
    type Answer = &'static str;

    fn visit<P: Parser>(self) -> &'static str {
        P::NAME
    }
}

/// Its content.
pub(super) struct Summary;

impl Visit for Summary {
    type Answer = &'static str;

    fn visit<P: Parser>(self) -> &'static str {
        P::SUMMARY
    }
}

/// How it is cut into records.
pub(super) struct Cuts;

impl Visit for Cuts {
    type Answer = Cut;

    fn visit<P: Parser>(self) -> Cut {
        P::CUT
    }
}

/// The content of its records, a table's by the columns that were named.
pub(super) struct Holds<'a>(pub(super) Option<&'a Columns>);

/// The content of records of a format.
#[derive(Copy, Clone)]
pub(super) struct Held {
    /// Whether they are events, of which one represents the request.
    pub(super) events: bool,
    /// They name devices.
    pub(super) devices: bool,
    /// They name processes.
    pub(super) processes: bool,
}

impl Visit for Holds<'_> {
    type Answer = Held;

    fn visit<P: Parser>(self) -> Held {
        Held {
            events: P::EVENTS,
            devices: self.0.map_or(P::DEVICES, Columns::has_device),
            processes: self.0.map_or(P::PROCESSES, Columns::has_process),
        }
    }
}

/// Makes [`Format`](super::Format) from the modules that read one each, with the type of the
/// parser.
macro_rules! formats {
    ($($module:ident::$parser:ident),+ $(,)?) => {
        $(mod $module;)+

        /// A format of trace.
        #[allow(missing_docs)] // each is documented where its parser is
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($parser,)+
        }

        impl Format {
            /// Every format, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$parser),+];

            /// The only place that knows every format's parser.
            pub(crate) fn visit<V: $crate::trace::format::Visit>(self, visit: V) -> V::Answer {
                match self {
                    $(Self::$parser => visit.visit::<$module::$parser>(),)+
                }
            }
        }
    };
}

pub(super) use formats;
