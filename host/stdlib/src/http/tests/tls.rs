//! Tests of TLS.

use super::*;
use crate::http::connector;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers connections with a self-signed certificate for `a.test`.
fn start(response: String) -> (u16, CertificateDer<'static>) {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(vec!["a.test".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((LOCAL, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Stream::new(&mut connection, &mut socket);
            // An untrusting client leaves here.
            if stream.read(&mut [0; 4096]).is_ok() {
                let _ = stream.write_all(response.as_bytes());
            }
        }
    });
    (port, cert.der().clone())
}

/// Client that trusts only this certificate.
fn trusting(certificate: &CertificateDer<'_>) -> Client {
    let client = client(policy());
    let certificate = reqwest::Certificate::from_der(certificate).unwrap();
    let builder = connector::builder(&client.policy, &client.names).tls_certs_only([certificate]);
    client.connector.set(builder.build().unwrap()).unwrap();
    client
}

#[tokio::test]
async fn a_self_signed_certificate_is_not_trusted() {
    let (port, certificate) = start("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
    let error = get(&client(policy()), format!("https://a.test:{port}/")).await.unwrap_err();
    assert_error(&error, "call.failed", "The certificate of \"a.test\" is not trusted");
    assert!(!error.retryable);

    let trusting = trusting(&certificate);
    assert_eq!(get(&trusting, format!("https://a.test:{port}/")).await.unwrap()["status"], 200);
    // It is for another name.
    let error = get(&trusting, format!("https://b.test:{port}/")).await.unwrap_err();
    assert_error(&error, "call.failed", "The certificate of \"b.test\" is not trusted");
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let open = Server::start(|_| Reply::ok()).await;
    let location = open.url("a.test", "/");
    let (port, certificate) = start(format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"));
    let error = get(&trusting(&certificate), format!("https://a.test:{port}/")).await.unwrap_err();
    assert_eq!(error.code, "call.denied");
    assert!(error.message.contains("from https: to unencrypted http:"), "{}", error.message);
    assert_eq!(open.requests().len(), 0);
}

#[tokio::test]
async fn a_plain_http_server_is_refused_over_https() {
    let listener = TcpListener::bind((LOCAL, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        let mut heard = Vec::new();
        let _ = socket.read_to_end(&mut heard);
        heard
    });
    let error = get(&client(policy()), format!("https://a.test:{port}/hush")).await.unwrap_err();
    assert_error(&error, "call.failed", "TLS connection to \"a.test\" failed");
    assert!(!server.join().unwrap().windows(4).any(|piece| piece == b"hush"));
}
