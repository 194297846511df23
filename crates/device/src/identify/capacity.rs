//! Do the capacities agree: of the card's register, of the kernel, of the last partition's end.
//!
//! They differ where a register was forged, where a card was partitioned for a larger one, or
//! where a reader does not know large cards. Agreement proves nothing: only writing and reading
//! the whole capacity does.

use cardproof_units::Bytes;
use serde::Serialize;

use crate::block::BlockDevice;

/// Three answers to the question how large a device is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// By the kernel, from sysfs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_bytes: Option<Bytes>,
    /// By the card's CSD or EXT_CSD register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register_bytes: Option<Bytes>,
    /// Where the last partition ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions_end_bytes: Option<Bytes>,
    /// What does not agree, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<String>,
}

impl Capacity {
    /// The capacities of `device`, a whole device, with its register's if there is one.
    pub(crate) fn of(device: &BlockDevice<'_>, register_bytes: Option<Bytes>) -> Self {
        let ends = device.partitions().into_iter().filter_map(|partition| {
            let (start, size) = (super::alignment::start_of(&partition)?, partition.size()?);
            start.checked_add(size)
        });
        let capacity = Self {
            kernel_bytes: device.size(),
            register_bytes,
            partitions_end_bytes: ends.max(),
            disagreements: Vec::new(),
        };
        Self { disagreements: capacity.compared(), ..capacity }
    }

    fn compared(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let (Some(kernel), Some(register)) = (self.kernel_bytes, self.register_bytes)
            && kernel != register
        {
            words.push(format!(
                "the register says {} bytes, the kernel {} bytes",
                register.get(),
                kernel.get()
            ));
        }
        if let (Some(kernel), Some(end)) = (self.kernel_bytes, self.partitions_end_bytes)
            && end > kernel
        {
            words.push(format!(
                "the last partition ends at {} bytes, behind the device's {} bytes",
                end.get(),
                kernel.get()
            ));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let capacity = |kernel, register, end| Capacity {
            kernel_bytes: kernel,
            register_bytes: register,
            partitions_end_bytes: end,
            disagreements: Vec::new(),
        };
        let (small, large) = (Some(Bytes::gib(8)), Some(Bytes::gib(64)));
        assert!(capacity(large, large, small).compared().is_empty());
        assert!(capacity(small, None, None).compared().is_empty());
        assert_eq!(capacity(small, large, None).compared().len(), 1);
        assert_eq!(capacity(small, large, large).compared().len(), 2);
    }
}
