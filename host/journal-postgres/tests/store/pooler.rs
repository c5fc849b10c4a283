//! A pooler in transaction mode, which gives each transaction any connection: fewer than the store asks for.

use crate::cluster::{Cluster, free_port, skip};
use crate::{LEASE, create, entry, open};
use agent_spaces_journal::{Approval, Content, Expected, NewDocument, NewRun, Prune, Signalled, Status, Store, Wake};
use agent_spaces_journal_postgres::Address;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Settings of one that gives each transaction any connection.
pub(crate) const TRANSACTIONS: &str = "pool_mode = transaction\ndefault_pool_size = 3\n";

/// Pooler that ends with the test.
pub(crate) struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a pooler whose connections are a role's, with further settings. Returns its port, too.
pub(crate) async fn start(cluster: &Cluster, role: &str, settings: &str) -> Option<(Pooler, u16)> {
    let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|path| Path::new(path).is_file());
    let Some(program) = program else {
        skip("pgbouncer is not installed: apt-get install pgbouncer");
        return None;
    };
    let (folder, server, port) = (cluster.folder.display(), cluster.port, free_port());
    let text = format!(
        "[databases]\npostgres = host={folder} port={server} user={role}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = any\n{settings}"
    );
    let file = cluster.folder.join(format!("pgbouncer-{port}.ini"));
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(program);
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let pooler = Pooler(cluster.drop_rights(&mut command).spawn().unwrap());
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the pooler does not start");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Some((pooler, port))
}

#[tokio::test]
async fn nothing_depends_on_a_session() {
    let Some(cluster) = Cluster::get() else { return };
    let settings = format!("{TRANSACTIONS}server_reset_query_always = 1\nserver_reset_query = DISCARD ALL\n");
    let Some((_pooler, port)) = start(cluster, "tester", &settings).await else { return };
    let url = format!("postgres://tester@127.0.0.1:{port}/postgres?connections=12&schema=pooled");
    let address = Address::parse(&url).unwrap();
    let (store, other) = (open(&address), open(&address));
    let content = [Content::new(vec![1_u8; 5000]), Content::new(vec![2_u8; 100_000])];
    let mut tickets = Vec::new();
    for number in 0..30 {
        let run = NewRun { content: content.to_vec(), ..crate::new(&format!("run_{number}")) };
        let (claim, created) = store.create(run, store.owner(), vec![]);
        tickets.push(created);
        tickets.extend((0..10).map(|seq| store.append(&claim, seq, vec![entry("x")])));
        let request = Approval { id: format!("apr_{number}"), call: 1, request: "{}".into() };
        tickets.push(store.request_approval(&claim, 10, vec![entry("asks")], request));
        let wake = Wake { at_ms: None, keys: vec!["k".into()] };
        tickets.push(store.park(&claim, 11, vec![], wake));
    }
    for ticket in tickets {
        ticket.await.unwrap();
    }
    for number in 0..30 {
        let id = format!("run_{number}");
        assert_eq!(other.signal(&id, "k").await, Ok(Signalled::Woken));
        let claim = other.claim(&id, other.owner(), LEASE).await.unwrap();
        assert_eq!((claim.epoch, claim.next_seq), (2, 11));
        other.finish(&claim, 11, vec![], Status::Finished, "{}".into()).await.unwrap();
        let new = NewDocument { kind: "k".into(), id, body: "{}".into(), ..NewDocument::default() };
        other.put_document(new, Expected::Absent).await.unwrap();
    }
    let text = store.export("run_7").await.unwrap();
    let policy = Prune { older_than: Some(Duration::ZERO), max_bytes: None, now_ms: i64::MAX };
    assert_eq!(store.prune(policy).await.unwrap().runs, 30);
    store.import(&text).await.unwrap();
    assert_eq!(create(&store, "run_last").await.epoch, 1);
    assert_eq!(store.size().await.unwrap().runs.values().sum::<u64>(), 2);
}
