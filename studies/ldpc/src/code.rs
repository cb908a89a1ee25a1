//! Quasi-cyclic codes: a small table of shifts that stands for a large parity-check matrix.

use kernel::Rng;

/// One circulant of the matrix: an identity of `z` rows whose ones are moved right by `shift`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Circulant {
    /// The block of columns.
    pub column: u32,
    /// Row `i` has its one in column `(i + shift) mod z` of the block.
    pub shift: u32,
}

/// The parameters of a code of this crate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows and columns of a circulant.
    pub z: u32,
    /// Blocks of columns that hold data.
    pub data: u32,
    /// Blocks of rows, and of columns that hold parity; at least 4.
    pub parity: u32,
    /// Ones in each column of data.
    pub weight: u32,
}

impl Shape {
    /// 4 KiB of data at rate 8/9 = 0.889: the rate that the limits of
    /// [`Ldpc`](nand::physics::Ldpc) are read at.
    pub const FLASH: Self = Self { z: 256, data: 128, parity: 16, weight: 4 };

    /// The share of data in a codeword.
    pub fn rate(&self) -> f64 {
        f64::from(self.data) / f64::from(self.data + self.parity)
    }
}

/// A quasi-cyclic low-density parity-check code.
///
/// Bits are bytes of 0 or 1 throughout, so that a circulant is two runs of neighbouring bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    z: usize,
    columns: usize,
    data: usize,
    rows: Vec<Vec<Circulant>>,
}

/// How many sets of shifts a new column is chosen from.
const TRIES: u32 = 64;
/// The shift of the two outer circulants in the first column of parity; any but 0.
const TURN: u32 = 1;

impl Code {
    /// A systematic code, the same for the same shape and seed.
    ///
    /// The part for the parity is that of IEEE 802.16e. Its first column has three circulants, at
    /// top and bottom with one shift and in the middle unshifted. Below the other columns is a
    /// double diagonal. Encoding is then a few sums ([`encode`](Self::encode)). Columns of data get
    /// their circulants in the rows that have fewest, with shifts drawn at random. Kept are those
    /// that close no cycle of four and, among a number of draws, fewest of six.
    pub fn build(shape: Shape, seed: u64) -> Self {
        let Shape { z, data, parity, weight } = shape;
        assert!(
            parity >= 4 && weight >= 2 && weight <= parity && z >= 2,
            "no such code: {shape:?}"
        );
        let mut rng = Rng::named(seed, "ldpc/code");
        let mut cycles = Cycles::new(z, parity);
        let mut rows = vec![Vec::new(); parity as usize];
        // The parity is there before the data, so that these avoid cycles with it.
        let mut tail = vec![Vec::new(); parity as usize];
        for i in 0..parity {
            let ones = if i == 0 {
                vec![(0, TURN), (parity / 2, 0), (parity - 1, TURN)]
            } else {
                vec![(i - 1, 0), (i, 0)]
            };
            cycles.add(&ones);
            for (row, shift) in ones {
                tail[row as usize].push(Circulant { column: data + i, shift });
            }
        }
        for column in 0..data {
            let mut best: Option<(u64, Vec<(u32, u32)>)> = None;
            let mut tries = 0;
            while tries < TRIES || best.is_none() {
                tries += 1;
                assert!(tries < 1_000_000, "no column without a cycle of four is left: {shape:?}");
                let ones = Self::draw(&rows, &tail, weight, z, &mut rng);
                let Some(six) = cycles.closed_by(&ones) else { continue };
                if best.as_ref().is_none_or(|(least, _)| six < *least) {
                    best = Some((six, ones));
                }
            }
            let (_, ones) = best.expect("the loop ends with one");
            cycles.add(&ones);
            for (row, shift) in ones {
                rows[row as usize].push(Circulant { column, shift });
            }
        }
        for (row, tail) in rows.iter_mut().zip(tail) {
            row.extend(tail);
        }
        let columns = (data + parity) as usize;
        Self { z: z as usize, columns, data: data as usize, rows }
    }

    /// A column of data: the rows with fewest circulants, ties broken at random, and shifts.
    fn draw(
        rows: &[Vec<Circulant>],
        tail: &[Vec<Circulant>],
        weight: u32,
        z: u32,
        rng: &mut Rng,
    ) -> Vec<(u32, u32)> {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        rng.shuffle(&mut order);
        order.sort_by_key(|row| rows[*row as usize].len() + tail[*row as usize].len());
        order.truncate(weight as usize);
        order.into_iter().map(|row| (row, rng.below(z))).collect()
    }

