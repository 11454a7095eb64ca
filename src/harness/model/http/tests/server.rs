//! A model server for tests: says exactly what it is told to say, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

/// One thing the server does on a connection, in order. Then it hangs up.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends these bytes as one packet.
    Send(Vec<u8>),
    /// Sends these bytes again and again until the client hangs up.
    Forever(Vec<u8>),
    /// Says nothing until the client hangs up.
    Silence,
}

/// A request as it arrived.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A running server; one list of acts for each connection, in order.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) origin: String,
    seen: Receiver<Seen>,
    left: Receiver<()>,
}

impl Server {
    pub(crate) fn start(connections: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (tell_seen, seen) = channel();
        let (tell_left, left) = channel();
        std::thread::spawn(move || {
            for acts in connections {
                let Ok((stream, _)) = listener.accept() else { return };
                serve(stream, acts, &tell_seen, &tell_left);
            }
        });
        Self { origin, seen, left }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }

    /// Waits until a client has hung up on [`Act::Silence`] or [`Act::Forever`].
    pub(crate) fn wait_left(&self) {
        self.left.recv().unwrap();
    }
}

fn serve(mut stream: TcpStream, acts: Vec<Act>, seen: &Sender<Seen>, left: &Sender<()>) {
    stream.set_nodelay(true).unwrap();
    // A client that speaks no HTTP (a TLS greeting) is hung up on.
    let Some(request) = read(&stream) else { return };
    seen.send(request).ok();
    for act in acts {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
            Act::Forever(bytes) => {
                while stream.write_all(&bytes).is_ok() {}
                left.send(()).ok();
            }
            Act::Silence => {
                std::io::copy(&mut stream, &mut std::io::sink()).ok();
                left.send(()).ok();
            }
        }
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    let path = String::from_utf8(line).ok()?.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { path, headers, body: String::from_utf8(body).ok()? })
}

/// The head of a stream of events that ends when the server hangs up.
pub(crate) fn head() -> Act {
    Act::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// A stream of events, each one packet.
pub(crate) fn stream_of(events: &[&str]) -> Vec<Act> {
    let sent = events.iter().map(|event| Act::Send(format!("data: {event}\n\n").into_bytes()));
    std::iter::once(head()).chain(sent).collect()
}

/// The same bytes as `acts`, cut into packets of `size` bytes.
pub(crate) fn cut(acts: Vec<Act>, size: usize) -> Vec<Act> {
    let whole = |act| match act {
        Act::Send(bytes) => bytes,
        _ => Vec::new(),
    };
    let bytes: Vec<u8> = acts.into_iter().flat_map(whole).collect();
    bytes.chunks(size).map(|piece| Act::Send(piece.to_vec())).collect()
}

/// An answer that is not a stream.
pub(crate) fn plain(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    vec![Act::Send((head + body).into_bytes())]
}
