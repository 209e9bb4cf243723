//! Clients of the event stream: by server-sent events and by WebSocket, cut wherever a test wants,
//! and a mirror that keeps what a page would keep.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};
use serde_json::Value;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

use crate::host::TestHost;
use crate::raw::{self, RawRequest};

/// How long a listener waits for the next byte: longer than a heartbeat takes.
const FRAME_BOUND: Duration = Duration::from_secs(40);

/// A frame, and the cursor with which a client that has it may come back.
#[derive(Clone, Debug)]
pub struct Told {
    /// The frame.
    pub frame: Value,
    /// The cursor, where the frame has one to come back with.
    pub cursor: Option<String>,
}

/// Whatever tells frames.
pub trait Listen: Send {
    /// The next frame; none at the end of the stream.
    fn next(&mut self) -> Option<Told>;
}

/// The path of the event stream.
pub fn path(after: Option<&str>, chats: &[&str]) -> String {
    let after = after.map(|cursor| format!("after={cursor}"));
    let chats = chats.iter().map(|chat| format!("chat={chat}"));
    let query: Vec<String> = after.into_iter().chain(chats).collect();
    format!("/api/v1/events?{}", query.join("&"))
}

/// A listener by server-sent events. Dropping it cuts the connection.
#[derive(Debug)]
pub struct Sse {
    reader: BufReader<TcpStream>,
    text: String,
}

impl Sse {
    /// Listens from this cursor on.
    #[track_caller]
    pub fn open(host: &TestHost<'_>, after: Option<&str>, chats: &[&str]) -> Self {
        let request = RawRequest::new("GET", &path(after, chats))
            .header("host", raw::address(&host.url))
            .header("authorization", format!("Bearer {}", host.token))
            .header("accept", "text/event-stream");
        let stream = raw::connect(&host.url);
        stream.set_read_timeout(Some(FRAME_BOUND)).unwrap();
        let (mut reader, status) = raw::begin(stream, &request);
        assert_eq!(status, 200, "{}", raw::rest(&mut reader));
        Self { reader, text: String::new() }
    }
}

impl Listen for Sse {
    fn next(&mut self) -> Option<Told> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let told = field("data: ").map(|data| Told {
                    frame: serde_json::from_str(data).unwrap(),
                    cursor: field("id: ").map(str::to_owned),
                });
                self.text = rest.to_owned();
                match told {
                    Some(told) => return Some(told),
                    None => continue,
                }
            }
            let chunk = raw::read_chunk(&mut self.reader).ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

/// A listener by WebSocket. Dropping it cuts the connection.
#[derive(Debug)]
pub struct Socket {
    socket: WebSocket<TcpStream>,
    /// The code with which it was closed.
    pub closed: Option<u16>,
}

impl Socket {
    /// Listens from this cursor on.
    #[track_caller]
    pub fn open(host: &TestHost<'_>, after: Option<&str>, chats: &[&str]) -> Self {
        Self::over(raw::connect(&host.url), host, after, chats)
    }

    /// Listens over a connection that holds as little as the system lets it.
    #[track_caller]
    pub fn open_narrow(host: &TestHost<'_>, after: Option<&str>, chats: &[&str]) -> Self {
        let address: std::net::SocketAddr = raw::address(&host.url).parse().unwrap();
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
        connect(&socket, &address).unwrap();
        Self::over(TcpStream::from(socket), host, after, chats)
    }

    fn over(stream: TcpStream, host: &TestHost<'_>, after: Option<&str>, chats: &[&str]) -> Self {
        stream.set_read_timeout(Some(FRAME_BOUND)).unwrap();
        let url = format!("ws://{}{}", raw::address(&host.url), path(after, chats));
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {}", host.token).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let (socket, _) = client(request, stream).expect("the upgrade is taken");
        Self { socket, closed: None }
    }
}

impl Listen for Socket {
    fn next(&mut self) -> Option<Told> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    // The hello of a snapshot has the snapshot's cursor: whoever has yet to read the
                    // snapshot must not come back with it. One that goes on is harmless either way.
                    let whole = matches!(frame["type"].as_str(), Some("changes" | "snapshot"));
                    let cursor = frame["cursor"].as_str().filter(|_| whole).map(str::to_owned);
                    return Some(Told { frame, cursor });
                }
                Ok(Message::Close(close)) => self.closed = close.map(|close| close.code.into()),
                Ok(_) => {}
                Err(Error::Io(error)) if self.closed.is_none() => panic!("no frame: {error}"),
                Err(_) => return None,
            }
        }
    }
}

