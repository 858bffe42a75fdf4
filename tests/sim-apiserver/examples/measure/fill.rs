//! Many objects: how long they take to store, how much memory, and how fast they are listed.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
};

use serde_json::Value;
use sim_apiserver::{SimApiServer, many_deployments};
use tokio::{runtime::Builder, sync::oneshot, time::Instant};

use crate::usage::{Thread, resident};

const OBJECTS: u32 = 100_000;
const LIST: &str = "/apis/apps/v1/deployments";
const MB: f64 = 1e6;

/// What the server's thread tells the one that asks it.
struct Filled {
    address: SocketAddr,
    server: Thread,
}

pub(crate) fn measure() {
    let (tell, told) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    // A thread of its own: its time on a processor is then the server's, without the client's.
    let server = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = SimApiServer::builder()
                .recorded_requests(0)
                .start()
                .await
                .unwrap();
            fill(&server);
            let filled = Filled {
                address: server.address(),
                server: Thread::current(),
            };
            tell.send(filled).unwrap();
            stopped.await.unwrap();
            server.shutdown().await;
        });
    });
    let filled = told.recv().unwrap();
    for _ in 0..2 {
        list(&filled, "whole", None);
        list(&filled, "in pages of 500", Some(500));
    }
    stop.send(()).unwrap();
    server.join().unwrap();
}

fn fill(server: &SimApiServer) {
    let before = resident();
    let (started, thread) = (Instant::now(), Thread::current());
    let busy = thread.busy();
    server.seed_all(many_deployments(0..OBJECTS));
    let seconds = started.elapsed().as_secs_f64();
    let busy = (thread.busy() - busy).as_secs_f64();
    let taken = resident() - before;
    let objects = f64::from(OBJECTS);
    let stored = server
        .object("deployments", "default", "demo-000000")
        .unwrap();
    let mut stored = stored.as_object().unwrap().clone();
    // As it is kept, and as a list shows it.
    stored.remove("apiVersion");
    stored.remove("kind");
    let json = Value::Object(stored).to_string().len() as f64;
    println!(
        "filled with {OBJECTS} Deployments: {seconds:.2} s by the clock, {busy:.2} s on a processor, {:.1} µs each",
        busy * 1e6 / objects
    );
    println!(
        "memory: {:.0} bytes an object, of which {json:.0} bytes are its JSON and {:.0} are beside it",
        taken as f64 / objects,
        taken as f64 / objects - json
    );
}

fn list(filled: &Filled, how: &str, limit: Option<u32>) {
    let mut client = Client::connect(filled.address);
    let busy = filled.server.busy();
    let started = Instant::now();
    let (mut bytes, mut token) = (0, String::new());
    loop {
        let page = client.get(&match limit {
            None => LIST.to_owned(),
            Some(limit) => format!("{LIST}?limit={limit}&continue={token}"),
        });
        bytes += page.len();
        // The list's metadata comes before its items.
        let head = String::from_utf8_lossy(&page[..page.len().min(400)]);
        match head
            .split_once("\"continue\":\"")
            .and_then(|(_, rest)| rest.split_once('"'))
        {
            Some((next, _)) => next.clone_into(&mut token),
            None => break,
        }
    }
    let wall = started.elapsed().as_secs_f64();
    let busy = (filled.server.busy() - busy).as_secs_f64();
    let megabytes = bytes as f64 / MB;
    println!(
        "listed {how}: {megabytes:.0} MB in {wall:.2} s, {:.0} MB/s of one core by the server's time on a processor, \
         {:.0} MB/s by the clock",
        megabytes / busy,
        megabytes / wall
    );
}

/// A client that does as little as possible.
struct Client {
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        Self {
            socket: TcpStream::connect(address).unwrap(),
            buffer: vec![0; 1 << 20],
        }
    }

    /// The body of an answer.
    fn get(&mut self, path: &str) -> Vec<u8> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: sim\r\n\r\n");
        self.socket.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let (mut head, mut whole) = (0, usize::MAX);
        while answer.len() < whole {
            let length = self.socket.read(&mut self.buffer).unwrap();
            assert!(length > 0, "the answer is cut");
            answer.extend_from_slice(&self.buffer[..length]);
            if head == 0
                && let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n")
            {
                head = end + 4;
                let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
                assert!(text.starts_with("http/1.1 200"), "{text}");
                let (_, length) = text.split_once("content-length: ").unwrap();
                whole = head + length.lines().next().unwrap().parse::<usize>().unwrap();
                answer.reserve(whole - answer.len());
            }
        }
        answer.split_off(head)
    }
}
