"""Checks of a client: each prints one line."""

import os
import sys
import traceback

CLIENT = os.environ["CLIENT"]
SERVER = os.environ["SERVER"]
TOKEN = os.environ["TOKEN"]
# Tokens of every answer of the scripted model.
INPUT_TOKENS = 100
OUTPUT_TOKENS = 10
# Parameters of a tool of the caller.
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}

_failed = []


def passed(name, seen):
    print(f"PASS {CLIENT}: {name}: {' '.join(str(seen).split())[:200]}")


def failed(name):
    text = traceback.format_exc().strip().replace("\n", "\n     ")
    print(f"FAIL {CLIENT}: {name}: {text[-3000:]}")
    _failed.append(name)


def check(name):
    """Runs the function below at once; it returns what it saw."""

    def run(body):
        try:
            passed(name, body())
        except Exception:
            failed(name)

    return run


def raises(kind, body):
    """Returns the error of this kind that the function raises."""
    try:
        body()
    except kind as error:
        return error
    raise AssertionError(f"it was answered, without {kind.__name__}")


def end():
    sys.exit(1 if _failed else 0)
