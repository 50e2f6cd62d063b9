//! What whoever attacks a server tries: foreign pages, old cookies, odd paths, long and slow bodies, hostile names.

mod support;

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use equipoise_server::{
    acts::{
        data_sets::{self, Registering},
        members,
    },
    authorise::{Caller, Shown},
    serve,
    store::{Opens, Role},
};
use serde_json::json;
use std::time::Duration;
use support::{HOSTILE, ORIGIN, Reply, Server, steward};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Send a form as a browser does.
async fn post(server: &Server, path: &str, cookie: &str, form: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().method(Method::POST).uri(path);
    request = request
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::COOKIE, cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.send(request.body(Body::from(form.to_string())).unwrap()).await
}

const OWN: &[(&str, &str)] = &[("origin", ORIGIN), ("sec-fetch-site", "same-origin")];

/// Sign in by a link, and give the cookie.
async fn sign_in(server: &Server, member: &str) -> String {
    let secret = server.state.store.issue(member, Opens::Invitation, "").unwrap();
    let form = format!("secret={}", secret.reveal());
    let reply = post(server, "/sign-in", "equipoise=chosen-by-somebody-else", &form, OWN).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.text);
    let set = reply.header("set-cookie").to_string();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Path=/"), "{set}");
    set.split(';').next().unwrap().to_string()
}

async fn page(server: &Server, path: &str, cookie: &str) -> Reply {
    let request = Request::builder().uri(path).header(header::COOKIE, cookie).body(Body::empty()).unwrap();
    server.send(request).await
}

#[tokio::test]
async fn a_foreign_page_changes_nothing() {
    let server = Server::new();
    let cookie = sign_in(&server, "sam").await;
    let form = "epsilon=100";
    for headers in [
        &[][..],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        &[("origin", ORIGIN), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://127.0.0.1:8470.evil.example")],
    ] {
        let reply = post(&server, "/data-sets/pay/limits", &cookie, form, headers).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{headers:?}");
        let api = Request::builder()
            .method(Method::PUT)
            .uri("/v1/data-sets/pay/limits")
            .header(header::COOKIE, &cookie);
        let api = headers.iter().fold(api, |api, (name, value)| api.header(*name, *value));
        let api = api
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from("{\"epsilon\":100}"))
            .unwrap();
        assert_eq!(server.send(api).await.status, StatusCode::FORBIDDEN, "{headers:?}");
        let secret = server.state.store.issue("ana", Opens::Invitation, "").unwrap();
        let signed = post(&server, "/sign-in", "", &format!("secret={}", secret.reveal()), headers).await;
        assert_eq!(signed.status, StatusCode::FORBIDDEN, "{headers:?} signs nobody in");
    }
    let before = server.get("/v1/data-sets/pay", "sam").await.json();
    assert_eq!(before["limit"]["epsilon"], "5");
    let own = post(&server, "/data-sets/pay/limits", &cookie, form, OWN).await;
    assert_eq!(own.status, StatusCode::SEE_OTHER, "{}", own.text);
    assert_eq!(server.get("/v1/data-sets/pay", "sam").await.json()["limit"]["epsilon"], "100");
}

