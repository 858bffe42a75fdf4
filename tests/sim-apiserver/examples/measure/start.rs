//! From nothing to the first answer.

use sim_apiserver::SimApiServer;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

const ROUNDS: usize = 101;

pub(crate) async fn measure() {
    let mut milliseconds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let server = SimApiServer::builder().start().await.unwrap();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        let request = b"GET /api/v1/namespaces/default HTTP/1.1\r\nhost: sim\r\n\r\n";
        socket.write_all(request).await.unwrap();
        let mut answer = [0; 4096];
        let length = socket.read(&mut answer).await.unwrap();
        milliseconds.push(started.elapsed().as_secs_f64() * 1000.0);
        assert!(answer[..length].starts_with(b"HTTP/1.1 200 OK"));
        server.shutdown().await;
    }
    milliseconds.sort_by(f64::total_cmp);
    println!(
        "start to first answer over a socket: {:.2} ms (median of {ROUNDS}; the slowest {:.2} ms)",
        milliseconds[ROUNDS / 2],
        milliseconds[ROUNDS - 1]
    );
}
