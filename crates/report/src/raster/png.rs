//! Pixels as a PNG file (ISO/IEC 15948): true colour, eight bits, one deflated block.

/// More costs time and saves next to nothing.
const LEVEL: u8 = 6;

/// The file of `pixels`, red, green and blue of each, line by line.
pub(super) fn encode(width: usize, height: usize, pixels: &[u8]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::with_capacity(13);
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits, true colour, deflate, filters line by line, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &header);
    let mut lines = Vec::with_capacity(pixels.len() + height);
    for line in pixels.chunks(3 * width.max(1)) {
        // No filter.
        lines.push(0);
        lines.extend_from_slice(line);
    }
    chunk(&mut file, *b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&lines, LEVEL));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend_from_slice(data);
    let sum = checksum(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// CRC-32 as PNG has it.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        // The last chunk of every PNG file.
        let file = encode(1, 1, &[0, 0, 0]);
        assert_eq!(
            file[file.len() - 12..],
            [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]
        );
    }
}
