//! The bus between host and card in words.

use crate::bus::Bus;

impl Bus {
    /// How much it carries, such as `the bus (SD high speed) carries at most 25 MB/s`.
    pub(super) fn carries(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        format!("the bus{name} carries at most {}", self.ceiling)
    }

    /// In words, such as `25 MB/s bus (SD high speed)`.
    pub(super) fn label(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        format!("{} bus{name}", self.ceiling)
    }
}
