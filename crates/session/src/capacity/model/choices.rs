//! Every path through a program that asks for its luck: each answer in turn at each question.

/// The answers of one path, and where the next question stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    /// Each answer and of how many.
    script: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// One of `count` answers, from 0.
    pub(super) fn choose(&mut self, count: usize) -> usize {
        if self.at == self.script.len() {
            self.script.push((0, count));
        }
        let (answer, of) = self.script[self.at];
        assert_eq!(of, count, "the program is the same on the same path");
        self.at += 1;
        answer
    }

    /// Goes to the next path; whether there is one.
    pub(super) fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((answer, of)) = self.script.pop() {
            if answer + 1 < of {
                self.script.push((answer + 1, of));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_taken_once() {
        let mut choices = Choices::default();
        let mut paths = Vec::new();
        loop {
            let first = choices.choose(3);
            paths.push((first, (first == 1).then(|| choices.choose(2))));
            if !choices.next() {
                break;
            }
        }
        assert_eq!(paths, [(0, None), (1, Some(0)), (1, Some(1)), (2, None)]);
    }
}