    /// A code that others have defined, by its rows of circulants; its data come first. It can be
    /// decoded, and not encoded unless its parity part is that of [`build`](Self::build).
    pub fn of_rows(z: u32, columns: u32, data: u32, rows: Vec<Vec<Circulant>>) -> Self {
        for row in &rows {
            let mut seen = vec![false; columns as usize];
            for one in row {
                assert!(one.shift < z, "{one:?} is shifted by more than {z}");
                let again = std::mem::replace(&mut seen[one.column as usize], true);
                assert!(!again, "{one:?} meets its column twice in one row");
            }
        }
        Self { z: z as usize, columns: columns as usize, data: data as usize, rows }
    }

    /// The same code, bit by bit: circulants of one row and column, in the same order of rows.
    pub fn unfolded(&self) -> Self {
        let rows = self.rows.iter().flat_map(|row| {
            (0..self.z).map(move |i| {
                let at = |one: &Circulant| {
                    let bit = one.column as usize * self.z + (i + one.shift as usize) % self.z;
                    Circulant { column: bit as u32, shift: 0 }
                };
                row.iter().map(at).collect()
            })
        });
        Self {
            z: 1,
            columns: self.columns * self.z,
            data: self.data * self.z,
            rows: rows.collect(),
        }
    }

    /// Rows and columns of a circulant.
    pub fn z(&self) -> usize {
        self.z
    }

    /// The rows of circulants.
    pub fn rows(&self) -> &[Vec<Circulant>] {
        &self.rows
    }

    /// Bits of a codeword.
    pub fn bits(&self) -> usize {
        self.columns * self.z
    }

    /// Bits of data in it, which are its first.
    pub fn data_bits(&self) -> usize {
        self.data * self.z
    }

    /// The share of data.
    pub fn rate(&self) -> f64 {
        self.data as f64 / self.columns as f64
    }

    /// Fills in the parity of a word whose data are there.
    ///
    /// All rows together have each column of the double diagonal twice, and the outer circulants of
    /// the first. So the rest is the first column of parity itself. The others follow from row to
    /// row.
    pub fn encode(&self, word: &mut [u8]) {
        let z = self.z;
        assert_eq!(word.len(), self.bits(), "a word has {} bits", self.bits());
        let first = self.data * z;
        word[first..].fill(0);
        let mut sums = vec![0_u8; self.rows.len() * z];
        for (row, sum) in self.rows.iter().zip(sums.chunks_exact_mut(z)) {
            for one in row.iter().filter(|one| (one.column as usize) < self.data) {
                add_turned(sum, &word[one.column as usize * z..][..z], one.shift as usize);
            }
        }
        for sum in sums.chunks_exact(z) {
            add_turned(&mut word[first..first + z], sum, 0);
        }
        // Row i gives column i + 1 of the parity: the sum so far and the first column, if the row
        // has it.
        let mut carry = vec![0_u8; z];
        for (i, row) in self.rows.iter().enumerate().take(self.rows.len() - 1) {
            add_turned(&mut carry, &sums[i * z..][..z], 0);
            if let Some(one) = row.iter().find(|one| one.column as usize == self.data) {
                add_turned(&mut carry, &word[first..first + z], one.shift as usize);
            }
            word[first + (i + 1) * z..][..z].copy_from_slice(&carry);
        }
    }

    /// Whether a word keeps every check.
    pub fn holds(&self, word: &[u8]) -> bool {
        assert_eq!(word.len(), self.bits(), "a word has {} bits", self.bits());
        let mut sum = vec![0_u8; self.z];
        self.rows.iter().all(|row| {
            sum.fill(0);
            for one in row {
                let block = &word[one.column as usize * self.z..][..self.z];
                add_turned(&mut sum, block, one.shift as usize);
            }
            sum.iter().all(|bit| *bit == 0)
        })
    }

    /// Cycles of four and of six in the graph of bits and checks, each counted once for all `z`
    /// places that it can be turned to. Meant for codes of circulants, not for unfolded ones.
    pub fn short_cycles(&self) -> (u64, u64) {
        let mut cycles = Cycles::new(self.z as u32, self.rows.len() as u32);
        let mut four = 0;
        let mut six = 0;
        for column in 0..self.columns as u32 {
            let shift =
                |row: &Vec<Circulant>| row.iter().find(|o| o.column == column).map(|o| o.shift);
            let rows = self.rows.iter().enumerate();
            let ones: Vec<_> = rows.filter_map(|(i, row)| Some((i as u32, shift(row)?))).collect();
            four += cycles.fours(&ones);
            six += cycles.sixes(&ones);
            cycles.add(&ones);
        }
        (four, six)
    }
}

