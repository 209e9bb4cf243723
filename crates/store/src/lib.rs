//! The journal and the queries, with the SQLite backend.
