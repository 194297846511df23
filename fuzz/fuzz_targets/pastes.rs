//! Any bytes as a paste: the cleaner keeps the order of lines and knows their numbers, and what `identify`,
//! `health` and `traces` look for in a clean text is found or not without a panic.
#![no_main]

use cardproof_import::{clean, closed_json, decode, recognise};
use cardproof_registers::{find_blocks, find_cards, find_life};
use cardproof_trace::is_blkparse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = decode(data);
    let cleaned = clean(&text);
    let count = cleaned.text.lines().count();
    let numbers: Vec<usize> = (1..=count).map(|line| cleaned.number_of(line)).collect();
    assert!(numbers.is_sorted());
    assert!(numbers.iter().all(|number| (1..=text.lines().count()).contains(number)));
    assert!(!cleaned.text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
    let _ = (recognise(&text), closed_json(&cleaned.text), is_blkparse(&cleaned.text));
    let _ = (find_life(&cleaned.text), find_blocks(&cleaned.text, 512));
    if let Ok(cards) = find_cards(&cleaned.text) {
        assert!(!cards.is_empty());
    }
});
