//! Whether a line is a sentence of one person to others, and so no name of a device.
//!
//! Above a pasted output stands what somebody asked in a forum as often as the card's name. A question kept as a
//! name would stand before every answer and in every list, so what is in doubt is no name: the record then has none,
//! and `--label` gives it one.

use super::view::Words;

/// Words of sentences that no maker puts on a device: who speaks, verbs, questions, greetings.
static SPOKEN: Words = Words::new(&[
    "advice",
    "am",
    "any",
    "anybody",
    "anyone",
    "are",
    "bought",
    "can",
    "can't",
    "comments",
    "could",
    "did",
    "didn't",
    "do",
    "does",
    "doesn't",
    "don't",
    "everybody",
    "everyone",
    "fail",
    "failing",
    "fails",
    "feels",
    "find",
    "folks",
    "found",
    "get",
    "gets",
    "getting",
    "gives",
    "got",
    "guys",
    "has",
    "have",
    "hello",
    "help",
    "here",
    "here's",
    "hey",
    "hi",
    "how",
    "i'm",
    "i've",
    "is",
    "isn't",
    "issue",
    "issues",
    "it",
    "it's",
    "keeps",
    "looks",
    "me",
    "need",
    "only",
    "ordered",
    "please",
    "pls",
    "problem",
    "problems",
    "question",
    "received",
    "seems",
    "should",
    "slow",
    "so",
    "some",
    "somebody",
    "someone",
    "take",
    "takes",
    "thanks",
    "that",
    "that's",
    "there",
    "these",
    "they",
    "think",
    "this",
    "those",
    "thoughts",
    "tried",
    "trying",
    "very",
    "was",
    "were",
    "what",
    "what's",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "won't",
    "would",
    "you",
    "your",
    // German.
    "bitte",
    "danke",
    "das",
    "dass",
    "eine",
    "frage",
    "gekauft",
    "habe",
    "hallo",
    "hilfe",
    "ich",
    "ist",
    "kann",
    "nicht",
    "sind",
    "und",
    "warum",
    "wie",
    "wieso",
]);

/// Whether `text` is a sentence.
pub(super) fn is_sentence(text: &str) -> bool {
    let word = |part: &str| {
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        word == "i" || SPOKEN.have_in_any_case(&word.replace('\u{2019}', "'"))
    };
    let mut parts = text.split_whitespace();
    let begins_with_speaker = parts.clone().next() == Some("I");
    begins_with_speaker || text.contains('?') || text.ends_with('!') || parts.any(word)
}

#[cfg(test)]
mod tests {
    use super::is_sentence;

    #[test]
    fn questions_and_stories_are_told_from_names() {
        for text in [
            "Hey guys, is this a fake Samsung EVO?",
            "Slow sd card problem - please help!",
            "I bought a SanDisk Ultra 64GB on eBay",
            "Pi 4 boots from SD: any advice",
            "Why so slow",
            "It\u{2019}s the SanDisk",
            "Meine neue Karte ist langsam",
        ] {
            assert!(is_sentence(text), "{text}");
        }
        for text in [
            "SanDisk Ultra 64GB A1",
            "Samsung EVO Plus 128GB UHS I (2021)",
            "Amazon Basics 64GB CQ ON",
            "Card 2: Kingston Canvas Go! Plus",
            "FORESEE SLD64G from 05/2021",
            "My old Intenso",
            "eMMC module of the Rock 5B",
        ] {
            assert!(!is_sentence(text), "{text}");
        }
    }
}
