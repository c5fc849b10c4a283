//! Workspace quotas of presets.

use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use std::fs::File;

const MB: u64 = 1_000_000;

/// A file of so many bytes, which takes no room on the disk.
fn sparse(project: &Project, name: &str, bytes: u64) {
    File::create(project.path(&format!("files/{name}"))).unwrap().set_len(bytes).unwrap();
}

fn refused(outcome: &Value) -> (&str, &str) {
    (outcome["code"].as_str().unwrap_or_default(), outcome["reason"].as_str().unwrap_or_default())
}

const TOO_LARGE: (&str, &str) = ("call.denied", "fileTooLarge");
const FULL: (&str, &str) = ("call.denied", "workspaceFull");

#[test]
fn restrictive_reads_a_megabyte_and_writes_nothing() {
    let project = Project::with_policy(json!("restrictive"));
    sparse(&project, "fits", MB);
    sparse(&project, "large", MB + 1);
    let value = project
        .run(&script(
            "const writes = [() => fs.writeFile('x', ''), () => fs.writeBytes('x', new Uint8Array()),
                () => fs.appendFile('fits', 'x'),
                () => fs.delete('fits'), () => fs.mkdir('x')];
            const outcomes = []; for (const write of writes) outcomes.push((await attempt(write)).message);
            ({ fits: (await fs.readFile('fits')).length, large: await attempt(() => fs.readBytes('large')), outcomes,
               listed: (await fs.list()).length })",
        ))
        .value();
    assert_eq!(value["fits"], MB);
    assert_eq!(refused(&value["large"]), TOO_LARGE);
    assert_eq!(value["outcomes"], json!(vec!["Writing files is not allowed in this space"; 5]));
    assert_eq!(value["listed"], 2);
}

#[test]
fn standard_allows_ten_megabytes_per_file_and_a_hundred_in_total() {
    let project = Project::with_policy(json!("standard"));
    let written = project
        .run(&script(
            "const text = 'x'.repeat(10_000_000);
            [await attempt(() => fs.writeFile('fits', text)), await attempt(() => fs.writeFile('large', text + 'x')),
             await attempt(() => fs.appendFile('fits', 'x'))]",
        ))
        .value();
    assert_eq!(written[0], json!({ "value": null }));
    assert_eq!((refused(&written[1]), refused(&written[2])), (TOO_LARGE, TOO_LARGE));
    (0..8).for_each(|number| sparse(&project, &format!("more-{number}"), 10 * MB));
    sparse(&project, "most", 10 * MB - 10);
    let filled = project
        .run(&script(
            "const write = (size, letter) => attempt(() => fs.writeFile('last', letter.repeat(size)));
            [await write(11, 'x'), await write(10, 'x'),
              await attempt(() => fs.appendFile('last', 'x')), await write(10, 'y'),
              await attempt(() => fs.delete('most')), await attempt(() => fs.appendFile('last', 'x'))]",
        ))
        .value();
    let fine = json!({ "value": null });
    assert_eq!((refused(&filled[0]), refused(&filled[2])), (FULL, FULL), "{filled}");
    assert_eq!([&filled[1], &filled[3], &filled[4], &filled[5]], [&fine; 4], "{filled}");
}

#[test]
fn permissive_allows_a_hundred_megabytes_per_file_and_a_thousand_in_total() {
    let project = Project::with_policy(json!("permissive"));
    sparse(&project, "large", 100 * MB + 1);
    sparse(&project, "grows", 100 * MB - 1);
    (0..7).for_each(|number| sparse(&project, &format!("more-{number}"), 100 * MB));
    sparse(&project, "most", 100 * MB - 10);
    let value = project
        .run(&script(
            "[await attempt(() => fs.readBytes('large')), await attempt(() => fs.appendFile('grows', 'x')),
              await attempt(() => fs.appendFile('grows', 'x')),
              await attempt(() => fs.writeFile('last', 'x'.repeat(10))),
              await attempt(() => fs.writeFile('last', 'x'.repeat(9)))]",
        ))
        .value();
    let fine = json!({ "value": null });
    assert_eq!((refused(&value[0]), refused(&value[2]), refused(&value[3])), (TOO_LARGE, TOO_LARGE, FULL), "{value}");
    assert_eq!((&value[1], &value[4]), (&fine, &fine), "{value}");
}

#[test]
fn settings_of_a_space_override_the_preset() {
    let fs = json!({ "write": true, "maxFileBytes": 4, "maxTotalBytes": 6 });
    let project = Project::with_policy(json!({ "preset": "restrictive", "fs": fs }));
    let value = project
        .run(&script(
            "[await attempt(() => fs.writeFile('a', '1234')), await attempt(() => fs.writeFile('b', '12345')),
              await attempt(() => fs.writeFile('b', '123')), await attempt(() => fs.readFile('a'))]",
        ))
        .value();
    assert_eq!((refused(&value[1]), refused(&value[2])), (TOO_LARGE, FULL));
    assert_eq!((&value[0], &value[3]), (&json!({ "value": null }), &json!({ "value": "1234" })));
    let blind = Project::with_policy(json!({ "fs": { "read": false } }));
    let value = blind.run(&script("await fs.writeFile('a', 'x'); await attempt(() => fs.readFile('a'))")).value();
    assert_eq!(value["message"], "Reading files is not allowed in this space");
}

/// Each has counted the workspace before the other fills it.
#[test]
fn two_processes_share_the_quota() {
    let project = Project::with_policy(json!({ "preset": "standard", "fs": { "maxTotalBytes": 10_000 } }));
    let filling = |own: &str, other: &str| {
        script(&format!(
            "await fs.writeFile('{own}', '');
            while (!await fs.exists('{other}')) await time.sleep(50);
            let written = 0;
            for (let number = 0; number < 30; number++)
                if ((await attempt(() => fs.writeFile(`{own}-${{number}}`, 'x'.repeat(500)))).code === undefined) written += 500;
            written"
        ))
    };
    project.write("one.ts", filling("one", "other"));
    project.write("other.ts", filling("other", "one"));
    let begun = ["one.ts", "other.ts"].map(|file| project.start(&["run", file, "--space", "work", "--json"]));
    let written: u64 = begun.map(|begun| begun.finish().value().as_u64().unwrap()).iter().sum();
    let files = std::fs::read_dir(project.path("files")).unwrap();
    let held: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert_eq!((written, held), (10_000, 10_000));
}
