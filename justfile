# Recipes for people; each is one or two plain commands.

# Run all checks of CI
ci:
    .ci/run

# Build the command
build:
    cargo build --release

# Run every test
test:
    cargo test --release --workspace

# Run the tests of the MCP client only, supervised processes included
test-mcp:
    cargo test --release -p agent-spaces-mcp

# Fuzz one target, such as openapi or hostile_guest, for SECONDS
fuzz TARGET SECONDS="60":
    .ci/fuzz {{SECONDS}} {{TARGET}}

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --release --workspace --all-targets -- -D warnings

# Rebuild the checked-in engine and report whether it changed
guest:
    guest-js/rebuild.sh

# Rebuild the engine, and write it without charges of fuel to FILE, which the group `metering` compares with if AGENT_SPACES_UNMETERED names it
unmetered FILE:
    AGENT_SPACES_UNMETERED={{FILE}} guest-js/rebuild.sh

# Write the OpenAPI document of the REST API, which the clients are generated from
openapi:
    cargo run --release -p agent-spaces-rest --example openapi > clients/openapi.json

# Run the benchmarks against alternatives; writes docs/performance-table.md and docs/charts
bench *ARGUMENTS: bench-peers
    cargo build --release
    cargo run --release -p agent-spaces-bench -- --json target/bench.json --charts docs/charts --docs docs/performance-table.md {{ARGUMENTS}}

# Run the benchmarks and fail on a regression from bench/recorded.json
bench-check: bench-peers
    cargo build --release
    cargo run --release -p agent-spaces-bench -- --json target/bench.json --check bench/recorded.json

# Run the benchmarks and record the baseline of bench-check
bench-record: (bench "--record" "bench/recorded.json")

# Record the fuel of the workloads anew, which a test compares with
bench-fuel:
    AGENT_SPACES_RECORD_FUEL=1 cargo test --release -p agent-spaces-bench no_workload_takes_more_fuel

# Install the npm peers of the benchmarks; without npm those rows are left out
[private]
bench-peers:
    if command -v npm >/dev/null; then npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund --loglevel=error; fi

# Run test262, from the path of a checkout
test262 CHECKOUT:
    TEST262={{CHECKOUT}} cargo test --release -p agent-spaces-tests --test test262 -- --nocapture

# Run test262 and make its results the baseline and the tables of docs/conformance.md
test262-bless CHECKOUT:
    TEST262_BLESS=1 TEST262={{CHECKOUT}} cargo test --release -p agent-spaces-tests --test test262 -- --nocapture
