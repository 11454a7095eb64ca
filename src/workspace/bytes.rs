//! The content of a file in memory: a plain vector, or pages of their own when it is large.
//!
//! A hundred megabytes in small pages are 25,000 page faults, which cost more than reading them. A large content
//! therefore lies in an anonymous map for which huge pages are asked. Nothing is ever mapped from a file: somebody else
//! could cut it short underneath.

use std::fmt;
use std::ops::Deref;

use memmap2::MmapMut;

/// Contents from this size on get pages of their own. Huge pages have 2 MiB, so less would gain little.
const LARGE: usize = 4 << 20;

/// The bytes of a file.
#[derive(Default)]
pub struct Bytes(Held);

enum Held {
    Small(Vec<u8>),
    /// The map may be longer than the content.
    Large(MmapMut, usize),
}

impl Default for Held {
    fn default() -> Self {
        Held::Small(Vec::new())
    }
}

impl Bytes {
    /// The content as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Held::Small(bytes) => bytes,
            Held::Large(map, len) => &map[..*len],
        }
    }

    /// A buffer of `len` bytes to be read into, all zero; `None` when so small that a vector does, or when the system has
    /// no pages to give.
    pub(super) fn pages(len: usize) -> Option<MmapMut> {
        if len < LARGE {
            return None;
        }
        let map = MmapMut::map_anon(len).ok()?;
        // A system that has no huge pages gives small ones.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _small_pages_do = map.advise(memmap2::Advice::HugePage);
        Some(map)
    }

    /// The first `len` bytes of what was read into pages.
    pub(super) fn from_pages(map: MmapMut, len: usize) -> Self {
        debug_assert!(len <= map.len(), "BUG: more was read than there is room for");
        Bytes(Held::Large(map, len))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(Held::Small(bytes))
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}
