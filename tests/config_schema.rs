//! Agreement of the published configuration schema with the parser.

#![allow(clippy::unwrap_used)]

use agent_spaces::config::{Format, from_text};
use serde_json::Value;

const SCHEMA: &str = include_str!("../schemas/agent-spaces.config.schema.json");

/// Accepted by both.
const GOOD: &[&str] = &[
    r#"{}"#,
    r#"{"$schema": "https://example.com/schema.json"}"#,
    r#"{"capabilities": {}}"#,
    r#"{"capabilities": {"global": ["@agent-spaces/std", "./capabilities/company-sdk", "../x", "/x", "~/x", "mcp:slack"]}}"#,
    r#"{"capabilities": {"global": [".\\x", "..\\x", "\\\\host\\x", "C:\\x", "c:/x", "${ROOT}/x"]}}"#,
    r#"{"capabilities": {"global": [{"path": "./x.json", "as": "weather", "format": "openapi"}, {"path": "x"}]}}"#,
    r#"{"capabilities": {"registry": {"@company/internal-sdk": "./sdk"}, "mcpServers": {"slack": {"command": "x"}}}}"#,
    r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", ""], "env": {"A": "${A}", "B": ""}, "cwd": "./c"}}}"#,
    r#"{"mcpServers": {"a": {"type": "local", "command": ["node", "x.js"], "enabled": false, "timeout": "10s"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}"}, "tools": "./t.json"}}}"#,
    r#"{"mcpServers": {"a": {"url": "wss://x"}, "b": {"type": "remote", "url": "ws://x"}, "c": {"url": "${URL}"}}}"#,
    r#"{"mcpServers": {"a": {"type": "sse", "url": "http://x"}, "b": {"type": "websocket", "url": "${URL}/x"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "toolFilters": {"allow": [], "deny": ["rm"]}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "scope": "run", "protocol": "session", "elicitation": "defaults"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "connectTimeout": 600, "toolTimeouts": {"t": "30s"}, "progressTimeout": 60}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "maxMessageBytes": 4096, "roots": ["./a"], "env": {"A": ""}, "public": ["A"]}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"command": "x", "transport": "stdio"}}}"#,
    r#"{"mcpServers": {"a": {"serverUrl": "https://x"}, "b": {"httpUrl": "https://x", "type": "http"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "type": "streamable-http"}, "b": {"url": "wss://x", "transport": "ws"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": "none"}, "b": {"url": "https://x", "auth": {"type": "oauth"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "token": "${T}"}, "headers": {"X": ""}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "command": ["op", ""]}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "oauth", "clientId": "a", "clientSecret": "b", "scopes": ["a:b"]}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": "none", "headers": {"authorization": "Bearer ${T}"}}}}"#,
    r#"{"mcpServersFrom": ["claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "./path/to/file.json"]}"#,
    r#"{"accounting": {"file": "./calls.jsonl"}, "defaults": {"toolTimeout": "10s"}}"#,
    r#"{"audit": true}"#,
    r#"{"audit": "required"}"#,
    r#"{"audit": {"mode": "bestEffort", "sync": "always", "rotate": {"bytes": "16MiB", "keep": 4}}}"#,
    r#"{"audit": {"sync": "5s", "perRun": {"bytes": 4096, "lines": "10k"}, "heads": {"file": "/mnt/heads.jsonl"}}}"#,
    r#"{"audit": {"heads": {"command": ["logger", ""], "file": "./h", "every": "5min"}}}"#,
    r#"{"durable": true, "spaces": {"a": {"durable": false}, "b": {"durable": {}}}}"#,
    r#"{"durable": {"parkAfter": "1min", "inDoubt": "reject", "lease": 10, "keepFor": "90d", "maxBytes": "1GiB"}}"#,
    r#"{"durable": {"keepFor": 315360000, "maxBytes": 67108864, "lease": "1h", "inDoubt": "ask"}}"#,
    r#"{"defaults": {}}"#,
    r#"{"confine": true, "defaults": {"confine": "best-effort"}, "mcpServers": {"a": {"command": "x", "confine": false}}}"#,
    r#"{"confine": {"read": ["~/x"], "write": ["./y"], "network": false, "unixSockets": true, "bestEffort": true}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "confine": {"network": {"connect": [443], "bind": [0]}}}}, "confine": {"network": true}}"#,
    r#"{"serve": {}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "scopes": ["deploy"]}, "desk": {"token": {"file": "./t"}, "mayApprove": true}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "spaces": ["a", "b"]}}}, "spaces": {"a": {}, "b": {}}}"#,
    r#"{"serve": {"concurrency": {"rest": 50}, "webhooks": {"allowPrivate": true}}}"#,
    r#"{"serve": {"webhooks": {}}}"#,
    r#"{"serve": {"expose": ["crm.createTicket", "*"]}}"#,
    r#"{"serve": {"concurrency": 4}, "mcp": {"client": {"servers": {"a": {"url": "https://x"}}}, "server": {"enabled": false, "name": "My agent"}}}"#,
    r#"{"serve": {"concurrency": {"code": 1, "proxy": 1000}}, "mcp": {"enabled": true, "client": {"enabled": false, "servers": [{"name": "a", "command": "x"}]}, "server": {"expose_handlers": true}}}"#,
    r#"{"toolboxes": {"dev": {"description": "Tools", "mcpServers": {"a": {"command": "x"}}}}}"#,
    r#"{"spaces": {"my-space": {"description": "", "capabilities": ["mcp:a"], "workspace": "./w"}, "V1.2_b": {}}}"#,
    r#"{"spaces": {"a": {"policy": "permissive", "limits": {"time": 0.5}}}, "policy": {"preset": "standard"}}"#,
    r#"{"policy": {}, "spaces": {"a": {"policy": {"fs": {"write": false}}}}}"#,
    r#"{"policy": {"fs": {"read": true, "write": false, "maxFileBytes": "1MB", "maxTotalBytes": 5}}}"#,
    r#"{"policy": {"http": {"enabled": true, "domains": ["api.example.com", "*.acme.com", "*", "10.0.0.1", "::1"]}}}"#,
    r#"{"policy": {"http": {"blocked": ["evil.acme.com"], "methods": ["GET", "M-SEARCH"], "timeout": "10s"}}}"#,
    r#"{"policy": {"http": {"maxResponseBytes": "5MB", "maxRequestBytes": 1, "domains": []}}}"#,
    r#"{"policy": {"functions": {"*": "deny", "github.*": "approve", "*.delete*": "deny", "g*b.a*b*": "allow", "fs": "deny"}}}"#,
    r#"{"policy": {"functions": {"a.b": {"decision": "allow", "arguments": {"repo": {"matches": "acme/*"}}}}}}"#,
    r#"{"policy": {"functions": {"agent-spaces:std/fs@1.0.0#delete": "deny", "a:b/c": "allow", "a:b-c/d#e-*": "approve", "a:b/c#*": "deny"}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"a": {"address": "*@acme.com"}, "b": {"repository": ["acme/*"]}, "c": {"path": "data/**"}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"to[].x": {"not": ["a/*", "**b"], "optional": true}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"n": {"min": -1.5, "max": 1e2}, "c": {"oneOf": ["a", 1, null]}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"maxPerRun": 5, "maxPerDay": "1k", "scopes": ["triage", "a:b"], "timeout": 20}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"idempotent": true, "cache": "5m", "retries": 2}, "a.c": {"idempotent": false}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"retries": 0, "idempotent": true, "concurrency": 4}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"requiresApproval": true}, "a.c": {"requiresApproval": false, "decision": "allow"}}}}"#,
    r#"{"policy": {"rateLimit": {"requests": 1000, "period": "hour"}, "approvals": {}}}"#,
    r#"{"policy": {"functions": {"a.b": {"rateLimit": {"requests": 1, "period": "second", "wait": "5s"}}}}}"#,
    r#"{"policy": {"approvals": {"expires": "10m", "countsTime": false, "maxPending": 20}}}"#,
    r#"{"limits": {"fuel": "1_000_000_000", "memory": "64MiB", "timeout": "5s", "calls": 0, "inflight": 4}}"#,
    r#"{"limits": {"fuel": 1e9, "memory": 65536, "time": 5, "calls": "10", "resultBytes": "1.5 MB", "consoleBytes": "6k"}}"#,
    r#"{"limits": {"fuel": "500M", "time": "1min 30s", "bytesPerCall": 9007199254740991}}"#,
    r#"{"limits": {"fuel": "1e9", "time": "250ms", "calls": "0", "memory": "67_108_864"}}"#,
    r#"{"codeMode": {}}"#,
    r#"{"codeMode": {"typeCheck": "warn", "typescript": "./node_modules/.bin/tsgo"}}"#,
    r#"{"providers": {}}"#,
    r#"{"providers": {"@capabilities/crm": {"env": ["CRM_KEY"], "public": ["CRM_KEY"], "limits": {"time": "5s"}}}}"#,
    r#"{"providers": {"@a/b": {"env": {"KEY": "${KEY}", "_x1": ""}, "http": {"domains": ["api.example"]}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://a.example": {"headers": {"Authorization": "Bearer ${T}"}}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"http://[::1]:8080": {"query": {"api key": "${T}"}}, "http://a": {}}}}}"#,
];

