//! Mechanisms that answer one question after another, each chosen with the earlier answers in mind.

pub mod above_threshold;
