//! Named fault points, on in test builds.
