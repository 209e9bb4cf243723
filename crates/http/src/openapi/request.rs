//! What a request may say. A declaration is both the schema in the document and the list of the
//! names that are taken: there is no second list.

/// The fields of a body, or of an object within one.
pub(crate) trait Request {
    /// Their names.
    const FIELDS: &'static [&'static str];
}

/// The parameters of a query.
pub(crate) trait Query {
    /// Their names.
    const NAMES: &'static [&'static str];
}

/// Declares the fields of a body: `request! { /// A title. struct Titled { title: String } }`.
/// An `Option` is a field that may be absent or `null`. The handler reads the fields by name with
/// [`crate::extract::Fields`]; nothing else makes a value of such a type.
macro_rules! request {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        $vis struct $name {
            $($(#[$field_meta])* $field: $type,)*
        }
        impl $crate::openapi::Request for $name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field),)*];
        }
    )*};
}

/// Declares the parameters of a query, in the same way.
macro_rules! query {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(utoipa::IntoParams)]
        #[into_params(parameter_in = Query)]
        #[expect(dead_code, reason = "a declaration; the parameters are read by name")]
        $vis struct $name {
            $($(#[$field_meta])* $field: $type,)*
        }
        impl $crate::openapi::Query for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field),)*];
        }
    )*};
}

pub(crate) use {query, request};
