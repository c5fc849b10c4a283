//! residue