/// Adds a block, turned left by `shift`, to a sum of bits: the product with a circulant.
fn add_turned(sum: &mut [u8], block: &[u8], shift: usize) {
    let (head, tail) = block.split_at(shift);
    let (left, right) = sum.split_at_mut(tail.len());
    left.iter_mut().zip(tail).for_each(|(s, b)| *s ^= b);
    right.iter_mut().zip(head).for_each(|(s, b)| *s ^= b);
}

/// The differences of shifts that the columns so far have between two rows, and those of the paths
/// of two columns. A new column closes a cycle of four or of six if it has such a difference
/// itself.
struct Cycles {
    z: usize,
    rows: usize,
    direct: Vec<u16>,
    paths: Vec<u16>,
}

impl Cycles {
    fn new(z: u32, rows: u32) -> Self {
        let (z, rows) = (z as usize, rows as usize);
        Self { z, rows, direct: vec![0; rows * rows * z], paths: vec![0; rows * rows * z] }
    }

    fn at(&self, from: u32, to: u32, difference: usize) -> usize {
        (from as usize * self.rows + to as usize) * self.z + difference
    }

    /// From one row to the other along a column.
    fn difference(&self, from: (u32, u32), to: (u32, u32)) -> usize {
        (self.z + to.1 as usize - from.1 as usize) % self.z
    }

    fn add(&mut self, ones: &[(u32, u32)]) {
        // Paths of two columns, of which this one is the first or the second.
        for &a in ones {
            for &b in ones.iter().filter(|b| b.0 != a.0) {
                let d = self.difference(a, b);
                for row in 0..self.rows as u32 {
                    if row == a.0 || row == b.0 {
                        continue;
                    }
                    for e in 0..self.z {
                        let then = self.direct[self.at(b.0, row, e)];
                        if then > 0 {
                            let i = self.at(a.0, row, (d + e) % self.z);
                            self.paths[i] += then;
                        }
                        let before = self.direct[self.at(row, a.0, e)];
                        if before > 0 {
                            let i = self.at(row, b.0, (d + e) % self.z);
                            self.paths[i] += before;
                        }
                    }
                }
            }
        }
        for &a in ones {
            for &b in ones.iter().filter(|b| b.0 != a.0) {
                let i = self.at(a.0, b.0, self.difference(a, b));
                self.direct[i] += 1;
            }
        }
    }

    fn count(&self, ones: &[(u32, u32)], table: &[u16]) -> u64 {
        let mut sum = 0;
        for (i, &a) in ones.iter().enumerate() {
            for &b in &ones[i + 1..] {
                sum += u64::from(table[self.at(a.0, b.0, self.difference(a, b))]);
            }
        }
        sum
    }

    fn fours(&self, ones: &[(u32, u32)]) -> u64 {
        self.count(ones, &self.direct)
    }

    fn sixes(&self, ones: &[(u32, u32)]) -> u64 {
        self.count(ones, &self.paths)
    }

