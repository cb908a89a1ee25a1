//! `include/floatgate.h` is written by hand; here it is read, and compared with the library's
//! functions and types.

use floatgate::{
    FLOATGATE_ABI_VERSION, FloatgateCompletion, FloatgateOptions, FloatgateRequest, Status,
};
use std::collections::BTreeMap;
use std::fs;
use std::mem::{align_of, offset_of, size_of};
use std::path::PathBuf;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The header without its comments.
fn header() -> String {
    let text = fs::read_to_string(root().join("include/floatgate.h")).expect("there is a header");
    let mut code = String::new();
    let mut rest = &text[..];
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        rest = after.split_once("*/").expect("a comment ends").1;
    }
    code + rest
}

/// A type of C on a machine with 64 bits: its size, and how it is written in Rust.
fn rust(c: &str) -> (usize, &'static str) {
    // However blanks stand around the stars.
    let words = c.replace('*', " * ");
    match words.split_whitespace().collect::<Vec<_>>().join(" ").as_str() {
        "uint8_t" => (1, "u8"),
        "uint32_t" => (4, "u32"),
        "int" => (4, "c_int"),
        "uint64_t" => (8, "u64"),
        "size_t" => (8, "usize"),
        "uint64_t *" => (8, "*mut u64"),
        "size_t *" => (8, "*mut usize"),
        "const char *" => (8, "*const c_char"),
        "const char * *" => (8, "*mut *const c_char"),
        "const char * const *" => (8, "*const *const c_char"),
        "floatgate_session *" => (8, "*mut FloatgateSession"),
        "floatgate_session * *" => (8, "*mut *mut FloatgateSession"),
        "const floatgate_options *" => (8, "*const FloatgateOptions"),
        "const floatgate_request *" => (8, "*const FloatgateRequest"),
        "floatgate_completion *" => (8, "*mut FloatgateCompletion"),
        "void" => (0, ""),
        other => panic!("`{other}` is not known here"),
    }
}

/// A declaration such as `const char *name` or `uint8_t reserved[7]`: type, name, how many.
fn declared(text: &str) -> (String, String, usize) {
    let text = text.trim();
    let (text, count) = match text.split_once('[') {
        Some((text, count)) => (text, count.trim_end_matches(']').parse().expect("a number")),
        None => (text, 1),
    };
    let name = text.rsplit([' ', '*']).next().expect("a name");
    let kind = text[..text.len() - name.len()].trim();
    (kind.to_owned(), name.to_owned(), count)
}

/// The fields of a struct of the header with their offsets, its size and its alignment, by the rules of C.
fn layout(name: &str) -> (Vec<(String, usize)>, usize, usize) {
    let code = header();
    let body = code.split_once(&format!("typedef struct {name} {{")).expect("it is there").1;
    let (mut at, mut align, mut fields) = (0_usize, 1, Vec::new());
    for field in body.split_once('}').expect("it ends").0.split(';') {
        if field.trim().is_empty() {
            continue;
        }
        let (kind, field, count) = declared(field);
        let size = rust(&kind).0;
        at = at.next_multiple_of(size);
        align = align.max(size);
        fields.push((field, at));
        at += size * count;
    }
    (fields, at.next_multiple_of(align), align)
}

macro_rules! same {
    ($rust:ident, $c:literal, $($field:ident)+) => {
        let (fields, size, align) = layout($c);
        let ours = [$((stringify!($field).to_owned(), offset_of!($rust, $field))),+];
        assert_eq!(fields, ours, "{}", $c);
        assert_eq!((size, align), (size_of::<$rust>(), align_of::<$rust>()), "{}", $c);
    };
}

#[test]
fn structs_have_the_fields_of_the_header_at_their_places() {
    same!(FloatgateOptions, "floatgate_options", abi_version flow_count seed settings policies flows
        record setting_count policy_count has_seed reserved);
    same!(FloatgateRequest, "floatgate_request", at offset length token op flow hint urgent reserved);
    same!(FloatgateCompletion, "floatgate_completion", token at latency);
}

