//! Kinds of files that programs really write, each in many formats.

use super::*;

fn note_of(bytes: &[u8], options: ReadOptions) -> String {
    trace(bytes, options).unwrap_or_else(|e| panic!("{e}")).about().notes.join("\n")
}

fn refused(bytes: &[u8], options: ReadOptions) -> String {
    trace(bytes, options).err().expect("it is refused").to_string()
}

fn table(columns: &str) -> ReadOptions {
    ReadOptions { columns: Some(columns.parse().unwrap_or_else(|e| panic!("{e}"))), ..NO_OPTIONS }
}

/// Every sample in text as programs on other systems write it gives the same requests.
#[test]
fn marks_line_ends_blanks_comments_and_ends_change_nothing() {
    for (name, format) in SAMPLES.into_iter().filter(|s| is_text(s.0)) {
        let text = String::from_utf8(write(name, &pieces(name, 60))).unwrap();
        let plain = read_with(text.as_bytes(), options_of(format)).unwrap();
        let mut forms = vec![
            ("a mark", format!("\u{feff}{text}")),
            ("CRLF", text.replace('\n', "\r\n")),
            ("blank lines first", format!("\n  \r\n\t\n{text}")),
            ("a mark and blank lines", format!("\u{feff}\r\n\r\n{text}")),
            ("blank lines everywhere", text.replace('\n', "\n\n")),
            ("no last line end", text.trim_end().to_owned()),
            ("an end of file of DOS", format!("{text}\u{1a}")),
            ("zeros at the end", format!("{text}\0\0\0\0")),
            ("comments", format!("# one\n{text}  # two\n")),
            ("a mark in the middle", format!("{text}\u{feff}# cat a b\n")),
        ];
        if format == "fio" || format == "msps" {
            // The first line must be that of the format.
            forms.retain(|form| form.0 != "comments");
        }
        for (what, form) in forms {
            let all = read_with(form.as_bytes(), options_of(format));
            assert_eq!(
                all.unwrap_or_else(|e| panic!("{name}, {what}: {e}")),
                plain,
                "{name}, {what}"
            );
        }
    }
}

/// The text in every encoding that is not read, plain and packed, with and without a mark.
#[test]
fn other_encodings_are_named_with_their_remedy() {
    for (name, format) in SAMPLES.into_iter().filter(|s| is_text(s.0)) {
        let text = String::from_utf8(write(name, &pieces(name, 9))).unwrap();
        let wide = |mark: &str, big: bool| -> Vec<u8> {
            let units = format!("{mark}{text}");
            let bytes =
                units.encode_utf16().map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() });
            bytes.flatten().collect()
        };
        for bytes in
            [wide("\u{feff}", false), wide("\u{feff}", true), wide("", false), wide("", true)]
        {
            for packed in [bytes.clone(), gzip(&bytes)] {
                let said = ReadOptions { format: format.parse().ok(), ..options_of(format) };
                for options in [options_of(format), said] {
                    let e = refused(&packed, options);
                    assert!(
                        e.contains("UTF-16") && e.contains("iconv -f UTF-16 -t UTF-8"),
                        "{name}: {e}"
                    );
                }
            }
        }
        let old = text.replace('\n', "\r");
        assert!(refused(old.as_bytes(), options_of(format)).contains("tr '\\r' '\\n'"), "{name}");
    }
}

/// A ustar header as `tar` writes it, or without its magic, as the first ones did.
fn tar(content: &[u8], magic: bool) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..9].copy_from_slice(b"trace.csv");
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[156] = b'0';
    if magic {
        header[257..263].copy_from_slice(b"ustar\0");
    }
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header.extend(content);
    header.resize(header.len().next_multiple_of(512) + 1024, 0);
    header
}

/// An archive is named as one, with any content, packing and declared format.
#[test]
fn archives_are_named_before_formats_are_guessed() {
    for (name, format) in SAMPLES {
        let content = write(name, &pieces(name, 60));
        let zip = [b"PK\x03\x04\x14\0\0\0", &content[..]].concat();
        let rar = [b"Rar!\x1a\x07\x01\0", &content[..]].concat();
        let cases = [
            (tar(&content, true), "an archive (tar); take the trace out of it"),
            (tar(&content, false), "an archive (tar); take the trace out of it"),
            (zip, "an archive (zip); take the trace out of it"),
            (rar, "an archive (rar); take the trace out of it"),
        ];
        for (bytes, words) in cases {
            for packed in [bytes.clone(), gzip(&bytes), zstd(&bytes)] {
                let e = refused(&packed, options_of(format));
                assert!(e.contains(words), "{name}: {e}");
                if is_text(name) {
                    let said = ReadOptions { format: format.parse().ok(), ..options_of(format) };
                    assert!(refused(&packed, said).contains(words), "{name}");
                }
            }
        }
    }
}

