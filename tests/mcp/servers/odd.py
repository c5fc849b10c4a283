"""A server of a few lines: refuses in JSON-RPC's words, answers as the first protocol did, and may start slowly.

odd.py [SECONDS]: how long it takes to start.
"""

import json
import sys
import time

TOOLS = ["refuse", "no_method", "broken", "old", "old_text", "plain", "slow"]
DATA = {"field": "when", "allowed": ["today", 7, None]}


def called(name):
    if name == "refuse":
        return {"error": {"code": -32602, "message": "no such day", "data": DATA}}
    if name == "no_method":
        return {"error": {"code": -32601, "message": "not here"}}
    if name == "broken":
        return {"error": {"code": -32603, "message": "it broke", "data": "x" * 200_000}}
    if name == "old":
        return {"result": {"toolResult": {"a": [1, None]}}}
    if name == "old_text":
        return {"result": {"toolResult": "[1]"}}
    if name == "slow":
        time.sleep(1)
    return {"result": {"content": [{"type": "text", "text": "done"}]}}


def answer(message):
    method = message["method"]
    if method == "initialize":
        time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
        version = message["params"]["protocolVersion"]
        return {
            "result": {
                "protocolVersion": version if version < "2026" else "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
        }
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}}
    if method == "tools/call":
        return called(message["params"]["name"])
    return {"error": {"code": -32601, "message": "unknown method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True)
