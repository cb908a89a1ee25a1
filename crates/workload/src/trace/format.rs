//! What makes a list of modules the formats of traces.

use super::record::Parser;

/// What is done with a format's parser, once it is known which one that is.
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

/// What it holds.
pub(super) struct Summary;

impl Visit for Summary {
    type Answer = &'static str;

    fn visit<P: Parser>(self) -> &'static str {
        P::SUMMARY
    }
}

/// Whether its records are events, and name processes.
pub(super) struct Holds;

impl Visit for Holds {
    type Answer = (bool, bool);

    fn visit<P: Parser>(self) -> (bool, bool) {
        (P::EVENTS, P::PROCESSES)
    }
}

/// Makes [`Format`](super::Format) from the modules that read one each, with the type of the parser.
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

            /// The one place that knows every format's parser.
            pub(crate) fn visit<V: $crate::trace::format::Visit>(self, visit: V) -> V::Answer {
                match self {
                    $(Self::$parser => visit.visit::<$module::$parser>(),)+
                }
            }
        }
    };
}

pub(super) use formats;
