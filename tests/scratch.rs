use agent_spaces::*;
#[tokio::test]
async fn scratch() {
    let text = std::fs::read_to_string("/tmp/w/scratch.txt").unwrap();
    let mut parts = text.split("\n====\n");
    let wit = parts.next().unwrap();
    let answers: serde_json::Value = serde_json::from_str(parts.next().unwrap()).unwrap();
    let mut handlers = Handlers::new();
    for (key, value) in answers.as_object().unwrap() {
        let (i, f) = key.rsplit_once('.').unwrap();
        let (i, f) = if f.contains('@') { key.split_once(' ').unwrap() } else { (i, f) };
        let value = value.clone();
        handlers.add(i, f, move |call| { let value = if value == serde_json::json!("echo") { call.params.clone() } else { value.clone() }; async move { Ok(value) } });
    }
    let mut interfaces = Interfaces::new().unwrap();
    if !wit.trim().is_empty() { interfaces.add("a.wit", wit).unwrap(); }
    let space = Space::new(agent_spaces_tests::engine(), interfaces, handlers).unwrap();
    for script in parts {
        match space.prepare("script.ts", script) {
            Ok(p) => { let r = p.run(Default::default()).await; println!("--- {script}\n=> {:?}\n   {:?} {:?}", r.outcome, r.console, r.usage); }
            Err(e) => println!("--- {script}\n=> refused {e:?}"),
        }
    }
}