/// Everything that a program compiled against the header relies on, for each version of the interface. A
/// change here is a new version: add a line, and raise `FLOATGATE_ABI_VERSION`.
const VERSIONS: [(u32, u64); 2] = [(1, 6_833_404_110_255_266_766), (2, 7_655_341_049_554_755_377)];

/// The declarations of the header, without blanks, as a number.
fn digest() -> u64 {
    let code = header();
    let words: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.replace(&format!("FLOATGATE_ABI_VERSION {FLOATGATE_ABI_VERSION}u"), "");
    // FNV-1a.
    words.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn a_declaration_that_changes_has_a_new_version() {
    let code = header();
    assert!(code.contains(&format!("#define FLOATGATE_ABI_VERSION {FLOATGATE_ABI_VERSION}u")));
    let last = VERSIONS[VERSIONS.len() - 1];
    assert_eq!((FLOATGATE_ABI_VERSION, digest()), last, "a new version of the interface?");
    assert!(VERSIONS.is_sorted_by(|a, b| a.0 < b.0 && a.1 != b.1));
}

#[test]
fn codes_are_those_of_the_header() {
    let code = header();
    let body = code.split_once("enum floatgate_status {").expect("it is there").1;
    let mut codes = BTreeMap::new();
    for line in body.split_once('}').expect("it ends").0.split(',') {
        let (name, value) = line.trim().split_once(" = ").expect("a value");
        codes.insert(value.trim().parse::<i32>().expect("a number"), name.to_owned());
    }
    let ours = [
        (Status::Handle, "HANDLE"),
        (Status::Argument, "ARGUMENT"),
        (Status::Drive, "DRIVE"),
        (Status::Past, "PAST"),
        (Status::Capacity, "CAPACITY"),
        (Status::WornOut, "WORN_OUT"),
        (Status::Ended, "ENDED"),
        (Status::File, "FILE"),
        (Status::Internal, "INTERNAL"),
    ];
    assert_eq!(codes.remove(&0).as_deref(), Some("FLOATGATE_OK"));
    let named = ours.map(|(code, name)| (code as i32, format!("FLOATGATE_{name}")));
    assert_eq!(codes, BTreeMap::from(named));
}

/// The functions of the library as its source declares them, in the types of Rust.
fn functions() -> BTreeMap<String, Vec<String>> {
    let source = fs::read_to_string(root().join("crates/c/src/lib.rs")).expect("there is a source");
    let mut found = BTreeMap::new();
    for part in source.split("extern \"C\" fn ").skip(1) {
        let (name, rest) = part.split_once('(').expect("arguments");
        let (arguments, rest) = rest.split_once(')').expect("they end");
        let kinds = arguments.split(',').filter(|a| !a.trim().is_empty());
        let mut kinds: Vec<String> =
            kinds.map(|a| a.split_once(':').expect("a type").1.trim().to_owned()).collect();
        let answer = rest.split_once('{').expect("a body").0;
        kinds.push(answer.trim().trim_start_matches("->").trim().to_owned());
        found.insert(name.to_owned(), kinds);
    }
    found
}

#[test]
fn functions_are_those_of_the_header() {
    let code = header();
    let mut declarations = BTreeMap::new();
    for part in code.split(';').filter(|part| part.contains("floatgate_") && part.contains('(')) {
        let part = part.rsplit("\n\n").next().expect("it is the last").trim();
        let (head, arguments) = part.split_once('(').expect("arguments");
        let (answer, name, _) = declared(head);
        let arguments = arguments.trim_end_matches(')');
        let mut kinds = Vec::new();
        if arguments != "void" {
            for argument in arguments.split(',') {
                kinds.push(rust(&declared(argument).0).1.to_owned());
            }
        }
        kinds.push(rust(&answer).1.to_owned());
        declarations.insert(name, kinds);
    }
    assert_eq!(declarations.len(), 13);
    assert_eq!(declarations, functions());
}