    /// The cycles of six that a column would close; `None` if it closed one of four.
    fn closed_by(&self, ones: &[(u32, u32)]) -> Option<u64> {
        (self.fours(ones) == 0).then(|| self.sixes(ones))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Shape = Shape { z: 32, data: 24, parity: 8, weight: 3 };

    /// The parity-check matrix as lists of bits, from the definition of a circulant.
    fn checks(code: &Code) -> Vec<Vec<usize>> {
        let z = code.z();
        let row = |r: &Vec<Circulant>, i: usize| {
            r.iter().map(|c| c.column as usize * z + (i + c.shift as usize) % z).collect()
        };
        code.rows().iter().flat_map(|r| (0..z).map(move |i| row(r, i))).collect()
    }

    fn random_word(code: &Code, rng: &mut Rng) -> Vec<u8> {
        let mut word: Vec<u8> = (0..code.bits()).map(|_| rng.below(2) as u8).collect();
        code.encode(&mut word);
        word
    }

    #[test]
    fn what_is_encoded_keeps_every_check_and_its_data() {
        let mut rng = Rng::named(1, "ldpc/test");
        for shape in [SMALL, Shape::FLASH, Shape { parity: 10, ..Shape::FLASH }] {
            let code = Code::build(shape, 1);
            let checks = checks(&code);
            assert_eq!(checks.len(), (shape.z * shape.parity) as usize);
            for _ in 0..3 {
                let data: Vec<u8> = (0..code.data_bits()).map(|_| rng.below(2) as u8).collect();
                let mut word = vec![1; code.bits()];
                word[..data.len()].copy_from_slice(&data);
                code.encode(&mut word);
                assert_eq!(word[..data.len()], data);
                assert!(checks.iter().all(|c| c.iter().fold(0, |s, bit| s ^ word[*bit]) == 0));
                assert!(code.holds(&word) && code.unfolded().holds(&word));
                let wrong = rng.below(code.bits() as u32) as usize;
                word[wrong] ^= 1;
                assert!(!code.holds(&word) && !code.unfolded().holds(&word));
            }
        }
    }

    #[test]
    fn the_parity_is_that_of_elimination() {
        // Gaussian elimination over the whole matrix, which knows nothing of circulants.
        let code = Code::build(SMALL, 3);
        let (n, k) = (code.bits(), code.data_bits());
        let mut matrix: Vec<Vec<bool>> = checks(&code)
            .iter()
            .map(|check| (0..n).map(|bit| check.contains(&bit)).collect())
            .collect();
        for (pivot, column) in (k..n).enumerate() {
            let found = (pivot..n - k).find(|row| matrix[*row][column]).expect("full rank");
            matrix.swap(pivot, found);
            let lead = matrix[pivot].clone();
            for (row, bits) in matrix.iter_mut().enumerate() {
                if row != pivot && bits[column] {
                    bits.iter_mut().zip(&lead).for_each(|(b, l)| *b ^= l);
                }
            }
        }
        let mut rng = Rng::named(1, "ldpc/test");
        for _ in 0..20 {
            let word = random_word(&code, &mut rng);
            for (row, bit) in matrix.iter().zip(&word[k..]) {
                let sum = row[..k].iter().zip(&word).filter(|(on, bit)| **on && **bit == 1).count();
                assert_eq!(sum % 2, usize::from(*bit));
            }
        }
    }

    /// The length of the shortest cycle through each bit of `bits`, by breadth-first search.
    fn girth(checks: &[Vec<usize>], n: usize, bits: impl Iterator<Item = usize>) -> usize {
        let mut of_bit = vec![Vec::new(); n];
        for (i, check) in checks.iter().enumerate() {
            for bit in check {
                of_bit[*bit].push(i);
            }
        }
        let mut least = usize::MAX;
        for start in bits {
            // Nodes are bits, then checks.
            let mut far = vec![usize::MAX; n + checks.len()];
            let mut queue = std::collections::VecDeque::from([(start, usize::MAX)]);
            far[start] = 0;
            'search: while let Some((node, parent)) = queue.pop_front() {
                let next: Vec<usize> = if node < n {
                    of_bit[node].iter().map(|c| n + c).collect()
                } else {
                    checks[node - n].clone()
                };
                for to in next {
                    if to == parent {
                        continue;
                    }
                    if far[to] < usize::MAX {
                        least = least.min(far[node] + far[to] + 1);
                        break 'search;
                    }
                    far[to] = far[node] + 1;
                    queue.push_back((to, node));
                }
            }
        }
        least
    }

    #[test]
    fn no_cycle_is_shorter_than_six() {
        for (shape, seed) in
            [(SMALL, 1), (Shape::FLASH, 1), (Shape { weight: 3, ..Shape::FLASH }, 2)]
        {
            let code = Code::build(shape, seed);
            let (four, six) = code.short_cycles();
            assert_eq!(four, 0);
            // One bit of each block of columns stands for all of it.
            let z = code.z();
            let found = girth(&checks(&code), code.bits(), (0..code.bits() / z).map(|c| c * z));
            assert_eq!(found, if six > 0 { 6 } else { found.max(8) }, "{shape:?}");
        }
        // The count can fail: two columns with one difference close a cycle of four.
        let twice =
            |column| vec![Circulant { column, shift: 0 }, Circulant { column: 1, shift: 0 }];
        let code = Code::of_rows(8, 2, 0, vec![twice(0), twice(0)]);
        assert_eq!(code.short_cycles(), (1, 0));
        assert_eq!(girth(&checks(&code), 16, 0..16), 4);
    }

    #[test]
    fn columns_and_rows_are_as_heavy_as_said_and_a_seed_is_a_code() {
        let code = Code::build(Shape::FLASH, 1);
        assert_eq!((code.bits(), code.data_bits()), (36_864, 32_768));
        assert!((code.rate() - 8.0 / 9.0).abs() < 1e-12);
        let mut weights = vec![0; 144];
        code.rows().iter().flatten().for_each(|one| weights[one.column as usize] += 1);
        assert!(weights[..128].iter().all(|w| *w == 4));
        assert_eq!((weights[128], weights[129], weights[143]), (3, 2, 2));
        let rows: Vec<usize> = code.rows().iter().map(Vec::len).collect();
        assert!(rows.iter().max().unwrap() - rows.iter().min().unwrap() <= 1, "{rows:?}");
        assert_eq!(Code::build(Shape::FLASH, 1), code);
        assert_ne!(Code::build(Shape::FLASH, 2), code);
    }
}
