//! Addresses of clients as blocks: what one subscriber has, which is counted and limited as one.

use std::net::IpAddr;

/// What one subscriber has: an address of IPv4, or a network of IPv6 with 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Block {
    /// An address.
    V4([u8; 4]),
    /// The first half of an address.
    V6([u16; 4]),
}

impl Block {
    /// Whether it is this machine's own.
    #[must_use]
    pub const fn is_loopback(self) -> bool {
        matches!(self, Self::V4([127, ..]) | Self::V6([0, 0, 0, 0]))
    }
}

/// The block of `client`.
#[must_use]
pub fn block(client: IpAddr) -> Block {
    match client.to_canonical() {
        IpAddr::V4(address) => Block::V4(address.octets()),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Block::V6([a, b, c, d])
        }
    }
}

/// The network around `client` that one connection may draw its addresses from, in words: of IPv4 the first 24 bits, of
/// IPv6 the first 48.
#[must_use]
pub fn neighbourhood(client: IpAddr) -> String {
    match block(client) {
        Block::V4([a, b, c, _]) => format!("{a}.{b}.{c}"),
        Block::V6([a, b, c, _]) => format!("{a:x}:{b:x}:{c:x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscribers_addresses_are_one_block() {
        let of = |text: &str| block(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:2:ffff::"));
        assert_ne!(of("2001:db8:1:2::3"), of("2001:db8:1:3::3"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
