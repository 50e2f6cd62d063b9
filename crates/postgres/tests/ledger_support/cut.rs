//! A line to a server that breaks in the middle of a commit.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

/// Where it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Before the server has the commit.
    Request,
    /// After the server has done it, before its reply comes.
    Reply,
}

/// Lets everything by until it is armed, breaks at the next commit, and lets everything by again.
pub struct Breaking {
    port: u16,
    state: Arc<State>,
}

struct State {
    cut: Cut,
    armed: AtomicBool,
    has_cut: AtomicBool,
}

impl Cut {
    pub fn between(self, server: u16) -> Breaking {
        let state = State { cut: self, armed: AtomicBool::new(false), has_cut: AtomicBool::new(false) };
        let state = Arc::new(state);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", server)).expect("the server");
                let mute = Arc::new(AtomicBool::new(false));
                let ends = (client.try_clone().expect("a line"), server.try_clone().expect("a line"));
                let (state, muted) = (shared.clone(), mute.clone());
                thread::spawn(move || asked(&state, client, server, &mute));
                thread::spawn(move || answered(ends.1, ends.0, &muted));
            }
        });
        Breaking { port, state }
    }
}

impl Breaking {
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn arm(&self) {
        self.state.armed.store(true, SeqCst);
    }

    pub fn has_cut(&self) -> bool {
        self.state.has_cut.load(SeqCst)
    }
}

fn asked(state: &State, mut client: TcpStream, mut server: TcpStream, mute: &AtomicBool) {
    let mut buffer = [0; 1 << 14];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let commits = buffer[..length].windows(7).any(|part| part == b"COMMIT\0");
        if commits && state.armed.swap(false, SeqCst) {
            state.has_cut.store(true, SeqCst);
            match state.cut {
                Cut::Request => break,
                Cut::Reply => mute.store(true, SeqCst),
            }
        }
        if server.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}

fn answered(mut server: TcpStream, mut client: TcpStream, mute: &AtomicBool) {
    let mut buffer = [0; 1 << 14];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        if mute.load(SeqCst) || client.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}