/// Refused by both.
const BAD: &[&str] = &[
    r#"{"serve": {"concurrency": {"proxy": 1001}}}"#,
    r#"{"mcp": {"client": {"servers": [{"command": "x"}]}}}"#,
    r#"{"mcp": {"client": {"servers": [{"name": "a", "comand": "x"}]}}}"#,
    r#"{"mcp": {"server": {"exposeHandlers": true, "expose_handlers": true}}}"#,
    r#"{"audit": "yes"}"#,
    r#"{"audit": null}"#,
    r#"{"audit": {"mode": true}}"#,
    r#"{"audit": {"sync": 0}}"#,
    r#"{"audit": {"rotate": {"bytes": 10}}}"#,
    r#"{"audit": {"rotate": {"keep": 0}}}"#,
    r#"{"audit": {"perRun": {"bytes": 100}}}"#,
    r#"{"audit": {"heads": {}}}"#,
    r#"{"audit": {"heads": {"command": []}}}"#,
    r#"{"audit": {"heads": {"command": [""]}}}"#,
    r#"{"audit": {"heads": {"url": "https://x"}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": "secret-in-the-file"}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T", "file": "./t"}}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "${T}"}}}}}"#,
    r#"{"serve": {"callers": {"ci": {}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "mayApprove": "yes"}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "spaces": []}}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "spaces": ["a", "a"]}}}, "spaces": {"a": {}}}"#,
    r#"{"serve": {"callers": {"ci": {"token": {"env": "T"}, "spaces": "a"}}}, "spaces": {"a": {}}}"#,
    r#"{"serve": {"concurrency": {"rest": 0}}}"#,
    r#"{"serve": {"webhooks": {"allowPrivate": "yes"}}}"#,
    r#"{"serve": {"webhooks": {"private": true}}}"#,
    r#"{"serve": {"expose": [""]}}"#,
    r#"{"confine": "yes"}"#,
    r#"{"confine": null}"#,
    r#"{"confine": {"read": [""]}}"#,
    r#"{"confine": {"execute": []}}"#,
    r#"{"confine": {"network": {"connect": [0]}}}"#,
    r#"{"confine": {"network": {"bind": [65536]}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "confine": true}}}"#,
    r#"[]"#,
    r#"null"#,
    r#"{"capabilites": {}}"#,
    r#"{"$schema": 1}"#,
    r#"{"codeMode": {"typecheck": "warn"}}"#,
    r#"{"codeMode": {"typeCheck": true}}"#,
    r#"{"codeMode": {"typeCheck": "on"}}"#,
    r#"{"codeMode": {"typescript": ""}}"#,
    r#"{"capabilities": []}"#,
    r#"{"capabilities": {"global": "mcp:a"}}"#,
    r#"{"capabilities": {"global": ["weather"]}}"#,
    r#"{"capabilities": {"global": ["mcp:"]}}"#,
    r#"{"capabilities": {"global": ["mcp:a b"]}}"#,
    r#"{"capabilities": {"global": ["@company"]}}"#,
    r#"{"capabilities": {"global": ["@a/b/c"]}}"#,
    r#"{"capabilities": {"global": ["https://x/openapi.json"]}}"#,
    r#"{"capabilities": {"global": ["C:x"]}}"#,
    r#"{"capabilities": {"global": [""]}}"#,
    r#"{"capabilities": {"global": [null]}}"#,
    r#"{"capabilities": {"global": [{"as": "x"}]}}"#,
    r#"{"capabilities": {"global": [{"path": ""}]}}"#,
    r#"{"capabilities": {"global": [{"path": "x", "as": "a b"}]}}"#,
    r#"{"capabilities": {"global": [{"path": "x", "format": "soap"}]}}"#,
    r#"{"capabilities": {"global": ["mcp:a", "mcp:a"]}}"#,
    r#"{"capabilities": {"registry": {"sdk": "./x"}}}"#,
    r#"{"capabilities": {"registry": {"@agent-spaces/std": "./x"}}}"#,
    r#"{"capabilities": {"registry": {"@a/b": ""}}}"#,
    r#"{"mcpServers": {"a": {}}}"#,
    r#"{"mcpServers": {"a b": {"command": "x"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "url": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "headers": {}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "env": {}}}}"#,
    r#"{"mcpServers": {"a": {"type": "http", "command": "x"}}}"#,
    r#"{"mcpServers": {"a": {"type": "local", "url": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"type": "websocket", "url": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"type": "sse", "url": "wss://x"}}}"#,
    r#"{"mcpServers": {"a": {"type": "pipe", "command": "x"}}}"#,
    r#"{"mcpServers": {"a": {"command": ""}}}"#,
    r#"{"mcpServers": {"a": {"command": []}}}"#,
    r#"{"mcpServers": {"a": {"command": ["", "x"]}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "args": "-y"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "env": {"A=B": ""}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "env": {"": ""}}}}"#,
    r#"{"mcpServers": {"a": {"url": "ftp://x"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x y"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "headers": {"A": "b\r\nC: d"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "headers": {"A b": "c"}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "enabled": "yes"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "timeout": 0}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "toolFilters": {"allow": [""]}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "toolFilters": {"only": []}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "scope": "world"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "protocol": "2025"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "elicitation": true}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "connectTimeout": 601}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "toolTimeouts": {"": 1}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "toolTimeouts": {"t": 0}}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "progressTimeout": "soon"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "maxMessageBytes": 4095}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "maxMessageBytes": 1073741825}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "roots": [""]}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "env": {"A": ""}, "public": ["A", "A"]}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "enabled": true, "disabled": false}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "type": "stdio", "transport": "stdio"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "transport": "http"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "serverUrl": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "serverUrl": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "httpUrl": "https://x"}}}"#,
    r#"{"mcpServers": {"a": {"httpUrl": "https://x", "type": "sse"}}}"#,
    r#"{"mcpServers": {"a": {"httpUrl": "https://x", "transport": "ws"}}}"#,
    r#"{"mcpServers": {"a": {"httpUrl": "wss://x"}}}"#,
    r#"{"mcpServers": {"a": {"serverUrl": "wss://x", "transport": "streamableHttp"}}}"#,
    r#"{"mcpServers": {"a": {"serverUrl": "https://x", "type": "ws"}}}"#,
    r#"{"mcpServers": {"a": {"command": "x", "auth": "none"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": "bearer"}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "token": "a b"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "token": "a", "env": "A"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "env": "${A}"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "bearer", "command": "op read"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "oauth", "token": "a"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "oauth", "clientSecret": "a"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "oauth", "scopes": ["a b"]}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "none", "token": "a"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": "oauth", "headers": {"Authorization": "x"}}}}"#,
    r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "oauth"}, "headers": {"authorization": "x"}}}}"#,
    r#"{"mcpServersFrom": "cursor"}"#,
    r#"{"mcpServersFrom": ["emacs"]}"#,
    r#"{"mcpServersFrom": ["file.json"]}"#,
    r#"{"mcpServersFrom": ["cursor", "cursor"]}"#,
    r#"{"durable": "yes"}"#,
    r#"{"durable": null}"#,
    r#"{"durable": {"enabled": true}}"#,
    r#"{"durable": {"parkAfter": 0}}"#,
    r#"{"durable": {"inDoubt": "guess"}}"#,
    r#"{"durable": {"lease": 0.5}}"#,
    r#"{"durable": {"lease": 3601}}"#,
    r#"{"durable": {"keepFor": 315360001}}"#,
    r#"{"durable": {"maxBytes": 1048576}}"#,
    r#"{"spaces": {"a": {"durable": 1}}}"#,
    r#"{"accounting": {}}"#,
    r#"{"accounting": {"file": ""}}"#,
    r#"{"accounting": "./calls.jsonl"}"#,
    r#"{"defaults": {"toolTimeout": 0}}"#,
    r#"{"defaults": {"llmTimeout": 1}}"#,
    r#"{"toolboxes": {"a": {"mcpServers": {}}}}"#,
    r#"{"toolboxes": {"a": {"description": "x"}}}"#,
    r#"{"toolboxes": {"": {"description": "x", "mcpServers": {}}}}"#,
    r#"{"spaces": {"../x": {}}}"#,
    r#"{"spaces": {"a": null}}"#,
    r#"{"spaces": {"a": {"workspace": ""}}}"#,
    r#"{"spaces": {"a": {"fuel": 1}}}"#,
    r#"{"limits": {"fule": 1}}"#,
    r#"{"limits": {"fuel": 0}}"#,
    r#"{"limits": {"fuel": 1.5}}"#,
    r#"{"limits": {"fuel": -1}}"#,
    r#"{"limits": {"fuel": "lots"}}"#,
    r#"{"limits": {"fuel": 1e30}}"#,
    r#"{"limits": {"memory": "64 apples"}}"#,
    r#"{"limits": {"memory": null}}"#,
    r#"{"limits": {"time": "soon"}}"#,
    r#"{"limits": {"time": -5}}"#,
    r#"{"limits": {"time": 99999999}}"#,
    r#"{"limits": {"time": 5, "timeout": 5}}"#,
    r#"{"limits": {"inflight": 0}}"#,
    r#"{"policy": "permisive"}"#,
    r#"{"policy": null}"#,
    r#"{"policy": {"preset": "standard", "rules": []}}"#,
    r#"{"policy": {"fs": true}}"#,
    r#"{"policy": {"fs": {"write": "no"}}}"#,
    r#"{"policy": {"fs": {"maxFileBytes": 0}}}"#,
    r#"{"policy": {"http": {"domains": "a.com"}}}"#,
    r#"{"policy": {"http": {"domains": ["https://a.com"]}}}"#,
    r#"{"policy": {"http": {"domains": ["a.*.com"]}}}"#,
    r#"{"policy": {"http": {"domains": [""]}}}"#,
    r#"{"policy": {"http": {"methods": ["get"]}}}"#,
    r#"{"policy": {"http": {"methods": [""]}}}"#,
    r#"{"policy": {"http": {"timeout": 0}}}"#,
    r#"{"policy": {"functions": []}}"#,
    r#"{"policy": {"functions": {"git*": "deny"}}}"#,
    r#"{"policy": {"functions": {"a.b.c": "deny"}}}"#,
    r#"{"policy": {"functions": {"a.**": "deny"}}}"#,
    r#"{"policy": {"functions": {"my-server.b": "deny"}}}"#,
    r#"{"policy": {"functions": {"mcp:a": "deny"}}}"#,
    r#"{"policy": {"functions": {"a:b/c#": "deny"}}}"#,
    r#"{"policy": {"functions": {"a:b/*": "deny"}}}"#,
    r#"{"policy": {"functions": {"a:b/c#**": "deny"}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"a": {"address": []}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"a": {"adress": "*@acme.com"}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": "denied"}}}"#,
    r#"{"policy": {"functions": {"a.b": true}}}"#,
    r#"{"policy": {"functions": {"a.b": {}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"requiresApproval": true, "decision": "deny"}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"requiresApproval": true, "decision": "allow"}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"requiresApproval": false, "decision": "approve"}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"cache": "5m"}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"retries": 1, "idempotent": false}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"retries": 11, "idempotent": true}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"maxPerRun": 0}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"concurrency": 0}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"scopes": ["a b"]}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"scopes": "a"}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": "acme/*"}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"optional": true}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"matches": []}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"matches": ""}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"matches": "a\\b"}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"not": 1}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"oneOf": []}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"repo": {"oneOf": [["a"]]}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"n": {"max": "100"}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"a[0]": {"max": 1}}}}}}"#,
    r#"{"policy": {"functions": {"a.b": {"arguments": {"": {"max": 1}}}}}}"#,
    r#"{"policy": {"rateLimit": {"requests": 0, "period": "hour"}}}"#,
    r#"{"policy": {"rateLimit": {"requests": 1}}}"#,
    r#"{"policy": {"rateLimit": {"requests": 1, "period": "week"}}}"#,
    r#"{"policy": {"rateLimit": {"requests": 1, "period": "hour", "wait": 0}}}"#,
    r#"{"policy": {"approvals": {"maxPending": 21}}}"#,
    r#"{"policy": {"approvals": {"expires": 0}}}"#,
    r#"{"providers": []}"#,
    r#"{"providers": {"crm": {}}}"#,
    r#"{"providers": {"@a/b": {"origns": {}}}}"#,
    r#"{"providers": {"@a/b": {"env": ["1X"]}}}"#,
    r#"{"providers": {"@a/b": {"env": {"A=B": "x"}}}}"#,
    r#"{"providers": {"@a/b": {"env": {"A": 1}}}}"#,
    r#"{"providers": {"@a/b": {"public": ["A B"]}}}"#,
    r#"{"providers": {"@a/b": {"http": {"domain": []}}}}"#,
    r#"{"providers": {"@a/b": {"limits": {"time": 0}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://a.example/": {}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://A.example": {}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://user@a.example": {}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"file:///x": {}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://a.example": {"cookies": {}}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://a.example": {"headers": {"": "x"}}}}}}"#,
    r#"{"providers": {"@a/b": {"origins": {"https://a.example": {"headers": {"A": 1}}}}}}"#,
];

