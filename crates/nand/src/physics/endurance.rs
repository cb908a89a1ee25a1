//! Identities of endurance: the bytes, rates and years of a number of cycles.

/// Seconds of a year of 365 days, as READY and JESD219 count it.
pub const YEAR_SECONDS: f64 = 365.0 * 86_400.0;

/// Bytes that flash of `raw_bytes` takes in `cycles` program/erase cycles: READY's Cssd (3.1).
pub fn programmable_bytes(raw_bytes: f64, cycles: f64) -> f64 {
    raw_bytes * cycles
}

/// Bytes per second to programs that use up `cycles` in exactly `years`: READY's static throttle
/// (2, Cssd ÷ Tssd).
pub fn static_rate(raw_bytes: f64, cycles: f64, years: f64) -> f64 {
    programmable_bytes(raw_bytes, cycles) / (years * YEAR_SECONDS)
}

/// Drive writes per day of a rating in bytes written (TBW): TBW ÷ (365 · years · capacity), all in
/// the same bytes.
pub fn drive_writes_per_day(bytes_written: f64, capacity_bytes: f64, years: f64) -> f64 {
    bytes_written / (365.0 * years * capacity_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1_u64 << 30) as f64;
    const TIB: f64 = 1024.0 * GIB;

    #[test]
    fn ready_has_375_tb_and_a_static_rate_of_2_49_mb() {
        // Binary units: 128 GB of 3000 cycles are 375 TB only then.
        assert!((programmable_bytes(128.0 * GIB, 3000.0) / TIB - 375.0).abs() < 1e-9);
        assert!((programmable_bytes(32.0 * GIB, 3000.0) / TIB - 93.75).abs() < 1e-9);
        let mib = |gib: f64| static_rate(gib * GIB, 3000.0, 5.0) / (1 << 20) as f64;
        assert!((mib(128.0) - 2.494).abs() < 5e-4, "{}", mib(128.0));
        assert!((mib(32.0) - 0.623).abs() < 1e-3, "{}", mib(32.0));
    }

    #[test]
    fn a_vendors_example_of_drive_writes_per_day() {
        assert!((drive_writes_per_day(1432e12, 1.8e12, 5.0) - 0.436).abs() < 5e-4);
    }
}
