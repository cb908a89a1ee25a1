//! The macro that makes a list of modules a family of policies.

/// Makes a family from the list of its policies and the methods of its trait.
///
/// A policy is a module beside the list that exports `INFO` and `new`, which takes the checked
/// parameters. The list declares the modules and gives each a variant of one enum, so the dispatch
/// is a match that the compiler can inline. A boxed variant takes a policy from outside. The first
/// policy is the default.
macro_rules! family {
    ($d:tt $(#[$doc:meta])* $name:ident: $trait:ident { $($module:ident: $policy:ty),+ $(,)? }
        $($methods:tt)*) => {
        $(pub mod $module;)+

        $(#[$doc])*
        #[allow(missing_docs, non_camel_case_types)] // a variant has the name of its module
        pub enum $name {
            $($module($policy),)+
            /// A user's own.
            Custom(Box<dyn $trait>),
        }

        /// The entries of the list.
        pub(crate) const LIST: &[$crate::info::PolicyInfo] = &[$($module::INFO),+];

        impl $name {
            /// The policy of this name on the list, in its first state.
            pub(crate) fn listed(name: &str, params: &$crate::params::Params) -> Self {
                $(if name == $module::INFO.name {
                    return Self::$module($module::new(params).into());
                })+
                unreachable!("`{name}` was found on the list")
            }

            /// A policy that was made outside.
            pub(crate) fn made(made: $crate::external::Made) -> Self {
                let $crate::external::Made::$trait(policy) = made else {
                    unreachable!("a supplier makes a policy of the family it was asked for");
                };
                Self::Custom(policy)
            }
        }

        macro_rules! each {
            ($d this:expr, $d policy:ident => $d answer:expr) => {
                match $d this {
                    $($name::$module($d policy) => $d answer,)+
                    $name::Custom($d policy) => $d answer,
                }
            };
        }

        #[deny(clippy::missing_trait_methods)]
        impl ftl::Watch for $name {
            $crate::family::forward! { each;
                fn interests(&self) -> ftl::Interests;
                fn attach(&mut self, geometry: &nand::Geometry, logical_pages: u32);
                fn on_access(&mut self, access: &ftl::Access);
                fn on_program(
                    &mut self, lpn: ftl::Lpn, ppn: nand::Ppn, level: nand::Level, tag: nand::Tag,
                    now: kernel::Time
                );
                fn on_invalidate(&mut self, block: nand::BlockId, gain: u32, now: kernel::Time);
                fn on_move(&mut self, lpn: ftl::Lpn, from: nand::Ppn, to: nand::Ppn, tag: nand::Tag);
                fn on_open(&mut self, block: nand::BlockId, stream: ftl::StreamId, role: ftl::Role);
                fn on_close(&mut self, block: nand::BlockId, now: kernel::Time);
                fn on_erase(&mut self, block: nand::BlockId, now: kernel::Time);
                fn next_timer(&self) -> Option<kernel::Time>;
                fn on_timer(
                    &mut self, view: &ftl::FtlView<'_>, now: kernel::Time, plan: &mut ftl::Plan
                );
                fn counters(&self) -> Vec<(&'static str, f64)>;
            }
        }

        // A method that is not passed on would have its default here, not the policy's answer.
        #[deny(clippy::missing_trait_methods)]
        impl $trait for $name {
            $crate::family::forward! { each; $($methods)* }
        }
    };
}

/// Methods that ask the policy, of any kind.
macro_rules! forward {
    ($each:ident;) => {};
    ($each:ident; $(#[$meta:meta])* fn $name:ident(&self $(, $arg:ident: $type:ty)* $(,)?)
        $(-> $answer:ty)?; $($rest:tt)*) => {
        $(#[$meta])*
        fn $name(&self $(, $arg: $type)*) $(-> $answer)? {
            $each!(self, policy => policy.$name($($arg),*))
        }
        $crate::family::forward! { $each; $($rest)* }
    };
    ($each:ident; $(#[$meta:meta])* fn $name:ident(&mut self $(, $arg:ident: $type:ty)* $(,)?)
        $(-> $answer:ty)?; $($rest:tt)*) => {
        $(#[$meta])*
        fn $name(&mut self $(, $arg: $type)*) $(-> $answer)? {
            $each!(self, policy => policy.$name($($arg),*))
        }
        $crate::family::forward! { $each; $($rest)* }
    };
}

pub(crate) use {family, forward};