/// Every form of the console, sent by a foreign page with the cookie of whoever may press its button.
#[tokio::test]
async fn no_form_is_taken_from_a_foreign_page() {
    let server = Server::new();
    let (steward, analyst) = (sign_in(&server, "sam").await, sign_in(&server, "ana").await);
    let before = std::fs::read(server.folder.path().join("server/members.json")).unwrap();
    for (path, cookie) in [
        ("/sign-out", &analyst),
        ("/account/tokens", &analyst),
        ("/account/tokens/end", &analyst),
        ("/members", &steward),
        ("/members/links", &steward),
        ("/members/remove", &steward),
        ("/data-sets", &steward),
        ("/data-sets/pay/limits", &steward),
        ("/data-sets/pay/grants", &steward),
        ("/data-sets/pay/answer-time", &steward),
        ("/data-sets/pay/sharing", &steward),
        ("/data-sets/pay/programs/allowed", &steward),
        ("/data-sets/pay/ask", &analyst),
        ("/data-sets/pay/sql", &analyst),
        ("/data-sets/pay/programs", &analyst),
        ("/data-sets/pay/watch", &analyst),
        ("/monitors/0123456789abcdef0123456789abcdef", &analyst),
        ("/answers/0123456789abcdef0123456789abcdef/seen", &analyst),
        ("/review/verify", &steward),
        ("/review/restored", &steward),
        ("/review/audit", &steward),
    ] {
        let form = "key=k&name=one&command=sh&output=number&statistic=count&epsilon=1&delta=1e-6&budget_per_unit=1&program=one&role=analyst";
        for headers in [&[][..], &[("origin", "https://evil.example")], &[("sec-fetch-site", "same-site")]] {
            let reply = post(&server, path, cookie, form, headers).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path} {headers:?}: {}", reply.text);
            assert!(reply.text.contains("did not come from a page of this server"), "{path}: {}", reply.text);
        }
    }
    assert_eq!(std::fs::read(server.folder.path().join("server/members.json")).unwrap(), before);
    assert_eq!(server.get("/v1/data-sets/pay", "sam").await.json()["spent"]["epsilon"], "0");
}

