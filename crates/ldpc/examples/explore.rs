#![allow(missing_docs, clippy::disallowed_methods)]
use floatgate_ldpc::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let g = |i: usize, d: &str| a.get(i).cloned().unwrap_or(d.into());
    let frames: u64 = g(1, "200").parse().unwrap();
    let weight: u32 = g(2, "4").parse().unwrap();
    let parity: u32 = g(3, "16").parse().unwrap();
    let pts: Vec<(u32, f64)> = g(4, "1:0.006,3:0.011,7:0.013").split(',').map(|p| { let (m, r) = p.split_once(':').unwrap(); (m.parse().unwrap(), r.parse().unwrap()) }).collect();
    let sets: Vec<(u8, u8, u32, f64, i8)> = g(5, "12:31:20:0.5:15").split(',').map(|p| { let v: Vec<&str> = p.split(':').collect(); (v[0].parse().unwrap(), v[1].parse().unwrap(), v[2].parse().unwrap(), v[3].parse().unwrap(), v[4].parse().unwrap()) }).collect();
    let code = Code::build(Shape { weight, parity, ..Shape::FLASH }, 1);
    println!("cycles {:?}", code.short_cycles());
    for (m, r) in pts {
        let ch = Channel::boundary(r, m, Spacing::Even);
        for s in &sets {
            let mut t = Trial::new(&code, Settings { sixteenths: s.0, largest: s.1, rounds: s.2 }, &ch, &ch, Quantised { unit: s.3, largest: s.4 });
            let start = std::time::Instant::now();
            let c = t.run(1, "explore", 0..frames);
            let dt = start.elapsed().as_secs_f64();
            let (f, lo, hi) = c.failure_rate();
            println!("{m} {r} {s:?} fer {f:.4} [{lo:.4},{hi:.4}] und {} rounds {:.2} {:.0}/s table {:?}", c.undetected, c.rounds as f64 / frames as f64, frames as f64 / dt, ch.table(s.3, s.4));
        }
    }
}