/// Accepted by the schema and refused by the parser, each for a reason that no schema can state.
const REFUSED_BY_THE_PARSER_ALONE: &[(&str, &str)] = &[
    ("a key written twice is gone before a schema looks", r#"{"policy": "standard", "policy": "permissive"}"#),
    (
        "one name in two objects",
        r#"{"mcpServers": {"a": {"command": "x"}}, "capabilities": {"mcpServers": {"a": {"command": "x"}}}}"#,
    ),
    ("two spellings of one entry", r#"{"capabilities": {"global": ["./x", {"path": "./x"}]}}"#),
    ("two spellings of one header", r#"{"mcpServers": {"a": {"url": "https://x", "headers": {"A": "", "a": ""}}}}"#),
    (
        "a shorter time than another setting",
        r#"{"mcpServers": {"a": {"command": "x", "timeout": 2, "progressTimeout": 1}}}"#,
    ),
    ("a name that is another setting's", r#"{"mcpServers": {"a": {"command": "x", "public": ["A"]}}}"#),
    ("a time too long, with its unit", r#"{"mcpServers": {"a": {"command": "x", "connectTimeout": "11min"}}}"#),
    ("a size too small, with its unit", r#"{"mcpServers": {"a": {"command": "x", "maxMessageBytes": "1KiB"}}}"#),
    ("a unit of the right shape that does not exist", r#"{"limits": {"time": "5 parsecs"}}"#),
    ("a lease too short, with its unit", r#"{"durable": {"lease": "100ms"}}"#),
    ("an amount of nothing, with its unit", r#"{"limits": {"memory": "0MiB"}}"#),
    ("an amount too large, with its unit", r#"{"limits": {"memory": "99EiB"}}"#),
    ("a host with a port, which an address of IPv6 looks like", r#"{"policy": {"http": {"domains": ["a.com:443"]}}}"#),
    ("a host that is none", r#"{"policy": {"http": {"domains": ["a..com"]}}}"#),
    ("a pattern that no text fits", r#"{"policy": {"functions": {"a.b": {"arguments": {"x": {"matches": "a//b"}}}}}}"#),
    (
        "a largest number below the smallest",
        r#"{"policy": {"functions": {"a.b": {"arguments": {"x": {"min": 2, "max": 1}}}}}}"#,
    ),
    ("a count too large, as text", r#"{"policy": {"approvals": {"maxPending": "21"}}}"#),
    ("a port that goes without saying", r#"{"providers": {"@a/b": {"origins": {"https://a.example:443": {}}}}}"#),
    ("NUL is refused in every text", r#"{"mcpServers": {"a": {"command": "x\u0000"}}}"#),
];

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema).unwrap()
}

fn verdicts(validator: &jsonschema::Validator, text: &str) -> (Result<(), String>, Result<(), String>) {
    let value: Value = serde_json::from_str(text).unwrap();
    let schema = validator.validate(&value).map_err(|error| error.to_string());
    let parser = from_text("f", text, Format::Json).map(drop).map_err(|error| error.to_string());
    (schema, parser)
}

#[test]
fn valid_configurations_pass_both() {
    let validator = schema();
    for text in GOOD {
        assert_eq!(verdicts(&validator, text), (Ok(()), Ok(())), "{text}");
    }
}

#[test]
fn invalid_configurations_pass_neither() {
    let validator = schema();
    for text in BAD {
        let (schema, parser) = verdicts(&validator, text);
        assert!(schema.is_err(), "the schema accepts {text}");
        assert!(parser.is_err(), "the parser accepts {text}");
    }
}

#[test]
fn only_the_parser_refuses_what_a_schema_cannot_express() {
    let validator = schema();
    for (reason, text) in REFUSED_BY_THE_PARSER_ALONE {
        let (schema, parser) = verdicts(&validator, text);
        assert_eq!(schema, Ok(()), "no longer a difference: {reason}");
        assert!(parser.is_err(), "{reason}: {text}");
    }
}

#[test]
fn every_setting_of_the_schema_has_a_description() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let (mut rest, mut described) = (vec![&schema], 0);
    while let Some(node) = rest.pop() {
        rest.extend(node.as_array().into_iter().flatten());
        // Narrowing keywords repeat settings that are described elsewhere.
        let narrowing = |key: &str| matches!(key, "oneOf" | "allOf" | "not");
        let members = node.as_object().into_iter().flatten().filter(|(key, _)| !narrowing(key));
        for (key, member) in members {
            rest.push(member);
            if key == "properties" {
                for (name, setting) in member.as_object().into_iter().flatten() {
                    let text = setting.get("description").or(setting.get("$ref"));
                    assert!(text.is_some(), "{name} has no description: {setting}");
                    described += 1;
                }
            }
        }
    }
    assert!(described > 40, "only {described} settings were found");
}
