//! Prints what the Rust library linux-perf-data reads of a capture, as the facts that `../run --adapter facts` compares: a line for
//! each record, with its name and those members that the library has.  Ends with 1 and a message if the library returns an error.
use linux_perf_data::linux_perf_event_reader::{EventRecord, RawData, RecordType};
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use std::io::Write;

type Failure = Box<dyn std::error::Error>;

/// A line that is being made: `NAME key=value ...`, with a text as the last member.
struct Fact {
    line: Vec<u8>,
}

impl Fact {
    fn new(name: &str) -> Fact {
        Fact { line: name.as_bytes().to_vec() }
    }

    fn put<T: std::fmt::Display>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.line.extend(format!(" {key}={value}").into_bytes());
        }
    }

    fn put_text(&mut self, key: &str, text: &RawData) {
        self.line.extend(format!(" {key}=").into_bytes());
        self.line.extend(text.as_slice().iter());
    }

    fn print(mut self) -> std::io::Result<()> {
        self.line.push(b'\n');
        std::io::stdout().write_all(&self.line)
    }
}

fn name_of(kind: RecordType) -> Option<&'static str> {
    Some(match kind {
        RecordType::MMAP => "MMAP",
        RecordType::LOST => "LOST",
        RecordType::COMM => "COMM",
        RecordType::EXIT => "EXIT",
        RecordType::THROTTLE => "THROTTLE",
        RecordType::UNTHROTTLE => "UNTHROTTLE",
        RecordType::FORK => "FORK",
        RecordType::SAMPLE => "SAMPLE",
        RecordType::MMAP2 => "MMAP2",
        _ => return None,
    })
}

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("missing capture")?;
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file)?;
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        let record = match record {
            PerfFileRecord::EventRecord { record, .. } => record,
            PerfFileRecord::UserRecord(record) => {
                record.parse()?;
                continue;
            }
        };
        let parsed = record.parse()?;
        let Some(name) = name_of(record.record_type) else { continue };
        let mut fact = Fact::new(name);
        let common = record.common_data()?;
        fact.put("time", common.timestamp);
        fact.put("cpu", common.cpu);
        match parsed {
            EventRecord::Sample(sample) => {
                fact.put("pid", sample.pid);
                fact.put("tid", sample.tid);
                fact.put("ip", sample.ip);
                fact.put("addr", sample.addr);
                fact.put("period", sample.period);
                fact.put("phys_addr", sample.phys_addr);
                fact.put("data_page_size", sample.data_page_size);
                fact.put("code_page_size", sample.code_page_size);
            }
            EventRecord::Comm(comm) => {
                fact.put("pid", Some(comm.pid));
                fact.put("tid", Some(comm.tid));
                fact.put_text("comm", &comm.name);
            }
            EventRecord::Fork(task) | EventRecord::Exit(task) => {
                fact.put("pid", Some(task.pid));
                fact.put("tid", Some(task.tid));
                fact.put("ppid", Some(task.ppid));
                fact.put("ptid", Some(task.ptid));
            }
            EventRecord::Mmap(map) => {
                fact.put("pid", Some(map.pid));
                fact.put("tid", Some(map.tid));
                fact.put("addr", Some(map.address));
                fact.put("len", Some(map.length));
                fact.put("pgoff", Some(map.page_offset));
                fact.put_text("filename", &map.path);
            }
            EventRecord::Mmap2(map) => {
                fact.put("pid", Some(map.pid));
                fact.put("tid", Some(map.tid));
                fact.put("addr", Some(map.address));
                fact.put("len", Some(map.length));
                fact.put("pgoff", Some(map.page_offset));
                fact.put_text("filename", &map.path);
            }
            EventRecord::Lost(lost) => {
                fact.put("id", Some(lost.id));
                fact.put("lost", Some(lost.count));
            }
            _ => {}
        }
        fact.print()?;
    }
    Ok(())
}
