// letters: bases as 4-bit classes, eight to a word; classes 0..3 are plain and take the packed profile, others are odd.
//
// A lane holds the letter of each of its columns as one word: 1 << 8 * class if plain (a one-hot byte for
// dot4I8Packed), else the class itself, which is at least N_PLAIN_CLASSES and so equals no one-hot word.

struct Scores {
    profiles: array<vec4<u32>, 4>,      // per target class: its scores against the plain classes, four i8
    table: array<vec4<i32>, 64>,        // score of (target class, query class) at 16 * target + query
}

fn nibble_at(word: u32, place: u32) -> u32 {
    return (word >> (4u * (place & 7u))) & 15u;
}

fn letter_word(class_ix: u32) -> u32 {
    return select(1u << (8u * (class_ix & 3u)), class_ix, class_ix >= N_PLAIN_CLASSES);
}

fn class_of_letter(letter: u32) -> u32 {
    let is_odd = letter > 1u && letter < N_CLASSES;
    return select(firstTrailingBit(letter) >> 3u, letter, is_odd);
}

fn profile_of(class_ix: u32) -> u32 {
    return scores.profiles[class_ix >> 2u][class_ix & 3u];
}

fn score_of(target_class: u32, letter: u32) -> i32 {
    let query_class = class_of_letter(letter);
    return scores.table[target_class * 4u + (query_class >> 2u)][query_class & 3u];
}

fn has_odd_nibble(word: u32) -> bool {
    return (word & 0xccccccccu) != 0u;
}

// Eight nibbles in reverse order.
fn reverse_nibbles(word: u32) -> u32 {
    let bytes = ((word & 0x0f0f0f0fu) << 4u) | ((word >> 4u) & 0x0f0f0f0fu);
    return (bytes >> 24u) | ((bytes >> 8u) & 0xff00u) | ((bytes << 8u) & 0xff0000u) | (bytes << 24u);
}
