# The recipes a person types; each is one or two plain commands.

# Everything that CI runs
ci:
    .ci/run

# Build the command
build:
    cargo build --release

# Run every test
test:
    cargo test --release --workspace

# Run the tests of the MCP client alone, supervised processes included
test-mcp:
    cargo test --release -p agent-spaces-mcp

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --release --workspace --all-targets -- -D warnings

# Rebuild the checked-in engine and say whether it changed
guest:
    guest-js/rebuild.sh

# Measure, side by side with bare wasmtime
bench:
    cargo build --release
    cargo run --release -p agent-spaces-bench -- --json target/bench.json

# Conformance: give the path of a test262 checkout
test262 CHECKOUT:
    TEST262={{CHECKOUT}} cargo test --release -p agent-spaces-tests --test test262 -- --nocapture
