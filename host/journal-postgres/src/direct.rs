//! Detection of poolers between a connection and the server.
//!
//! When a connection is made, the process is named that requests to cancel its statements are for. Poolers make up a number,
//! because those requests have to come to them; one that passes on what the server said has, as a rule, a process that is older
//! than the connection. The client does not tell the number, but writes it into such a request; the one that it writes here,
//! nobody gets.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf, duplex};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::{Client, Error, Row};

/// Bytes that fit a request.
const REQUEST: usize = 64;

/// Codes of a request to encrypt, which comes first where the connection is encrypted, and of one to cancel.
const ENCRYPT: i32 = 80_877_103;
const CANCEL: i32 = 80_877_102;

/// True if the process that answers is the one that was named, and was started for this connection. `begun` is a time before
/// the connection was made.
pub(crate) async fn is_direct(client: &Client, begun: Instant) -> Result<bool, Error> {
    let Some(named) = named_process(client).await else { return Ok(false) };
    let row = match client.query_typed_opt(include_str!("sql/process.sql"), &[]).await {
        Ok(row) => row,
        // Something that is not quite Postgres. Without a code, the connection was lost.
        Err(error) if error.code().is_some() => return Ok(false),
        Err(error) => return Err(error),
    };
    let of = |row: &Row| Some((row.try_get::<_, i32>(0).ok()?, row.try_get::<_, f64>(1).ok()?));
    let answers = row.as_ref().and_then(of);
    Ok(answers.is_some_and(|(process, age)| process == named && age <= begun.elapsed().as_secs_f64()))
}

/// Returns the process that was named when the connection was made.
async fn named_process(client: &Client) -> Option<i32> {
    let (near, far) = duplex(REQUEST);
    let token = client.cancel_token();
    let (written, process) = tokio::join!(token.cancel_query_raw(near, Plainly), read_process(far));
    written.ok().and(process)
}

/// Reads a request to cancel, and returns the process in it.
async fn read_process(mut stream: DuplexStream) -> Option<i32> {
    loop {
        let _length = stream.read_i32().await.ok()?;
        match stream.read_i32().await.ok()? {
            ENCRYPT => stream.write_all(b"S").await.ok()?,
            CANCEL => return stream.read_i32().await.ok(),
            _ => return None,
        }
    }
}

/// Leaves a stream as it is where the client would encrypt it.
struct Plainly;

/// Such a stream.
struct Plain(DuplexStream);

impl TlsConnect<DuplexStream> for Plainly {
    type Stream = Plain;
    type Error = io::Error;
    type Future = Ready<io::Result<Plain>>;

    fn connect(self, stream: DuplexStream) -> Self::Future {
        ready(Ok(Plain(stream)))
    }
}

impl TlsStream for Plain {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Plain {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Plain {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{CANCEL, ENCRYPT, read_process};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn the_process_is_read_also_where_the_connection_is_encrypted() {
        for is_encrypted in [false, true] {
            let (mut near, far) = duplex(64);
            let reading = tokio::spawn(read_process(far));
            if is_encrypted {
                near.write_i32(8).await.unwrap();
                near.write_i32(ENCRYPT).await.unwrap();
                assert_eq!(near.read_u8().await.unwrap(), b'S');
            }
            for number in [16, CANCEL, 4711, 1] {
                near.write_i32(number).await.unwrap();
            }
            assert_eq!(reading.await.unwrap(), Some(4711));
        }
    }

    #[tokio::test]
    async fn anything_else_names_no_process() {
        let (mut near, far) = duplex(64);
        let reading = tokio::spawn(read_process(far));
        near.write_all(&[0; 16]).await.unwrap();
        drop(near);
        assert_eq!(reading.await.unwrap(), None);
    }
}
