//! Rules of the source tree that no compiler checks.
