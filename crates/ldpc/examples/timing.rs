#![allow(missing_docs, clippy::disallowed_methods)]
use floatgate_ldpc::*;
use kernel::Rng;
use std::time::Instant;
fn main() {
    let code = Code::build(Shape::FLASH, 1);
    let ch = Channel::boundary(0.006, 1, Spacing::Even);
    let mut t = Trial::new(&code, Settings::DEFAULT, &ch, &ch, Quantised::DEFAULT);
    let mut rng = Rng::named(1, "t");
    let best = |f: &mut dyn FnMut()| (0..15).map(|_| { let s = Instant::now(); f(); s.elapsed().as_micros() }).min().unwrap();
    println!("draw+encode+read {} us", best(&mut || t.draw(&mut rng)));
    let mut word = t.drawn().0.to_vec();
    println!("encode {} us", best(&mut || code.encode(&mut word)));
    let mut ranges = vec![0; word.len()];
    let mut rd = Reader::new(&ch);
    println!("read {} us", best(&mut || rd.read(&word, &mut rng, &mut ranges)));
    let read = t.read().to_vec();
    let mut d = Decoder::new(&code, Settings::DEFAULT);
    println!("decode {} us", best(&mut || { d.decode(&read); }));
    println!("{:?}", d.decode(&read));
    let v: Vec<i8> = vec![10; word.len()];
    println!("check only {} us", best(&mut || { d.decode(&v); }));
}
