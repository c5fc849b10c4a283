use super::*;

/// Sends raw bytes to the callback and returns the response.
async fn visit(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
}

#[tokio::test]
async fn only_the_response_with_the_right_state_is_taken() {
    let callback = Callback::bind().await.unwrap();
    let address = callback.address;
    let visitors = tokio::spawn(async move {
        let mut answers = Vec::new();
        for request in [
            get("/"),
            get("/callback/more?state=right&code=1"),
            "POST /callback?state=right&code=1 HTTP/1.1\r\n\r\n".to_owned(),
            "nonsense\r\n\r\n".to_owned(),
            get("http://example.com/callback?state=right&code=1"),
            get("/callback"),
            get("/callback?state=wrong&code=stolen"),
            get("/callback?state=right"),
            get("/callback?state=right&code=the%20code&iss=https%3A%2F%2Fas"),
        ] {
            answers.push(visit(address, &request).await);
        }
        answers
    });
    let answer = timeout(VISIT, callback.answer("right")).await.unwrap();
    assert_eq!(answer.result, Ok("the code".to_owned()));
    assert_eq!(answer.issuer.as_deref(), Some("https://as"));
    answer.page.show("Logged in", "<script>alert('&')</script>").await;
    let answers = visitors.await.unwrap();
    let statuses: Vec<&str> = answers.iter().map(|answer| &answer[9..12]).collect();
    assert_eq!(statuses, ["404", "404", "404", "404", "404", "400", "400", "400", "200"]);
    let page = answers.last().unwrap();
    assert!(page.contains("<p>&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</p>"), "{page}");
    assert!(page.contains("Content-Security-Policy: default-src 'none'"), "{page}");
}

#[tokio::test]
async fn idle_connections_do_not_block_the_browser() {
    let callback = Callback::bind().await.unwrap();
    let address = callback.address;
    let mut silent = Vec::new();
    for _ in 0..MAX_VISITORS - 1 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let visitor = tokio::spawn(async move { visit(address, &get("/callback?state=s&error=access_denied")).await });
    let answer = timeout(VISIT / 2, callback.answer("s")).await.unwrap();
    assert_eq!(answer.result, Err("access_denied".to_owned()));
    answer.page.show("Not logged in", "").await;
    assert!(visitor.await.unwrap().starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn an_endless_request_is_cut_off() {
    let callback = Callback::bind().await.unwrap();
    let address = callback.address;
    let visitor = tokio::spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut sent = 0;
        while sent < 100 << 20 {
            match stream.write(&[b'x'; 4096]).await {
                Ok(count) => sent += count,
                Err(_) => return sent,
            }
        }
        sent
    });
    assert!(timeout(VISIT / 2, callback.answer("s")).await.is_err(), "there was no answer");
    let sent = visitor.await.unwrap();
    assert!(sent < 100 << 20, "{sent} bytes were taken");
}