/// Every page with every role and with none: those that one may not see are as plain as those that are not there.
#[tokio::test]
async fn every_page_with_every_role() {
    let server = Server::new();
    let mut cookies = vec![String::new()];
    for member in ["sam", "ana", "bob", "rita", "olga"] {
        cookies.push(sign_in(&server, member).await);
    }
    let nobody = "0123456789abcdef0123456789abcdef";
    // Nobody, steward, analyst, analyst without a grant, reviewer, operator.
    for (path, expected) in [
        ("/data-sets", [303, 200, 200, 200, 200, 303]),
        ("/data-sets/pay", [303, 200, 200, 404, 200, 403]),
        ("/data-sets/pay/ask", [303, 200, 200, 404, 403, 403]),
        ("/data-sets/pay/sql", [303, 200, 200, 404, 403, 403]),
        ("/data-sets/pay/programs", [303, 200, 200, 404, 403, 403]),
        ("/data-sets/pay/watch", [303, 200, 200, 404, 403, 403]),
        ("/data-sets/none", [303, 404, 404, 404, 404, 404]),
        ("/monitors", [303, 200, 200, 200, 200, 403]),
        (&format!("/monitors/{nobody}"), [303, 404, 404, 404, 404, 404]),
        (&format!("/answers/{nobody}"), [303, 404, 404, 404, 404, 404]),
        ("/review", [303, 200, 403, 403, 200, 403]),
        ("/members", [303, 200, 403, 403, 403, 200]),
        ("/account", [303, 200, 200, 200, 200, 200]),
        ("/sign-in", [200; 6]),
        ("/nothing", [404; 6]),
    ] {
        for (place, cookie) in cookies.iter().enumerate() {
            let reply = page(&server, path, cookie).await;
            assert_eq!(reply.status.as_u16(), expected[place], "{path} by caller {place}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_session_is_fresh_ends_and_is_none_of_the_other_secrets() {
    let server = Server::new();
    let cookie = sign_in(&server, "ana").await;
    assert!(!cookie.contains("chosen-by-somebody-else"), "no cookie that was there before becomes a session");
    assert_eq!(page(&server, "/data-sets", &cookie).await.status, StatusCode::OK);
    let invitation = server.state.store.issue("ana", Opens::Invitation, "").unwrap();
    for secret in [server.token("ana"), invitation.reveal(), "", "eq_"] {
        let reply = page(&server, "/data-sets", &format!("equipoise={secret}")).await;
        assert_eq!((reply.status, reply.header("location")), (StatusCode::SEE_OTHER, "/sign-in"));
    }
    let session = cookie.trim_start_matches("equipoise=");
    let as_token = server.call(Method::GET, "/v1/me", Some(session), None).await;
    assert_eq!(as_token.status, StatusCode::UNAUTHORIZED, "a cookie is no token");
    // A link signs in once, also for two at once.
    let form = format!("secret={}", invitation.reveal());
    let (one, two) =
        tokio::join!(post(&server, "/sign-in", "", &form, OWN), post(&server, "/sign-in", "", &form, OWN));
    let mut both = [one.status.as_u16(), two.status.as_u16()];
    both.sort_unstable();
    assert_eq!(both, [303, 401]);
    let out = post(&server, "/sign-out", &cookie, "", OWN).await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    assert_eq!(page(&server, "/data-sets", &cookie).await.header("location"), "/sign-in");
    // What is on the disk opens nothing.
    let stored = std::fs::read_to_string(server.folder.path().join("server/members.json")).unwrap();
    assert!(!stored.contains(&server.token("ana")[3..]) && stored.contains("ana"));
}

#[tokio::test]
async fn a_token_makes_no_tokens_and_no_members_by_any_way() {
    let server = Server::new();
    let form = format!("secret={}", server.token("sam"));
    let reply = post(&server, "/sign-in", "", &form, OWN).await;
    let cookie = reply.header("set-cookie").split(';').next().unwrap().to_string();
    for (path, form) in [
        ("/account/tokens", "label=x"),
        ("/members", "name=eve&role=steward"),
        ("/members/remove", "name=bob"),
        ("/members/links", "name=bob"),
    ] {
        assert_eq!(post(&server, path, &cookie, form, OWN).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let cookie = sign_in(&server, "sam").await;
    let made = post(&server, "/members", &cookie, "name=eve&role=reviewer", OWN).await;
    assert!(made.status == StatusCode::OK && made.text.contains("/sign-in/eq_"), "{}", made.text);
    // Who keeps the machine running makes no stewards, and a name comes once.
    let cookie = sign_in(&server, "olga").await;
    assert_eq!(
        post(&server, "/members", &cookie, "name=mallory&role=steward", OWN).await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        post(&server, "/members", &cookie, "name=eve&role=analyst", OWN).await.status,
        StatusCode::CONFLICT
    );
    assert_eq!(
        post(&server, "/members/remove", &cookie, "name=sam", OWN).await.status,
        StatusCode::FORBIDDEN
    );
    assert!(server.state.store.member("mallory").is_none());
}

/// A form brings back the name that its page was given. " ana" came back as "ana", so that removing the one removed the other.
#[tokio::test]
async fn no_name_looks_like_another_by_its_spaces_or_leads_elsewhere() {
    let server = Server::new();
    for role in [Role::Steward, Role::Operator] {
        let caller = Caller { name: "olga".into(), role, shown: Shown::Session };
        for name in [
            " ana",
            "ana ",
            "an  a",
            "an\u{a0}a",
            "an\u{3000}a",
            "\tana",
            " ",
            "",
            ".",
            "..",
            "a/b",
            "demo",
            "operator of the machine",
        ] {
            let said = members::Inviting { name: name.into(), role: Role::Analyst };
            let refused = members::invite(&server.state, &caller, &said).unwrap_err();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name:?}");
            assert!(server.state.store.member(name).is_none(), "{name:?}");
        }
    }
    let cookie = sign_in(&server, "sam").await;
    let made = post(&server, "/members", &cookie, "name=Eve+of+Arden&role=analyst", OWN).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text);
}

#[tokio::test]
async fn whoever_is_removed_is_out_at_once() {
    let server = Server::new();
    let cookie = sign_in(&server, "ana").await;
    let steward = sign_in(&server, "sam").await;
    assert_eq!(
        post(&server, "/members/remove", &steward, "name=ana", OWN).await.status,
        StatusCode::SEE_OTHER
    );
    assert_eq!(page(&server, "/data-sets", &cookie).await.header("location"), "/sign-in");
    assert_eq!(server.get("/v1/me", "ana").await.status, StatusCode::UNAUTHORIZED);
    let last = post(&server, "/members/remove", &steward, "name=sam", OWN).await;
    assert_eq!(last.status, StatusCode::BAD_REQUEST, "the last steward stays");
}

#[tokio::test]
async fn no_path_leads_out_of_the_folder() {
    let server = Server::new();
    let outside = server.folder.path().join("secret.csv");
    std::fs::write(&outside, "a\n1\n").unwrap();
    let data = server.folder.path().join("data");
    std::os::unix::fs::symlink(&outside, data.join("link.csv")).unwrap();
    std::os::unix::fs::symlink(server.folder.path().join("server"), data.join("own")).unwrap();
    for path in [
        "../secret.csv",
        "link.csv",
        outside.to_str().unwrap(),
        "../server/members.json",
        "own/members.json",
        "/etc/passwd",
        "/dev/stdin",
        "-",
        "",
        ".",
        "pay.csv\0",
    ] {
        let reply = server
            .call(Method::PUT, "/v1/data-sets/other", Some("sam"), Some(&json!({ "path": path })))
            .await;
        let inside = path == ".";
        assert!(
            reply.status == StatusCode::BAD_REQUEST || (inside && reply.status == StatusCode::CREATED),
            "{path}: {}",
            reply.text
        );
        assert!(
            !reply.text.contains(server.folder.path().to_str().unwrap()) || inside,
            "{path}: {}",
            reply.text
        );
    }
    for id in ["..", "a%2fb", "%2e%2e", "A", "a b", &"x".repeat(65)] {
        let path = format!("/v1/data-sets/{}", id.replace(' ', "%20"));
        let reply = server.call(Method::PUT, &path, Some("sam"), Some(&json!({ "path": "pay.csv" }))).await;
        assert!(reply.status.is_client_error(), "{id}: {}", reply.status);
    }
    // A link that is put there after the registration leads nowhere either.
    std::fs::remove_file(data.join("pay.csv")).unwrap();
    std::os::unix::fs::symlink(&outside, data.join("pay.csv")).unwrap();
    let plan = json!({ "statistic": "count", "epsilon": 1 });
    let reply = server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&plan)).await;
    assert!(reply.status.is_client_error(), "{} {}", reply.status, reply.text);
}

#[tokio::test]
async fn hostile_names_are_text_on_every_page() {
    let server = Server::new();
    let name = "<img src=x onerror=alert(1)>";
    server.state.store.add_member(name, Role::Analyst).unwrap();
    let analyst = sign_in(&server, "ana").await;
    let question = json!({ "statistic": "count", "column": HOSTILE, "epsilon": "0.1" });
    let id = server.ask("ana", "<b>key</b>", &question).await.json()["id"].as_str().unwrap().to_string();
    assert_eq!(server.release("ana", &id).await.status, StatusCode::OK);
    let steward = sign_in(&server, "sam").await;
    let reviewer = sign_in(&server, "rita").await;
    // A monitor and a program say what was typed, too.
    let hostile = "%22%3E%3Cscript%3E";
    let watching = json!({ "data_set": "pay", "epsilon": "0.1", "delta": "1e-7", "budget_per_unit": 1 });
    let key = [("idempotency-key", "monitor")];
    let begun =
        server.call_with(Method::POST, "/v1/monitors", Some("ana"), Some(&watching), &key).await.json();
    let monitor = begun["id"].as_str().unwrap().to_string();
    let line = json!({ "questions": [{ "where": "salary > 5 or person = '<script>'", "threshold": 10 }] });
    let told = server
        .call(Method::POST, &format!("/v1/monitors/{monitor}/questions"), Some("ana"), Some(&line))
        .await;
    assert!(told.json()["answers"][0]["answer"].is_string(), "{}", told.text);
    let wrong = post(
        &server,
        &format!("/monitors/{monitor}"),
        &analyst,
        "where=%3Cscript%3E&threshold=%3Cimg%20src=x",
        OWN,
    )
    .await;
    assert!(
        wrong.status == StatusCode::OK
            && !wrong.text.contains("<script>")
            && !wrong.text.contains("<img src")
    );
    let asked = "/data-sets/pay/ask?statistic=count&column=%3Cscript%3Ealert('x')%3C%2Fscript%3E&where=%22%3E%3Cscript%3E&epsilon=0.1";
    let mut shown = 0;
    for (path, cookie) in [
        ("/data-sets", &analyst),
        ("/data-sets/pay", &analyst),
        ("/data-sets/pay", &steward),
        ("/data-sets", &steward),
        ("/data-sets/pay/ask", &analyst),
        (asked, &analyst),
        (&format!("/answers/{id}"), &analyst),
        ("/monitors", &reviewer),
        (&format!("/monitors/{monitor}"), &analyst),
        (&format!("/monitors/{monitor}"), &reviewer),
        (&format!("/data-sets/pay/programs?program={hostile}&epsilon={hostile}"), &analyst),
        (&format!("/data-sets/pay/watch?epsilon={hostile}&delta={hostile}"), &analyst),
        ("/review", &reviewer),
        ("/members", &steward),
        ("/account", &analyst),
        ("/sign-in", &analyst),
        ("/nothing/<script>", &analyst),
    ] {
        let path = path.replace('<', "%3C").replace('>', "%3E");
        let reply = page(&server, &path, cookie).await;
        assert!(reply.header("content-type").starts_with("text/html"), "{path}: {}", reply.text);
        for bad in ["<script>", "<img src=x", "<b>key", "onerror=alert(1)>"] {
            assert!(!reply.text.contains(bad), "{path} has {bad}");
        }
        shown +=
            usize::from(reply.text.contains("script&#62;alert") || reply.text.contains("&#60;img src=x"));
        assert!(reply.header("content-security-policy").contains("script-src 'self';"), "{path}");
        assert!(
            !reply.text.contains("http://") && !reply.text.contains("https://"),
            "{path} names another place"
        );
    }
    assert!(shown >= 5, "the names were on {shown} pages only: this looked at nothing");
}

#[tokio::test]
async fn a_body_is_short_and_json_is_said_to_be() {
    let server = Server::new();
    let long = json!({ "statistic": "count", "where": "x".repeat(1 << 20) });
    let reply = server.ask("ana", "long", &long).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    // Whoever is no member has less to say.
    let secret = json!({ "secret": "x".repeat(5000) });
    let reply = server.call(Method::POST, "/v1/sessions", None, Some(&secret)).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    let reply = post(&server, "/sign-in", "", &format!("secret={}", "x".repeat(5000)), OWN).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    let request = Request::builder()
        .method(Method::POST)
        .uri("/v1/data-sets/pay/plans")
        .header(header::AUTHORIZATION, format!("Bearer {}", server.token("ana")))
        .header(header::CONTENT_TYPE, "text/plain")
        .body(Body::from("{\"statistic\":\"count\",\"epsilon\":1}"))
        .unwrap();
    assert_eq!(server.send(request).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let request = Request::builder()
        .method(Method::POST)
        .uri("/v1/data-sets/pay/plans")
        .header(header::AUTHORIZATION, format!("Bearer {}", server.token("ana")))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(deep))
        .unwrap();
    assert_eq!(server.send(request).await.status, StatusCode::BAD_REQUEST);
}

/// Over real sockets: headers or a body that never come end the connection, and others are answered meanwhile.
#[tokio::test]
async fn slow_headers_and_bodies_end_and_hold_nobody_up() {
    let server = Server::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve::serve(listener, None, server.app.clone(), std::future::pending()));
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST /v1/sessions HTTP/1.1\r\nhost: x\r\n").await.unwrap();
        slow.push(stream);
    }
    let mut body = TcpStream::connect(address).await.unwrap();
    body.write_all(b"POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{").await.unwrap();
    let mut quick = TcpStream::connect(address).await.unwrap();
    quick.write_all(b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    quick.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 401 "), "{text}");
    let mut answered = [0; 12];
    tokio::time::timeout(Duration::from_secs(20), body.read_exact(&mut answered)).await.unwrap().unwrap();
    assert_eq!(&answered, b"HTTP/1.1 408");
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), slow[0].read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "a connection that says nothing stays open");
}

