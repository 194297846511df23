//! A second family of storage devices, made from descriptions in words alone.
//!
//! Whoever wrote these devices did not know how `verify` infers, so they hold its promises to what
//! nobody planned for. They are made of parts that combine freely: a [`layout`] says which addresses
//! have a cell, a [`store`] keeps some of what has none, a [`void`] says what is read of the rest,
//! and [`flaws`] fail. A seed draws each device and its [`Truth`].
//!
//! Contents are kept as runs of sectors and time is virtual, so that a card of 2 TB costs what was
//! written to it. Nothing here is shared with the simulated cards of `cardproof-sim`.

mod cells;
mod device;
mod flaws;
mod kinds;
mod layout;
mod reducing;
mod slots;
mod specimen;
mod store;
mod void;

pub(crate) use cells::Numbering;
pub(crate) use kinds::KINDS;
pub(crate) use specimen::{Draw, Specimen, Truth};

/// Bytes of a sector, the unit of every device here.
const SECTOR: u64 = 512;
