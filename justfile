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

# Fuzz one target, such as openapi or hostile_guest, for so many seconds: 3600 is an hour
fuzz TARGET SECONDS="60":
    .ci/fuzz {{SECONDS}} {{TARGET}}

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --release --workspace --all-targets -- -D warnings

# Rebuild the checked-in engine and say whether it changed
guest:
    guest-js/rebuild.sh

# Measure, side by side with what people use instead; the table and the charts go to docs/performance.md
bench *ARGUMENTS: bench-peers
    cargo build --release
    cargo run --release -p agent-spaces-bench -- --json target/bench.json --charts docs/charts --docs docs/performance.md {{ARGUMENTS}}

# Measure, and fail where something got worse than recorded
bench-check: bench-peers
    cargo build --release
    cargo run --release -p agent-spaces-bench -- --json target/bench.json --check bench/recorded.json

# Measure, and record what later runs are checked against
bench-record: (bench "--record" "bench/recorded.json")

# What the benchmark compares with, where there is npm; without it those rows are left out
[private]
bench-peers:
    if command -v npm >/dev/null; then npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund --loglevel=error; fi

# Conformance: give the path of a test262 checkout
test262 CHECKOUT:
    TEST262={{CHECKOUT}} cargo test --release -p agent-spaces-tests --test test262 -- --nocapture