/// What a page keeps of one chat, from frames alone.
#[derive(Debug, Default)]
pub struct Mirror {
    /// The last cursor to come back with.
    pub cursor: Option<String>,
    /// Verdicts of the hellos, in order.
    pub verdicts: Vec<String>,
    /// Texts of the agent's messages, by place and id; only what is known from the beginning on.
    texts: BTreeMap<(u64, String), Known>,
    /// Live pieces that fitted, and those that did not.
    pub applied: usize,
    /// See [`Mirror::applied`].
    pub passed_over: usize,
    /// Turns that were told to be over, by id, how often.
    pub ended: BTreeMap<String, usize>,
    /// The newest state of the chat's row.
    pub row: Value,
    /// Offers that are there, by chat.
    pub offers: BTreeMap<String, Value>,
    /// The newest counts.
    pub counts: Value,
}

#[derive(Debug, Default)]
struct Known {
    text: String,
    /// Bytes that the text is known to have.
    bytes: u64,
    /// Where all of it is, if it was told in part only.
    href: Option<String>,
}

impl Mirror {
    /// Takes in a frame about this chat; others pass.
    pub fn take(&mut self, chat: &str, told: &Told) {
        let frame = &told.frame;
        match frame["type"].as_str() {
            Some("hello") => self.verdicts.push(frame["verdict"].as_str().unwrap().to_owned()),
            Some("snapshot") => self.snapshot(chat, frame),
            Some("changes") => {
                for change in frame["changes"].as_array().unwrap() {
                    self.change(chat, change);
                }
            }
            Some("delta") => self.delta(chat, frame),
            _ => {}
        }
        if told.cursor.is_some() {
            self.cursor.clone_from(&told.cursor);
        }
    }

    fn snapshot(&mut self, chat: &str, frame: &Value) {
        self.texts.clear();
        self.offers.clear();
        self.counts = frame["counts"].clone();
        for item in frame["items"].as_array().unwrap() {
            if item["chat"] == chat {
                self.item(item);
            }
        }
        let rows = frame["chats"].as_array().unwrap();
        self.row = rows.iter().find(|row| row["id"] == chat).cloned().unwrap_or_default();
        for offer in frame["offers"].as_array().unwrap() {
            self.offers.insert(offer["chat"].as_str().unwrap().to_owned(), offer.clone());
        }
    }

    fn change(&mut self, chat: &str, change: &Value) {
        let value = &change["value"];
        match change["what"].as_str() {
            Some("counts") => self.counts = value.clone(),
            Some("offer") => {
                let of = change["chat"].as_str().unwrap().to_owned();
                if value.is_null() {
                    self.offers.remove(&of);
                } else {
                    self.offers.insert(of, value.clone());
                }
            }
            _ if change["chat"] != chat => {}
            Some("item") => self.item(value),
            Some("chat") => self.row = value.clone(),
            Some("turn") if !value["ended_at"].is_null() => {
                *self.ended.entry(value["id"].to_string()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Value) {
        if item["kind"] != "message" || item["role"] != "agent" {
            return;
        }
        let key = (item["seq"].as_u64().unwrap(), item["id"].as_str().unwrap().to_owned());
        let known = self.texts.entry(key).or_default();
        let head = item["text"].as_str().unwrap_or_default();
        let full = &item["full"];
        known.bytes = full["bytes"].as_u64().unwrap_or(head.len() as u64);
        known.href = full["href"].as_str().map(str::to_owned);
        if full.is_null() || known.text.len() < head.len() {
            head.clone_into(&mut known.text);
        } else {
            // A head that was told anew: what is known beyond it stays.
            assert!(known.text.starts_with(head), "a text changed under its reader");
        }
    }

    fn delta(&mut self, chat: &str, frame: &Value) {
        let wanted = frame["item"].as_str().unwrap();
        let fits = frame["chat"] == chat && frame["field"] == "text";
        let known = self.texts.iter_mut().find(|((_, id), _)| fits && id == wanted);
        match known {
            Some((_, known)) if frame["at"] == known.text.len() as u64 => {
                known.text.push_str(frame["text"].as_str().unwrap());
                self.applied += 1;
            }
            _ => self.passed_over += 1,
        }
    }

    /// What the agent is known to have said; where a text was told in part only, the rest is fetched
    /// as a range.
    pub fn said(&mut self, host: &TestHost<'_>) -> String {
        for known in self.texts.values_mut() {
            let length = known.text.len();
            if let Some(href) = known.href.as_ref().filter(|_| (length as u64) < known.bytes) {
                let part = host.range(href, &format!("bytes={length}-"));
                assert_eq!(part.status, 206);
                known.text.push_str(std::str::from_utf8(&part.body).unwrap());
            }
        }
        self.told()
    }

    /// What the agent is known to have said, from frames alone.
    pub fn told(&self) -> String {
        self.texts.values().map(|known| known.text.as_str()).collect()
    }
}
