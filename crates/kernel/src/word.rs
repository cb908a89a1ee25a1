//! The word that was meant.

/// The candidate that was most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // `width` for `width-bits`: the right beginning is as good as a slip.
    let begun = candidates.iter().find(|c| word.len() >= 3 && c.starts_with(word));
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .iter()
        // Insert, delete, replace, or swap two neighbours.
        .map(|c| (strsim::osa_distance(word, c), *c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
        .or(begun.copied())
}

/// The hint behind an unknown word: the word that was probably meant, or all known ones.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_the_nearest_word_or_all() {
        assert_eq!(hint("strat", ["start", "stop"]), "did you mean `start`?");
        assert_eq!(hint("channels", ["start", "stop"]), "there are start, stop");
    }

    #[test]
    fn the_nearest_word_is_what_was_meant() {
        let keys = ["start", "stop", "background-stop"];
        assert_eq!(nearest("strat", keys), Some("start"));
        assert_eq!(nearest("stopp", keys), Some("stop"));
        assert_eq!(nearest("backgroundstop", keys), Some("background-stop"));
        assert_eq!(nearest("background", keys), Some("background-stop"));
        assert_eq!(nearest("channels", keys), None);
        assert_eq!(nearest("treshold", ["threshold"]), Some("threshold"));
        assert_eq!(nearest("ab", ["ba"]), Some("ba"));
    }
}
