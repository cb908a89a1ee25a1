//! Devices and processes that have names instead of numbers.

use super::fields::Fault;
use super::quotes;
use super::reader::MOST_DEVICES;
use super::record::COLUMNS_HINT;

/// Names, numbered in the order of first appearance. Takes no more of them than a trace may have
/// devices, so a misread column cannot fill the memory.
#[derive(Default, Debug)]
pub(crate) struct Names {
    list: Vec<Box<[u8]>>,
    /// The numbers in the order of their names.
    sorted: Vec<u32>,
    /// The number returned last: nearly always the next one too.
    last: u32,
}

impl Names {
    /// The number of a name that is known.
    #[inline]
    pub(crate) fn find(&mut self, name: &[u8]) -> Option<u32> {
        if self.list.get(self.last as usize).is_none_or(|last| **last != *name) {
            self.last = self.search(name).ok()?;
        }
        Some(self.last)
    }

    /// The number of a name, known or new.
    #[inline]
    pub(crate) fn number(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        self.find(name).map_or_else(|| self.add(name), Ok)
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        if self.list.len() == MOST_DEVICES {
            let found = format!("more than {MOST_DEVICES} names");
            return Err(Fault::whole(found, "a device or a process in its column", COLUMNS_HINT));
        }
        self.last = self.list.len() as u32;
        let place = self.search(name).expect_err("the name is not known");
        self.sorted.insert(place, self.last);
        self.list.push(name.into());
        Ok(self.last)
    }

    /// The number of a name, or its place in the order of names.
    fn search(&self, name: &[u8]) -> Result<u32, usize> {
        let at = |&n: &u32| (*self.list[n as usize]).cmp(name);
        self.sorted.binary_search_by(at).map(|i| self.sorted[i])
    }

    /// The name with this number, for messages.
    pub(crate) fn name(&self, number: u32) -> String {
        String::from_utf8_lossy(&quotes::restored(&self.list[number as usize])).into_owned()
    }
}
