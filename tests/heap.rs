//! Heap of the engine: blocks keep their contents while others are freed, grown or shrunk.

use agent_spaces_tests::{empty_space, value};
use serde_json::json;

/// Every block holds bytes of its own, around the sizes at which blocks are cut in another way.
#[tokio::test]
async fn blocks_of_every_size_keep_their_contents() {
    let script = "
        const blocks = [];
        let damaged = 0;
        const fill = (block, mark) => block.fill(mark);
        const isWhole = ({ bytes, mark }) => bytes.every(byte => byte === mark);
        for (let round = 0; round < 3; round++) {
            for (let size = 0; size < 2200; size += round + 1) {
                const mark = (size * 31 + round) & 255;
                blocks.push({ bytes: fill(new Uint8Array(size), mark), mark });
                if (size % 3 === 0) {
                    const [old] = blocks.splice(size % blocks.length, 1);
                    if (!isWhole(old)) damaged++;
                }
            }
        }
        for (const block of blocks) if (!isWhole(block)) damaged++;
        export default { damaged, kept: blocks.length > 1000 };";
    assert_eq!(value(&empty_space(), script).await, json!({ "damaged": 0, "kept": true }));
}

/// A list that grows and shrinks moves from block to block, over the border of the large ones and back.
#[tokio::test]
async fn resized_blocks_keep_their_contents() {
    let script = "
        const lists = Array.from({ length: 40 }, () => []);
        let text = '';
        for (let i = 0; i < 30000; i++) {
            lists[i % lists.length].push(i);
            if (i % 100 === 0) text += String.fromCharCode(97 + (i / 100) % 26);
            if (i % 7 === 0) lists[(i * 13) % lists.length].length >>= 1;
        }
        const isRight = lists.every((list, at) => list.every((number, i) => number % 40 === at && (i === 0 || list[i - 1] < number)));
        export default [isRight, text.length, text.slice(24, 30)];";
    assert_eq!(value(&empty_space(), script).await, json!([true, 300, "yzabcd"]));
}

/// Freed memory is reused within the run: changing sizes need no more memory.
#[tokio::test]
async fn freed_memory_is_reused() {
    let script = "
        let last;
        for (let i = 0; i < 200000; i++) last = { at: i, text: 'x'.repeat(i % 900), list: [i, i + 1] };
        export default last.at;";
    let space = empty_space();
    let program = space.prepare("script.ts", script).unwrap();
    let report = program.run(Default::default()).await;
    assert_eq!(report.outcome.unwrap(), json!(199_999));
    assert!(report.usage.memory_bytes < 16 << 20, "{} bytes", report.usage.memory_bytes);
}
