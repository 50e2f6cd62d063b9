//! Server-sent events: that an answer can be read, and nothing of what it says.

use crate::{
    authorise::{Act, Caller, authorise},
    desk::Ready,
    http,
    problem::Problem,
    state::State,
};
use axum::{
    extract::State as Shared,
    http::{HeaderMap, Method, StatusCode},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream;
use serde_json::json;
use std::{
    convert::Infallible,
    sync::{Arc, PoisonError},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// So many connections wait for events at once.
const MOST: usize = 512;
/// So many of one member.
const MOST_OF_ONE: usize = 16;

/// One of those who listen.
struct Listener {
    receiver: Receiver<Ready>,
    state: Arc<State>,
    caller: Caller,
    /// By which the caller was known, and is to be known still.
    headers: HeaderMap,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listening = self.state.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = listening.get_mut(&self.caller.name) {
            *own -= 1;
            if *own == 0 {
                listening.remove(&self.caller.name);
            }
        }
    }
}

/// Tell whoever may read an answer that its time has come.
pub async fn events(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let receiver = state.desk.listen();
    {
        let mut listening = state.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let own = listening.get(&caller.name).copied().unwrap_or_default();
        if own >= MOST_OF_ONE || listening.values().sum::<usize>() >= MOST {
            let line = "too many connections wait for events; ask for the release instead";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, line).after(5));
        }
        listening.insert(caller.name.clone(), own + 1);
    }
    let listener = Listener { receiver, state, caller, headers };
    let stream = stream::unfold(listener, |mut listener| async move {
        loop {
            match listener.receiver.recv().await {
                Ok(ready) if still_sees(&listener, &ready) => {
                    let told = json!({ "id": ready.id, "data_set": ready.data_set });
                    let event = Event::default().event("ready").data(told.to_string());
                    return Some((Ok::<_, Infallible>(event), listener));
                }
                // Whoever was too slow has missed some, and reads the releases by their ids.
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()).into_response())
}

/// A member who was removed, whose token or session has ended, or whose role does not include it, is told nothing.
fn still_sees(listener: &Listener, ready: &Ready) -> bool {
    let now = http::caller(&listener.state, &Method::GET, &listener.headers);
    let is_same = now.is_ok_and(|now| now.name == listener.caller.name);
    is_same && authorise(&listener.caller, Act::Read { asked_by: &ready.member }).is_ok()
}
