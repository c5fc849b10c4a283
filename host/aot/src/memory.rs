//! Bounds-checked reads of an engine's memory.

/// An engine's linear memory.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a>(pub(crate) &'a [u8]);

impl<'a> Memory<'a> {
    pub(crate) fn bytes(self, address: u32, length: u32) -> Option<&'a [u8]> {
        let start = address as usize;
        self.0.get(start..start.checked_add(length as usize)?)
    }

    fn array<const N: usize>(self, address: u32) -> Option<[u8; N]> {
        self.bytes(address, N as u32)?.try_into().ok()
    }

    pub(crate) fn u8(self, address: u32) -> Option<u8> {
        self.array::<1>(address).map(|[byte]| byte)
    }

    pub(crate) fn u16(self, address: u32) -> Option<u16> {
        self.array(address).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(self, address: u32) -> Option<u32> {
        self.array(address).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(self, address: u32) -> Option<u64> {
        self.array(address).map(u64::from_le_bytes)
    }
}