#[tokio::test]
async fn events_tell_only_whoever_may_read() {
    let server = Server::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve::serve(listener, None, server.app.clone(), std::future::pending()));
    let store = &server.state.store;
    store.add_member("rolf", Role::Reviewer).unwrap();
    let stolen = store.issue("rolf", Opens::Token, "").unwrap();
    let mut streams = Vec::new();
    for member in ["ana", "bob", "rita", stolen.reveal()] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let token = server.token(member);
        let request = format!("GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    store.end_tokens("rolf").unwrap();
    let id = server.ask("ana", "k", &json!({ "statistic": "count", "epsilon": "0.1" })).await.json()["id"]
        .as_str()
        .unwrap()
        .to_string();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let mut told = Vec::new();
    for stream in &mut streams {
        let mut buffer = vec![0; 65_536];
        let length = stream.read(&mut buffer).await.unwrap();
        let mut text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        if let Ok(Ok(more)) = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut buffer)).await
        {
            text += &String::from_utf8_lossy(&buffer[..more]);
        }
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        told.push(text.contains(&id));
    }
    assert_eq!(told, [true, false, true, false]);
}

/// A link is as good as being that member, and a reviewer reads every answer: an operator makes neither.
#[tokio::test]
async fn an_operator_becomes_nobody_who_is_near_the_data() {
    let server = Server::new();
    let olga = Caller { name: "olga".into(), role: Role::Operator, shown: Shown::Session };
    for name in ["ana", "bob", "rita", "sam", "nobody"] {
        assert!(members::invite_again(&server.state, &olga, name).is_err(), "{name}");
    }
    assert!(members::invite_again(&server.state, &olga, "olga").is_ok());
    let inviting = |name: &str, role| members::Inviting { name: name.into(), role };
    for role in [Role::Reviewer, Role::Steward] {
        assert!(members::invite(&server.state, &olga, &inviting("new", role)).is_err(), "{role:?}");
    }
    assert!(members::invite(&server.state, &olga, &inviting("new", Role::Analyst)).is_ok());
    assert!(members::invite_again(&server.state, &steward(), "ana").is_ok());
}

