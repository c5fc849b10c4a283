//! Search over a small set of functions.

use agent_spaces_search::{Document, Hit, Index, IndexError, MAX_DOCUMENTS, Parameter};

fn document(server: &str, name: &str, description: &str, parameters: &[&str]) -> Document {
    let parameter = |name: &&str| Parameter { name: (*name).to_owned(), description: String::new() };
    Document {
        server: server.into(),
        name: name.into(),
        description: description.into(),
        parameters: parameters.iter().map(parameter).collect(),
        ..Document::default()
    }
}

fn functions() -> Vec<Document> {
    vec![
        document(
            "travel",
            "search_flights",
            "Finds connections by plane between two airports.",
            &["departureDate", "from", "to"],
        ),
        document("travel", "bookHotel", "Reserves a room in a hotel.", &["city", "nights"]),
        document("files", "create_directory", "Creates a new directory, with all above it.", &["path"]),
        document("files", "delete-file", "Removes a file for good.", &["path"]),
        document("weather", "getForecast", "Gets the weather forecast of a place.", &["latitude", "longitude"]),
        document("chat", "postMessage", "Posts a message to a channel.", &["channel", "text"]),
        document("shop", "refundPayment", "Refunds what a customer paid for an order.", &["orderId"]),
        document("code", "create_repository", "Creates a repository for source code.", &["name", "isPrivate"]),
        document("code", "createIssue", "Opens an issue in a repository.", &["title", "body"]),
        document("music", "addToPlaylist", "Adds a song to a playlist.", &["song", "playlist"]),
    ]
}

fn first(query: &str) -> String {
    let functions = functions();
    let hits = Index::build(&functions).unwrap().search(query, 3, |_| true);
    hits.first().map(|hit| functions[hit.document].name.clone()).unwrap_or_default()
}

#[test]
fn functions_are_found_by_their_own_words() {
    assert_eq!(first("search flights"), "search_flights");
    assert_eq!(first("searchFlights"), "search_flights");
    assert_eq!(first("create an issue"), "createIssue");
    assert_eq!(first("creating repositories"), "create_repository");
    assert_eq!(first("longitude"), "getForecast");
}

#[test]
fn functions_are_found_by_similar_words() {
    assert_eq!(first("will it rain tomorrow"), "getForecast");
    assert_eq!(first("make a subfolder"), "create_directory");
    assert_eq!(first("give the buyer their money back"), "refundPayment");
    assert_eq!(first("find the flights that leave on Monday"), "search_flights");
    assert_eq!(first("erase a document"), "delete-file");
}

#[test]
fn functions_are_found_despite_typos() {
    assert_eq!(first("creat a repositry"), "create_repository");
    assert_eq!(first("serch flihgts"), "search_flights");
    assert_eq!(first("wether forcast"), "getForecast");
}

#[test]
fn accents_and_case_are_ignored() {
    assert_eq!(first("CRÉATE DIRÉCTORY"), "create_directory");
}

#[test]
fn a_query_without_words_finds_nothing() {
    let index = Index::build(&functions()).unwrap();
    for query in ["", "   ", "?!", "\u{0}\u{301}"] {
        assert_eq!(index.search(query, 5, |_| true), [], "{query:?}");
    }
    assert_eq!(index.search("flights", 0, |_| true), []);
    assert_eq!(Index::build(&[]).unwrap().search("flights", 5, |_| true), []);
}

#[test]
fn an_unrelated_query_finds_nothing() {
    let index = Index::build(&functions()).unwrap();
    for query in
        ["bake a chocolate cake", "knit a wool sweater", "water my tomato plants", "what is love", "polish my shoes"]
    {
        assert_eq!(index.search(query, 5, |_| true), [], "{query:?}");
    }
    // A query with the name of a server finds its functions, whatever else it says.
    let many: Vec<Document> = (0..5).map(|at| document("pantry", &format!("item{at}"), "Counts jars.", &[])).collect();
    let index = Index::build(&many).unwrap();
    assert_eq!(index.search("bake a chocolate cake", 5, |_| true), []);
    assert_eq!(index.search("tighten the bicycle chain with pantry", 5, |_| true).len(), 5);
}

#[test]
fn endless_queries_are_truncated() {
    let index = Index::build(&functions()).unwrap();
    let long = "flights ".repeat(1_000_000);
    assert_eq!(index.search(&long, 1, |_| true), index.search("flights", 1, |_| true));
    let different: String = (0..200_000).map(|at| format!("w{at} ")).collect();
    assert!(index.search(&different, 5, |_| true).len() <= 5);
}

#[test]
fn ties_keep_the_order_of_documents() {
    let same = vec![document("a", "send", "Sends a letter.", &[]); 50];
    let hits = Index::build(&same).unwrap().search("send a letter", 50, |_| true);
    assert_eq!(hits.iter().map(|hit| hit.document).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
}

#[test]
fn invisible_documents_do_not_affect_results() {
    let all = functions();
    let whole = Index::build(&all).unwrap();
    for hidden in 0..all.len() {
        let left: Vec<usize> = (0..all.len()).filter(|at| *at != hidden).collect();
        let without = Index::build(&left.iter().map(|at| all[*at].clone()).collect::<Vec<_>>()).unwrap();
        for query in ["create a repositry", "find flights", "weather", "songs of a playlist", "delete"] {
            let seen = whole.search(query, 20, |document| document != hidden);
            let alone = without.search(query, 20, |_| true);
            let alone: Vec<Hit> = alone.iter().map(|hit| Hit { document: left[hit.document], ..*hit }).collect();
            assert_eq!(seen, alone, "{query} without {}", all[hidden].name);
        }
    }
    assert_eq!(whole.search("flights", 5, |_| false), []);
}

#[test]
fn too_many_documents_are_refused() {
    let many = vec![Document::default(); MAX_DOCUMENTS + 1];
    assert_eq!(Index::build(&many).err(), Some(IndexError::TooManyDocuments));
}
