//! The word that was meant.

/// The candidate that was most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // `width` for `width-bits`: the right beginning is as good as a slip.
    let begun = candidates.iter().find(|c| word.len() >= 3 && c.starts_with(word));
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .iter()
        .map(|c| (distance(word, c), *c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
        .or(begun.copied())
}

/// Edits from one word to the other: insert, delete, replace, or swap two neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 8 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_what_was_meant() {
        let keys = ["start", "stop", "background-stop"];
        assert_eq!(nearest("strat", keys), Some("start"));
        assert_eq!(nearest("stopp", keys), Some("stop"));
        assert_eq!(nearest("backgroundstop", keys), Some("background-stop"));
        assert_eq!(nearest("background", keys), Some("background-stop"));
        assert_eq!(nearest("channels", keys), None);
        assert_eq!((distance("treshold", "threshold"), distance("ab", "ba")), (1, 1));
    }
}