/// A folder that was registered does not lead out of what the server was given, neither now nor later.
#[tokio::test]
async fn a_link_in_a_folder_leads_nowhere() {
    let server = Server::new();
    let folder = server.folder.path();
    std::fs::create_dir(folder.join("data/sub")).unwrap();
    std::fs::write(folder.join("data/sub/a.csv"), "x\n1\n").unwrap();
    std::fs::write(folder.join("secret.csv"), "x\n2\n").unwrap();
    let said = Registering { path: "sub".into(), answer_time: Some(1), ..Registering::default() };
    data_sets::register(&server.state, &steward(), "sub", &said).unwrap();
    let data = server.state.store.data_set("sub").unwrap();
    assert!(server.state.open_data(&data).is_ok());
    std::os::unix::fs::symlink(folder.join("secret.csv"), folder.join("data/sub/b.csv")).unwrap();
    assert!(server.state.open_data(&data).is_err());
    assert!(data_sets::register(&server.state, &steward(), "other", &said).is_err());
}

/// Signing in again and again ends the oldest sessions of that member alone, and sessions end with the tokens that they came from.
#[tokio::test]
async fn sessions_of_a_member_are_few_and_end_with_their_tokens() {
    let server = Server::new();
    let other = server.state.store.sign_in(server.token("rita")).unwrap().1;
    let sessions: Vec<_> =
        (0..25).map(|_| server.state.store.sign_in(server.token("ana")).unwrap().1).collect();
    let is_open = |secret: &str| server.state.store.by_cookie(secret).is_some();
    let open: Vec<bool> = sessions.iter().map(|session| is_open(session.reveal())).collect();
    assert_eq!(open, [vec![false; 5], vec![true; 20]].concat());
    server.state.store.end_tokens("ana").unwrap();
    assert!(sessions.iter().all(|session| !is_open(session.reveal())) && is_open(other.reveal()));
}

/// Whoever asks much waits alone: places of others stay free.
#[tokio::test]
async fn one_member_does_not_take_all_places() {
    let server = Server::new();
    let own: Vec<_> = (0..4).map(|_| server.state.desk.place("ana").unwrap()).collect();
    assert!(server.state.desk.place("ana").is_err() && server.state.desk.place("bob").is_ok());
    drop(own);
    assert!(server.state.desk.place("ana").is_ok());
    assert!(server.state.first_steward("").is_err() && server.state.first_steward("ana").is_err());
    assert!(server.state.first_steward("sam").is_ok());
}