#[test]
fn other_files_are_named() {
    let cases: [(&[u8], &str); 17] = [
        (b"7z\xbc\xaf\x27\x1c\0\x04", "compressed with 7z"),
        (b"BZh91AY&SY\xf0\xa1\xb2\xc3", "compressed with bzip2"),
        (b"LZIP\x01\x0c\0\0\0\0\0\0\0\0", "compressed with lzip"),
        (b"\x1f\x9d\x90\x30\x10\x0a", "compressed with compress"),
        (b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0", "compressed with lzma"),
        (b"PAR1\x15\0\x15", "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "git lfs pull"),
        (b"<!DOCTYPE html>\n<html><body>log in</body></html>\n", "a page of the web"),
        (b"\n<HTML>\n", "a page of the web"),
        (b"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<a/>\n", "XML"),
        (b"{\"time\": 1, \"op\": \"R\"}\n", "JSON"),
        (b"[{\"time\": 1}]\n", "JSON"),
        (b"SQLite format 3\0\x10\0", "SQLite"),
        (b"%PDF-1.4\n", "PDF"),
        (b"\x17\x08\x44tracing6\0", "trace-cmd"),
        (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "pcap"),
        (b"\x07tae\0\0\0\0more", "let blkparse print it"),
    ];
    for (bytes, words) in cases {
        for packed in [bytes.to_vec(), gzip(bytes), zstd(bytes)] {
            let e = refused(&packed, NO_OPTIONS);
            assert!(e.contains(words), "{words}: {e}");
        }
    }
}

/// A number of every column in every other form gives the same requests, or is refused; the forms are
/// made from the plain number, column by column.
#[test]
fn numbers_in_other_forms_are_the_same_numbers() {
    // The first column of times in nanoseconds may not have a point: it tells two formats apart.
    let lines = [
        ("msr", "900000000,hm,0,Read,512,4096,7", ',', &[4, 5, 6][..]),
        ("spc", "0,8,4096,r,90.5", ',', &[0, 1, 2]),
        ("alibaba", "0,R,512,4096,90000000", ',', &[0, 2, 3, 4]),
        ("tencent", "1538323290,8,8,0,1", ',', &[0, 1, 2, 4]),
        ("systor", "1456135290.5,0.1,R,0,512,4096", ',', &[3, 4, 5]),
        ("ssdsim", "90000000000 0 16 8 1", ' ', &[1, 2, 3]),
        ("disksim", "90000.5 0 16 8 1", ' ', &[1, 2, 3]),
        ("wiscsee", "7 D read 512 4096 90.5 0.1 True", ' ', &[3, 4]),
        ("fiu", "90000000000 7 app 8 8 R 6 1", ' ', &[0, 3, 4, 6, 7]),
        ("fio 3", "90000000 /dev/a read 512 4096", ' ', &[0, 3, 4]),
        ("csv", "90000000;r;512;8;sda", ';', &[0, 2, 3]),
    ];
    for (name, line, separator, columns) in lines {
        let format = SAMPLES.iter().find(|s| s.0 == name).unwrap().1;
        let good = String::from_utf8(write(name, &pieces(name, 20))).unwrap();
        let read = |line: &str| {
            let options = ReadOptions { format: format.parse().ok(), ..options_of(format) };
            read_with(format!("{good}{line}\n").as_bytes(), options).map_err(|e| e.to_string())
        };
        let plain = read(line).unwrap();
        for &column in columns {
            let mut words: Vec<String> = line.split(separator).map(str::to_owned).collect();
            let number: u64 = words[column].parse().unwrap();
            let forms = [
                format!("{number}.0"),
                format!("{number}."),
                format!("+{number}"),
                format!("{number}.000000"),
                format!("{number}e0"),
                format!("{number}0E-1"),
                format!("{number:#x}"),
            ];
            for form in forms {
                words[column].clone_from(&form);
                let line = words.join(&separator.to_string());
                assert_eq!(read(&line).unwrap_or_else(|e| panic!("{e}")), plain, "{line}");
            }
            // Fractions are lost by nobody: a whole column has none.
            // Times and what is measured may have fractions.
            let is_time = matches!((name, column), ("msr", 6) | ("alibaba", 4))
                || column == 0 && !matches!(name, "spc" | "alibaba" | "msr");
            for bad in [format!("{number}.5"), format!("{number}x"), format!("1,5{number}")] {
                words[column].clone_from(&bad);
                let line = words.join(&separator.to_string());
                assert!(is_time || read(&line).is_err(), "{line}");
            }
        }
    }
}

/// Quotes around every column, or around some, are taken off wherever commas or semicolons separate.
#[test]
fn quotes_are_taken_off() {
    for (name, format) in SAMPLES {
        if !matches!(format, "msr" | "spc" | "alibaba" | "tencent" | "systor" | "csv") {
            continue;
        }
        let text = String::from_utf8(write(name, &pieces(name, 60))).unwrap();
        let plain = read_with(text.as_bytes(), options_of(format)).unwrap();
        let separator = if format == "csv" { ';' } else { ',' };
        let quoted = |line: &str, every: usize| {
            let fields = line.split(separator).enumerate().map(|(i, field)| {
                if i % every == 0 && !field.contains('"') {
                    format!("\"{field}\"")
                } else {
                    field.into()
                }
            });
            fields.collect::<Vec<String>>().join(&separator.to_string())
        };
        for every in [1, 2] {
            let lines: Vec<String> = text.lines().map(|line| quoted(line, every)).collect();
            let all = read_with(lines.join("\n").as_bytes(), options_of(format));
            assert_eq!(all.unwrap_or_else(|e| panic!("{name}: {e}")), plain, "{name}");
            // Quotes that begin late in the file.
            let late = format!("{}{}", text, lines.last().unwrap());
            assert_eq!(
                read_with(late.as_bytes(), options_of(format)).unwrap().len(),
                plain.len() + 1
            );
        }
    }
    // A separator inside quotes separates nothing, and the name is whole.
    let text = "\"t\",\"disk\",\"op\",\"off\",\"len\"\n1,\"a, b\",R,4096,512\n2,\"a; b\",W,0,512\n";
    let options = ReadOptions {
        flow_by: Some(FlowBy::Device),
        ..table("time=t:us,op=op,offset=off,size=len,device=disk")
    };
    let flows = trace(text.as_bytes(), options).unwrap().about().flows.clone();
    assert_eq!(flows.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a, b", "a; b"]);
    let open = refused(b"1,\"R,4096,512\n", table("time=1:us,op=2,offset=3,size=4"));
    assert!(open.contains("a quote that does not end"), "{open}");
}

/// Names above the columns, in words that no format has, are passed over in every table without a heading
/// of its own; words amid the records are not.
#[test]
fn a_first_line_of_names_is_passed_over() {
    let cases = [
        ("msr", "time,host,disk,kind,at,bytes,took"),
        ("spc", "asu,lba,size,opcode,timestamp"),
        ("alibaba", "volume,rw,offset,length,us"),
        ("tencent", "seconds,start,count,rw,volume"),
        ("systor", "at,took,rw,lun,offset,size"),
        ("ssdsim", "time device sector count read"),
        ("disksim", "time device sector count flags"),
        ("fiu", "ts pid process lba size rw major minor md5"),
        ("wiscsee", "pid event op offset size time gap sync"),
    ];
    for (name, names) in cases {
        let format = SAMPLES.iter().find(|s| s.0 == name).unwrap().1;
        let text = String::from_utf8(write(name, &pieces(name, 60))).unwrap();
        let is_record = |l: &&str| !l.starts_with(|c: char| c.is_alphabetic() || c == '#');
        let text = text.lines().filter(is_record).collect::<Vec<_>>().join("\n") + "\n";
        let plain = read_with(text.as_bytes(), options_of(format)).unwrap();
        for head in [
            format!("{names}\n"),
            format!("\u{feff}{names}\r\n"),
            format!("# {names}\n"),
            format!("\n{}\n", names.to_uppercase()),
        ] {
            let all = read_with(format!("{head}{text}").as_bytes(), options_of(format));
            assert_eq!(all.unwrap_or_else(|e| panic!("{name}: {e}")), plain, "{name}: {head}");
        }
        let late = format!("{text}{names}\n");
        assert!(read_with(late.as_bytes(), options_of(format)).is_err(), "{name}");
    }
}

/// The last line of a file that was cut is called that, in every format.
#[test]
fn a_cut_last_line_is_called_cut() {
    for (name, format) in SAMPLES.into_iter().filter(|s| is_text(s.0)) {
        let text = String::from_utf8(write(name, &pieces(name, 20))).unwrap();
        let last = text.trim_end().lines().last().unwrap();
        let line = if name == "blkparse" {
            "  8,16  0  9999  90.000000000  7  Q  W 8 + 8 [app]"
        } else {
            last
        };
        let line = if name == "fio 2" {
            "/dev/a read 512 4096"
        } else if name == "fio 3" {
            "99000000 /dev/a read 512 4096"
        } else {
            line
        };
        let cut = format!("{text}{}", &line[..line.len() / 2]);
        let options = ReadOptions { format: format.parse().ok(), ..options_of(format) };
        let e = refused(cut.as_bytes(), options.clone());
        assert!(e.contains("the file ends amid this line"), "{name}: {e}");
        let skip = ReadOptions { skip_bad: true, ..options.clone() };
        let whole = read_with(text.as_bytes(), options.clone()).unwrap().len();
        assert_eq!(read_with(cut.as_bytes(), skip).unwrap().len(), whole, "{name}");
        let e = refused(format!("{cut}\n").as_bytes(), options);
        assert!(!e.contains("the file ends amid"), "{name}: {e}");
    }
}

/// Dates with a time of day stand where numbers do, in any format; the unit of the numbers does not matter.
#[test]
fn dates_are_times() {
    let later = [(0, Op::Read), (1_250_000_000, Op::Write)];
    let (one, two) = ("2008-01-02T03:04:05.5Z", "2008-01-02T03:04:06.75Z");
    let cases = [
        (format!("{one},hm,0,Read,0,512,1\n{two},hm,0,Write,0,512,1\n"), NO_OPTIONS),
        (format!("0,8,512,r,{one}\n0,8,512,w,{two}\n"), NO_OPTIONS),
        (format!("{one},0.1,R,0,0,512\n{two},0.1,W,0,0,512\n"), NO_OPTIONS),
        (format!("0,R,0,512,{one}\n0,W,0,512,{two}\n"), NO_OPTIONS),
        (format!("{one};R;0;512\n{two};W;0;512\n"), table("time=1:iso,op=2,offset=3,size=4")),
        (format!("{one},R,0,512\n{two},W,0,512\n"), table("time=1:us,op=2,offset=3,size=4")),
        (
            "at,op,lba,n\n\"2008-01-02 03:04:05,5\",R,0,1\n\"2008-01-02 03:04:06,75\",W,0,1\n"
                .into(),
            table("time=at:iso,op=op,offset=lba:sectors,size=n:sectors"),
        ),
    ];
    for (text, options) in cases {
        let all = read_with(text.as_bytes(), options).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(all.iter().map(|r| (r.at.as_ns(), r.op)).collect::<Vec<_>>(), later, "{text}");
    }
}

/// Decimal commas: read where a comma separates nothing, refused where it does.
#[test]
fn decimal_commas_lose_nothing() {
    let later = [0, 402_335_000];
    let cases = [
        ("0,551706;R;4096;512\n0,954041;W;0;512\n", table("time=1:s,op=2,offset=3,size=4")),
        (
            "0,551706\tR\t4096,0\t512,00\n0,954041\tW\t0\t512\n",
            table("time=1:s,op=2,offset=3,size=4"),
        ),
        ("\"0,551706\",R,4096,512\n\"0,954041\",W,0,512\n", table("time=1:s,op=2,offset=3,size=4")),
        ("551,706 0 16 8 1\n954,041 0 16 8 0\n", NO_OPTIONS),
        ("7 D read 0 512 0,551706 0,1 True\n7 D write 0 512 0,954041 0,1 True\n", NO_OPTIONS),
    ];
    for (text, options) in cases {
        let all =
            read_with(text.as_bytes(), options.clone()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(all.iter().map(|r| r.at.as_ns()).collect::<Vec<_>>(), later, "{text}");
        assert!(note_of(text.as_bytes(), options).contains("decimal mark"), "{text}");
    }
    let thousands = refused(b"1;R;4,096;512\n", table("time=1:s,op=2,offset=3,size=4"));
    assert!(thousands.contains("`4,096` in the offset"), "{thousands}");
    // The fraction would be a column of its own.
    let doubtful = [
        ("0,1000,8192,W,0,551706\n0,2000,8192,W,0,954041\n0,3000,8192,R,1,154041\n", NO_OPTIONS),
        ("0,1000,8192,W,0,5\n0,2000,8192,W,1\n0,3000,8192,R,1,25\n", NO_OPTIONS),
        ("R,4096,512,0,551706\nW,0,512,0,954041\n", table("time=4:s,op=1,offset=2,size=3")),
        (
            "op,off,len,t\nR,4096,512,0,551706\nW,0,512,0,954041\n",
            table("time=t:s,op=op,offset=off,size=len"),
        ),
    ];
    for (text, options) in doubtful {
        let e = refused(text.as_bytes(), options.clone());
        assert!(e.contains("no time has a fraction") && e.contains("decimal comma"), "{text}: {e}");
        let believed = ReadOptions { time_unit: Some(TimeUnit::S), ..options };
        assert!(read_with(text.as_bytes(), believed).is_ok(), "{text}");
    }
    // Formats that know no further columns refuse the line.
    let strict = [
        "0,R,126703644672,4096,157780800,046\n",
        "1538323200,046,8,8,0,1\n",
        "12816637200,3061629,hm,0,Read,0,4096,1\n",
        "1456135200,013118,0.1,R,4,0,512\n",
    ];
    for text in strict {
        assert!(trace(text.as_bytes(), NO_OPTIONS).is_err(), "{text}");
    }
    // Further columns that are not used, or next to times with fractions, or with names of their
    // own.
    let fine = [
        ("0,1000,8192,W,0.5,17\n0,2000,8192,W,1.25,18\n", NO_OPTIONS),
        ("0,1000,8192,W,0,more\n0,2000,8192,W,1,than that\n", NO_OPTIONS),
        (
            "op,off,len,t,pid\nR,4096,512,0,17\nW,0,512,1,17\n",
            table("time=4:s,op=1,offset=2,size=3"),
        ),
        (
            "op,off,len,t,pid\nR,4096,512,0,17\nW,0,512,1,17\n",
            table("time=t:s,op=op,offset=off,size=len"),
        ),
    ];
    for (text, options) in fine {
        assert_eq!(
            read_with(text.as_bytes(), options).unwrap_or_else(|e| panic!("{e}")).len(),
            2,
            "{text}"
        );
    }
}

/// The message gives the unit as far as the times show it, and nothing more.
#[test]
fn times_of_another_unit_are_pointed_out() {
    let whole = "whole number of seconds";
    let cases: [(&str, &str); 11] = [
        ("0,8,512,r,0\n0,8,512,w,3\n", whole),
        ("1456135200,0.1,R,0,0,512\n1456135203,0.1,W,0,0,512\n", whole),
        ("7 D read 0 512 0 0.1 True\n7 D write 0 512 5 0.1 True\n", whole),
        ("8,0 1 1 0 9 Q W 0 + 8 [a]\n8,0 1 1 4 9 Q W 0 + 8 [a]\n", whole),
        ("0.009507758 0 16 8 1\n0.019507758 0 16 8 1\n", "9 digits behind the point"),
        ("0,R,0,512,1577808000.000046\n0,R,0,512,1577808001.000046\n", "6 digits behind the point"),
        ("0,R,0,512,1577808000\n0,R,0,512,1577808001\n", "in seconds since 1970"),
        ("0,R,0,512,1577808000000\n0,R,0,512,1577808001000\n", "in milliseconds since 1970"),
        (
            "1577808000000046,hm,0,Read,0,512,1\n1577808000100046,hm,0,Read,0,512,1\n",
            "in microseconds since 1970",
        ),
        ("1577808000 7 app 8 8 R 6 1\n1577808001 7 app 8 8 R 6 1\n", "in seconds since 1970"),
        ("1577808000 0 16 8 1\n1577808001 0 16 8 1\n", "in seconds since 1970"),
    ];
    for (text, words) in cases {
        let notes = note_of(text.as_bytes(), NO_OPTIONS);
        assert!(notes.contains(words) && notes.contains("--time-unit"), "{text}: {notes}");
        let said = ReadOptions { time_unit: Some(TimeUnit::Ns), ..NO_OPTIONS };
        assert!(!note_of(text.as_bytes(), said).contains("--time-unit"), "{text}");
    }
    let silent = [
        "0,8,512,r,0.000\n0,8,512,w,0.250\n",
        "128166372003061629,hm,0,Read,0,512,1\n128166372016382155,hm,0,Write,0,512,1\n",
        "3,R,0,4096,1577808000000046\n3,W,0,4096,1577808000000426\n",
        "1538323200,8,8,0,1\n1538323201,8,8,0,1\n",
        "0.5 0 16 8 1\n26.214001 0 16 8 1\n",
        "1000 0 16 8 1\n97900000 0 16 8 1\n",
        "0,8,512,r,7\n0,8,512,w,7\n",
    ];
    for text in silent {
        let notes = note_of(text.as_bytes(), NO_OPTIONS);
        assert!(!notes.contains("--time-unit"), "{text}: {notes}");
    }
}

/// Every combination of the kernel's letters, with sectors: a request, or counted; unknown ones refused.
#[test]
fn the_letters_of_the_kernel_are_known() {
    let line = |letters: &str| format!("8,0 1 1 0.5 9 Q {letters} 8 + 8 [a]\n");
    let read = |letters: &str| {
        let all = read_with(format!("{}{}", line("R"), line(letters)).as_bytes(), NO_OPTIONS);
        all.map(|all| all[1..].iter().map(|r| r.op).collect::<Vec<_>>())
    };
    let csv = |letters: &str| {
        let text = format!("R,4096,4096\n{letters},4096,4096\n");
        let all = read_with(text.as_bytes(), table("op=1,offset=2,size=3"));
        all.map(|all| all[1..].iter().map(|r| r.op).collect::<Vec<_>>())
    };
    let fua = |op| if op == Op::Write { Op::WriteFua } else { op };
    for (letter, op) in
        [("R", Op::Read), ("W", Op::Write), ("D", Op::Trim), ("DE", Op::Trim), ("WZ", Op::Write)]
    {
        for more in ["", "S", "A", "M", "SM", "AS", "ASM", "B", "U", "SU"] {
            for (first, flushes) in [("", vec![]), ("F", vec![Op::Flush])] {
                let letters = format!("{first}{letter}{more}");
                let want = [flushes.clone(), vec![op]].concat();
                assert_eq!(read(&letters).unwrap(), want, "{letters}");
                assert_eq!(csv(&letters).unwrap(), want, "{letters}");
                let letters = format!("{first}{letter}F{more}");
                let want = [flushes.clone(), vec![fua(op)]].concat();
                assert_eq!(read(&letters).unwrap(), want, "{letters}");
            }
        }
    }
    for append in ["ZA", "ZAS", "ZASM"] {
        assert_eq!(read(append).unwrap(), [Op::Write], "{append}");
        let notes = note_of(line(append).as_bytes(), NO_OPTIONS);
        assert!(notes.contains("1 zone appends (ZA)"), "{notes}");
    }
    for without_data in ["ZR", "ZRS", "ZRA", "ZO", "ZC", "ZF", "ZFS", "N", "NS"] {
        assert_eq!(read(without_data).unwrap(), [], "{without_data}");
        assert_eq!(csv(without_data).unwrap(), [], "{without_data}");
        let text = format!("{}{}", line("R"), line(without_data));
        let zones = note_of(text.as_bytes(), NO_OPTIONS).contains("1 commands for zones");
        assert_eq!(zones, without_data.starts_with('Z'), "{without_data}");
    }
    for unknown in ["X", "XS", "ZX", "Z", "Q", "7", "-"] {
        let e = read(unknown).unwrap_err().to_string();
        assert!(e.contains(&format!("`{unknown}` in the type")) && e.contains("--skip-bad"), "{e}");
        assert!(csv(unknown).unwrap_err().to_string().contains("in the operation"), "{unknown}");
        // If no request arrives, the letters do not matter.
        let other = line(unknown).replace(" Q ", " I ");
        let known = unknown.bytes().all(|b| b.is_ascii_alphabetic());
        assert_eq!(
            read_with(format!("{}{other}", line("R")).as_bytes(), NO_OPTIONS).is_ok(),
            known
        );
    }
    // One event of an append counts, as one request of it does.
    let both = line("ZA") + &line("ZA").replace(" Q ", " D ").replace("0.5", "0.6");
    assert!(note_of(both.as_bytes(), NO_OPTIONS).contains("1 zone appends"));
}

/// A device on top of others: each request is in the trace twice, and the lines of action A show it.
#[test]
fn stacked_devices_are_pointed_out() {
    let stack = |top: &str, under: &[&str]| -> String {
        let of = |i: usize| {
            let (at, device) = (i * 10, under[i % under.len()]);
            format!(
                "{top} 1 1 {at}.0 9 Q W {} + 8 [a]\n{device} 1 1 {at}.1 9 A W {} + 8 <- ({top}) {}\n\
                 {device} 1 1 {at}.2 9 Q W {} + 8 [a]\n",
                i * 8,
                i * 8 + 2048,
                i * 8,
                i * 8 + 2048
            )
        };
        (0..6).map(of).collect()
    };
    let twice = stack("253,0", &["8,0"]);
    let notes = note_of(twice.as_bytes(), NO_OPTIONS);
    assert!(
        notes.contains("6 requests to 253:0 went on to 8:0") && notes.contains("`--device 253:0`"),
        "{notes}"
    );
    let md = note_of(stack("9,0", &["8,0", "8,16"]).as_bytes(), NO_OPTIONS);
    assert!(
        md.contains("3 requests to 9:0 went on to 8:0")
            && md.contains("3 requests to 9:0 went on to 8:16"),
        "{md}"
    );
    // One of them alone, chosen or recorded; a partition has no requests of its own.
    let one = ReadOptions { devices: vec!["253:0".into()], ..NO_OPTIONS };
    assert!(!note_of(twice.as_bytes(), one).contains("went on to"));
    let partition =
        twice.lines().filter(|l| !l.starts_with("253,0")).collect::<Vec<_>>().join("\n");
    assert!(!note_of(partition.as_bytes(), NO_OPTIONS).contains("went on to"));
}

/// Larger records are requests one after another at one time, which together cover what the record did.
#[test]
fn large_requests_are_split() {
    let (gib, tib) = (1_u64 << 30, 1_u64 << 40);
    let blkparse = |what: &str, bytes: u64| {
        format!("8,0 1 1 0.5 9 Q {what} 8 + {} [a]\n", bytes / 512).into_bytes()
    };
    let csv = |op: &str, bytes: u64| format!("{op},4096,{bytes}\n").into_bytes();
    let options = || table("op=1,offset=2,size=3:bytes");
    let cases = [
        (blkparse("W", 2 * gib), NO_OPTIONS, 2 * gib, 2),
        (blkparse("R", gib + 512), NO_OPTIONS, gib + 512, 2),
        (blkparse("FWF", 4 * gib), NO_OPTIONS, 4 * gib, 5),
        (blkparse("D", 4 * gib - 512), NO_OPTIONS, 4 * gib - 512, 1),
        (blkparse("D", 4 * gib), NO_OPTIONS, 4 * gib, 2),
        (blkparse("D", tib), NO_OPTIONS, tib, 512),
        (csv("w", 3 * gib), options(), 3 * gib, 3),
        (csv("t", 9 * gib), options(), 9 * gib, 4),
        (vscsi(0x2a, u32::MAX - 511, 8, 0), NO_OPTIONS, 4 * gib - 512, 4),
        (format!("10,h,0,Write,4096,{},1\n", 2 * gib).into_bytes(), NO_OPTIONS, 2 * gib, 2),
        (format!("0 0 8 {} 0\n", 2 * gib / 512).into_bytes(), NO_OPTIONS, 2 * gib, 2),
    ];
    for (bytes, options, total, count) in cases {
        let all = read_with(&bytes, options.clone()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(all.len(), count, "{total}");
        let data: Vec<_> = all.iter().filter(|r| r.op != Op::Flush).collect();
        assert_eq!(data.iter().map(|r| u64::from(r.len)).sum::<u64>(), total);
        assert_eq!(data[0].offset, 4096);
        assert!(
            data.windows(2).all(|w| w[0].end() == w[1].offset && w[0].op == w[1].op),
            "{total}"
        );
        assert!(all.iter().all(|r| r.at == kernel::Time::ZERO));
        let notes = note_of(&bytes, options);
        assert_eq!(
            notes.contains("1 requests larger than 1 GiB were split"),
            data.len() > 1,
            "{notes}"
        );
    }
    let said = ReadOptions { format: Some(Format::Blkparse), ..NO_OPTIONS };
    for (bytes, options) in [(blkparse("W", 4 * gib + 512), said), (csv("r", 51 * gib), options())]
    {
        assert!(refused(&bytes, options).contains("at most 4 GiB in one read or write"));
    }
}

/// Columns by name in text, wherever the names are and whatever separates them.
#[test]
fn columns_are_named_in_text_as_in_parquet() {
    let want = [(0, 51200, 512, Op::Write), (1_000_000_000, 102_400, 4096, Op::Read)];
    let rows = [
        ["version", "time", "op", "size", "lbn"],
        ["1", "10", "2a", "512", "100"],
        ["1", "11", "28", "4096", "200"],
    ];
    let columns = "time=time:s,op=op:28/2a,offset=lbn:sectors,size=size";
    for separator in [",", ";", "\t", "  "] {
        let lines = rows.map(|row| row.join(separator)).join("\n");
        let quoted = rows.map(|row| row.map(|f| format!("\"{f}\"")).join(separator)).join("\r\n");
        let forms = [
            lines.clone(),
            format!("\u{feff}{lines}\n"),
            format!("#{lines}"),
            format!("# {lines}"),
            format!("# made by a program\n\n{lines}"),
            quoted,
        ];
        for form in forms {
            let all = read_with(form.as_bytes(), table(columns))
                .unwrap_or_else(|e| panic!("{form}: {e}"));
            let all: Vec<_> = all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op)).collect();
            assert_eq!(all, want, "{form:?}");
        }
        // Numbers and names side by side.
        let mixed = "time=2:s,op=op:28/2a,offset=5:512B,size=size:bytes";
        assert_eq!(read_with(lines.as_bytes(), table(mixed)).unwrap().len(), 2);
    }
    for (name, _) in SAMPLES.into_iter().filter(|s| s.1 == "csv") {
        let sample = write(name, &pieces(name, 60));
        let numbered = read_with(&sample, options_of("csv")).unwrap();
        assert_eq!(read_with(&sample, table(samples::NAMED_COLUMNS)).unwrap(), numbered, "{name}");
    }
    let text = rows.map(|row| row.join(",")).join("\n");
    let cases = [
        (
            "time=time:s,op=op:28/2a,offset=lba:sectors,size=size",
            "there is no column `lba` in the first line",
        ),
        ("time=time:s,op=op:28/2a,offset=lbm:sectors,size=size", "did you mean `lbn`?"),
        ("time=time:s,op=op:28/2a,offset=lbn:sectors,size=lbn", "taken already"),
        ("time=time:s,op=op:28/2a,offset=lbn:sectors,size=5", "column 5 is named twice"),
        ("time=time,op=op:28/2a,offset=lbn:sectors,size=size", "the time has no unit"),
        ("time=time:s,op=op,offset=lbn:sectors,size=size", "`--columns op=op:0/1`"),
        (
            "time=time:s,op=op:28/2b,offset=lbn:sectors,size=size",
            "one of the words of `op=op:28/2b`",
        ),
    ];
    for (columns, words) in cases {
        let e = columns.parse::<Columns>().map(|_| refused(text.as_bytes(), table(columns)));
        let e = e.unwrap_or_else(|e| e);
        assert!(e.contains(words), "{columns}: {e}");
    }
    // A colon that begins no unit belongs to the name.
    let colon = "time:start,op,off:set,len\n0,R,512,512\n";
    let all = read_with(colon.as_bytes(), table("time=time:start:s,op=op,offset=off:set,size=len"));
    assert_eq!(all.unwrap()[0].offset, 512);
}

#[test]
fn units_of_any_size_and_several_words_of_one_kind() {
    let ops = |text: &str, columns: &str| -> Vec<_> {
        let all = read_with(text.as_bytes(), table(columns)).unwrap_or_else(|e| panic!("{e}"));
        all.iter().map(|r| (r.offset, r.len, r.op)).collect()
    };
    let text = "1,7,2\n2,0,1\n3,5,1\n";
    let want = [(28672, 8192, Op::Read), (0, 4096, Op::Read), (20480, 4096, Op::Write)];
    assert_eq!(ops(text, "op=1:1+2/3,offset=2:4KiB,size=3:4KiB"), want);
    assert_eq!(
        ops(text, "op=1:1+2/3,offset=2:8sectors,size=3:4KiB".replace("8sectors", "4096B").as_str()),
        want
    );
    for (bad, words) in [
        ("op=1:1+1/3,offset=2,size=3", "the words must differ"),
        ("op=1:1+/3,offset=2,size=3", "the words must differ"),
        ("op=1:1+2/2,offset=2,size=3", "the words must differ"),
        ("op=1,offset=2:4K,size=3", "did you mean `4KiB`"),
        ("op=1,offset=2:0B,size=3", "at least a byte"),
        ("op=1,offset=2:4096,size=3", "sizes such as 4KiB"),
    ] {
        let e = bad.parse::<Columns>().unwrap_err();
        assert!(e.contains(words), "{bad}: {e}");
    }
}

/// Offsets and sizes that look like blocks, without a unit, are asked about; said, they are believed.
#[test]
fn a_unit_that_is_missing_is_asked_for() {
    let cases = [
        ("1,R,100,4096\n2,W,201,512\n", "offset", 3, "offsets such as 100"),
        ("1,R,100,8\n2,W,201,16\n", "size", 4, "no size is above 16"),
        ("1,R,0,8\n2,W,4096,8\n", "size", 4, "no size is above 8"),
    ];
    for (text, key, number, words) in cases {
        let e = refused(text.as_bytes(), table("time=1:us,op=2,offset=3,size=4"));
        assert!(e.contains(words) && e.contains(&format!("`{key}={number}:sectors`")), "{e}");
        let said = table("time=1:us,op=2,offset=3:bytes,size=4:bytes");
        assert_eq!(read_with(text.as_bytes(), said).unwrap().len(), 2);
    }
    let sizes = table("time=1:us,op=2,offset=3,size=4:sectors");
    assert!(refused(b"1,R,100,8\n", sizes).contains("`offset=3:sectors`"));
    for fine in ["1,R,4096,512\n2,W,8192,1024\n", "1,R,100,700\n2,W,77,12\n"] {
        assert!(
            read_with(fine.as_bytes(), table("time=1:us,op=2,offset=3,size=4")).is_ok(),
            "{fine}"
        );
    }
}

/// A refusal proposes the columns that it could guess, and what it proposes reads the file.
#[test]
fn a_refusal_proposes_columns() {
    let cases = [
        (
            "version,time,op,size,lbn\n1,10,2a,512,100\n1,11,28,4096,200\n",
            "time=time:UNIT,op=op:28/2a,offset=lbn:sectors,size=size",
        ),
        (
            "timestamp,op,lba,length\n0.009507758,R,8,4096\n0.019507758,W,16,4096\n",
            "time=timestamp:s,op=op,offset=lba:sectors,size=length",
        ),
        (
            "ts_us;rw;offset;len;disk\n1;0;4096;512;sda\n2;1;0;512;sdb\n",
            "time=ts_us:us,op=rw:0/1,offset=offset,size=len,device=disk",
        ),
        (
            "Time (ms)\tIO Type\tStart LBA\tSectors\n1\tread\t8\t8\n2\twrite\t8\t8\n",
            "time=Time (ms):ms,op=IO Type,offset=Start LBA:sectors,size=Sectors:sectors",
        ),
        (
            "# when,cmd,address,bytes\n2008-01-02T03:04:05Z,GET,0,512\n2008-01-02T03:04:06Z,PUT,0,512\n",
            "time=when:iso,op=cmd:READ/WRITE,offset=address,size=bytes",
        ),
        (
            "\"arrival\",\"type\",\"sector\",\"nblocks\"\n1577808000,RA,8,8\n1577808001,WS,8,8\n",
            "time=arrival:s,op=type,offset=sector:sectors,size=nblocks:sectors",
        ),
        (
            "latency,issue_time_ns,opcode,blkno,count\n5,1,R,7,8\n5,2,W,7,8\n",
            "time=issue_time_ns:ns,op=opcode,offset=blkno:sectors,size=count:sectors",
        ),
        (
            "1577808000000046 R 126703644672 4096\n1577808000000056 W 8192 4096\n",
            "time=1:us,op=2,offset=3,size=4",
        ),
        ("write,8192,512,1577808000\nread,4096,512,1577808001\n", "time=4:s,op=1,offset=2,size=3"),
    ];
    for (text, columns) in cases {
        let e = refused(text.as_bytes(), NO_OPTIONS);
        assert!(e.contains(&format!("`--columns {columns}`")), "{text}: {e}");
        if !columns.contains("READ") {
            let proposed = columns.replace("UNIT", "s");
            let read = read_with(text.as_bytes(), table(&proposed));
            assert_eq!(read.unwrap_or_else(|e| panic!("{columns}: {e}")).len(), 2, "{columns}");
        }
    }
    for text in ["hello world\n", "a,b,c\n1,2,3\n", "1,2,3\n4,5,6\n", "x;y;z\nu;v;w\n"] {
        let e = refused(text.as_bytes(), NO_OPTIONS);
        assert!(!e.contains("may be a table for") && e.contains("--columns"), "{text}: {e}");
    }
}

/// A format whose columns are separated by something else is recognised, and what is proposed reads.
#[test]
fn other_separators_are_pointed_out() {
    for (name, format) in SAMPLES.into_iter().filter(|s| is_text(s.0)) {
        let (own, others): (char, &[char]) = match format {
            "msr" | "spc" | "alibaba" | "systor" => (',', &[';', '\t']),
            // Between blanks it may be `ssdsim-ascii`.
            "tencent" => (',', &[';']),
            "ssdsim-ascii" | "disksim-ascii" | "fiu" | "wiscsee" => (' ', &[',']),
            _ => continue,
        };
        let text = String::from_utf8(write(name, &pieces(name, 60))).unwrap();
        for other in others {
            let e = refused(text.replace(own, &other.to_string()).as_bytes(), NO_OPTIONS);
            let words = format!("`tr '{}' '{own}' < FILE > NEW`", other.escape_default());
            assert!(e.contains(&format!("it reads as {format}: {words}")), "{name}: {e}");
        }
    }
}

/// The message about other formats depends on how this one was found.
#[test]
fn hints_speak_of_what_is_there() {
    let huge = "8,16 0 99 90.0 7 Q W 8 + 99999999 [x]\n";
    let good = "8,16 0 99 90.0 7 Q W 8 + 8 [x]\n";
    let found = refused(format!("{good}{huge}").as_bytes(), NO_OPTIONS);
    assert!(found.contains("`--format` names one"), "{found}");
    let said = ReadOptions { format: Some(Format::Blkparse), ..NO_OPTIONS };
    let e = refused(format!("{good}{huge}").as_bytes(), said);
    assert!(e.contains("without `--format`") && !e.contains("names one"), "{e}");
    for first in [
        "fio version 3 iolog\n0 /dev/a add\n0 /dev/a read 0 99999999999\n",
        "fio version 3 iolog\n0 /dev/a add\n",
    ] {
        let e = refused(first.as_bytes(), NO_OPTIONS);
        assert!(!e.contains("--format"), "the first line settled it: {e}");
    }
    let e = refused(
        b"BeginHeader\nEndHeader\nDiskRead, 5, a (4), 1, 0xf, 0x0, 0x1000000000, 1, 0, 0x6\n",
        NO_OPTIONS,
    );
    assert!(e.contains("68719476736 bytes") && !e.contains("--format"), "{e}");
    let e = refused(b"1,R,0,99999999999\n", table("time=1:us,op=2,offset=3,size=4"));
    assert!(e.contains("`--columns` says") && !e.contains("--format"), "{e}");
    // A point, or a unit, is spoken of where there is a number.
    let garbage = refused(b"0 0 16 8 1\nx 0 16 8 1\n0 0 16 8 1\n", NO_OPTIONS);
    assert!(!garbage.contains("disksim") && !garbage.contains("--time-unit"), "{garbage}");
    let soon = refused(b"0,8,512,r,0.5\n0,8,512,r,soon\n", NO_OPTIONS);
    assert!(!soon.contains("--time-unit"), "{soon}");
    let far = refused(b"0,8,512,r,0.5\n0,8,512,r,99999999999999999\n", NO_OPTIONS);
    assert!(far.contains("--time-unit"), "{far}");
}

/// Fields that some copies leave out, and versions that came later.
#[test]
fn optional_fields_and_newer_versions() {
    let six = "10,hm,0,Read,0,512\n11,hm,0,Write,512,512\n";
    assert_eq!(read(six).len(), 2);
    assert_eq!(about(six).format, "msr");
    // The first record decides: a later one without it is cut.
    let mixed = "10,hm,0,Read,0,512,1\n11,hm,0,Write,512,51\n";
    assert!(refused(mixed.replace(",51\n", "\n").as_bytes(), NO_OPTIONS).contains("t:2:"));
    assert!(refused(mixed.as_bytes(), NO_OPTIONS).contains("the response time, is missing"));
    assert!(
        refused(format!("{six}12,hm,0,Read,0,512,1\n").as_bytes(), NO_OPTIONS)
            .contains("more than 6")
    );
    for version in [4, 5, 17] {
        let log =
            format!("fio version {version} iolog\r\n0 /dev/a add\r\n5 /dev/a write 0 4096\r\n");
        assert_eq!(read(&log), [(0, 0, 4096, Op::Write)]);
        assert!(
            note_of(log.as_bytes(), NO_OPTIONS).contains(&format!("version {version} of the log"))
        );
        let e = refused(format!("{log}6 /dev/a copy 0 4096 8192\n").as_bytes(), NO_OPTIONS);
        assert!(e.contains("`copy` in the action"), "{e}");
    }
    for bad in [
        "fio version 1 iolog\n",
        "fio version x iolog\n",
        "fio version 3\n",
        "fio version 0 iolog\n",
    ] {
        assert!(refused(bad.as_bytes(), NO_OPTIONS).contains("`fio version 2 iolog` or"), "{bad}");
    }
    // The first version of vscsi and the second do not read as each other.
    let second = write("vscsi 2", &pieces("vscsi 2", 5));
    let said = ReadOptions { format: Some(Format::Vscsi), ..NO_OPTIONS };
    assert!(refused(&second, said).contains("`--format vscsi-2`"));
}

/// Commands of SCSI without data are counted; those that may have some, and are unknown, are refused.
#[test]
fn scsi_commands_without_data_are_passed_over() {
    let with = |code: u8| {
        let bytes = [vscsi(0x2a, 512, 63, 5), vscsi(code, 512, 63, 6)].concat();
        read_with(&bytes, NO_OPTIONS).map(|all| all.len())
    };
    let passed = [
        0x00, 0x03, 0x12, 0x15, 0x16, 0x17, 0x1a, 0x1b, 0x1d, 0x1e, 0x25, 0x2f, 0x34, 0x3b, 0x4d,
        0x56, 0x5a, 0x5e, 0x5f, 0x8f, 0x90, 0x9e, 0xa0, 0xa3, 0x42,
    ];
    for code in passed {
        assert_eq!(with(code).unwrap(), 1, "{code:#04x}");
    }
    for code in [0x28, 0x2a, 0x35, 0x41, 0x88, 0x89, 0x8a, 0x91, 0x93] {
        assert_eq!(with(code).unwrap(), 2, "{code:#04x}");
    }
    for code in [0x04, 0x83, 0x85, 0xa1, 0x7f, 0xc0, 0xff] {
        let e = with(code).unwrap_err().to_string();
        assert!(e.contains(&format!("SCSI operation {code:#04x}")), "{e}");
    }
    let unmap = [vscsi(0x2a, 512, 63, 5), vscsi(0x42, 24, 0, 6)].concat();
    assert!(note_of(&unmap, NO_OPTIONS).contains("1 trims (UNMAP)"));
}
