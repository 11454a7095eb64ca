//! The search that no text can make slow: Knuth, Morris and Pratt over lines, fed one line at a time.

/// The state of a search: how many lines of the pattern the last lines of the text are equal to.
///
/// It may be left after a hit and resumed later, so that counting overlapping hits stays linear.
#[derive(Clone, Debug)]
pub(crate) struct Kmp {
    /// `fail[q]`: length of the longest border of the first `q` pattern lines, for `q` of 1 to the pattern's length.
    fail: Vec<u32>,
    matched: usize,
    /// The next line of the text to be fed.
    next: usize,
}

impl Kmp {
    /// Prepares a pattern of `len` lines; `eq` compares two of its lines. Linear in `len`.
    pub(crate) fn new(len: usize, mut eq: impl FnMut(usize, usize) -> bool) -> Self {
        let mut fail = vec![0_u32; len + 1];
        let mut border = 0_usize;
        for q in 1..len {
            while border > 0 && !eq(q, border) {
                border = fail[border] as usize;
            }
            border += usize::from(eq(q, border));
            fail[q + 1] = border as u32;
        }
        Kmp { fail, matched: 0, next: 0 }
    }

    /// Makes ready to find hits at line `from` and below, keeping what is known of the lines behind it.
    pub(crate) fn seek(&mut self, from: usize) {
        let told = usize::from(self.matched + 1 == self.fail.len());
        let undecided = self.next - self.matched + told;
        if from < undecided || from >= self.next {
            self.matched = 0;
            self.next = from;
        }
    }

    /// The next line of the text to be fed.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Feeds a line; `eq(q)` compares it with pattern line `q`. Says where a hit that ends with this line begins.
    #[inline]
    pub(crate) fn feed(&mut self, mut eq: impl FnMut(usize) -> bool) -> Option<usize> {
        let len = self.fail.len() - 1;
        if self.matched == len {
            self.matched = self.fail[len] as usize;
        }
        loop {
            if eq(self.matched) {
                self.matched += 1;
                break;
            }
            if self.matched == 0 {
                break;
            }
            self.matched = self.fail[self.matched] as usize;
        }
        self.next += 1;
        (self.matched == len).then(|| self.next - len)
    }
}
