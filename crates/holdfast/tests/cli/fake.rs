//! A server that answers each request with the same, and a border that loses answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Answers every request with this status and body; the address.
pub(crate) fn answers(status: u16, body: &'static str) -> String {
    answers_with(status, String::new(), body)
}

/// Sends everybody to another address.
pub(crate) fn redirects(to: &str) -> String {
    answers_with(307, format!("location: {to}/\r\n"), "")
}

fn answers_with(status: u16, header: String, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::Builder::new()
        .spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = request(&stream);
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} X\r\n{header}content-length: {length}\r\n\r\n{body}"
                );
            }
        })
        .unwrap();
    url
}

/// Answers each request by its target, and tells the targets.
pub(crate) fn scripted(
    answer: impl Fn(&str) -> String + Send + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = sync_channel(1000);
    thread::Builder::new()
        .spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(bytes) = request(&stream) else { continue };
                let head = String::from_utf8(bytes).unwrap();
                let target = head.split(' ').nth(1).unwrap().to_owned();
                let body = answer(&target);
                let _ = write!(stream, "HTTP/1.1 200 X\r\nconnection: close\r\n\r\n{body}");
                if tell.send(target).is_err() {
                    break;
                }
            }
        })
        .unwrap();
    (url, told)
}

/// Passes every request on to the host at `to`, but throws its first `lost` answers to writes away.
pub(crate) fn loses(to: &str, lost: usize) -> String {
    let to = to.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::Builder::new()
        .spawn(move || {
            let mut lost = lost;
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(bytes) = request(&stream) else { continue };
                let mut host = TcpStream::connect(&to).unwrap();
                host.write_all(&bytes).unwrap();
                let mut answer = Vec::new();
                let _ = host.read_to_end(&mut answer);
                if bytes.starts_with(b"POST") && lost > 0 {
                    lost -= 1;
                    continue;
                }
                let _ = stream.write_all(&answer);
            }
        })
        .unwrap();
    url
}

/// One whole request, as it asks for the last answer of its connection.
fn request(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut bytes = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            bytes.extend_from_slice(b"connection: close\r\n\r\n");
            break;
        }
        bytes.extend_from_slice(line.as_bytes());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    bytes.extend_from_slice(&body);
    Some(bytes)
}
