//! The kinds of providers, which the registry names too.

pub use capability_gen::implementation::ProviderKind;
