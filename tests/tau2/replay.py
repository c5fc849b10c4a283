"""Replays the gold actions of tau2 through agents: as calls of tools, and as programs.

    AGENT_SPACES_BINARY=… python tests/tau2/replay.py [--domain retail] [--tasks 0,1,46 | --first 5] [--json FILE]

For each task the log of calls, the database and the results that the model read must be those of the gold actions,
executed directly against another instance of the server; turns and tokens must be those that the model counted. Prints
a table. Exit status: 1 if anything differs.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmark import DOMAINS, Domain, GoldServer
from project import Project
from scripted_model import SCRIPTS, ScriptedModel, whole


def main():
    options = parse()
    binary = os.environ.get("AGENT_SPACES_BINARY")
    if not binary:
        sys.exit("AGENT_SPACES_BINARY is not set: set it to the path of the command")
    runs = []
    model = ScriptedModel()
    for name in options.domain or DOMAINS:
        domain = Domain(name)
        with tempfile.TemporaryDirectory() as folder:
            project = Project(Path(folder) / "project", os.path.abspath(binary), domain, model.url)
            gold = GoldServer(domain, Path(folder) / "gold")
            for task in chosen(domain, options):
                results, state = gold.execute(task)
                for script in SCRIPTS:
                    runs.append(replay(project, model, task, script, results, state))
            gold.close()
    model.close()
    if options.json:
        Path(options.json).write_text(json.dumps(runs, indent=1) + "\n")
    print(table(runs))
    wrong = [run for run in runs if run["faults"]]
    for run in wrong:
        print(f"{run['domain']} {run['task']} {run['script']}: {'; '.join(run['faults'])}", file=sys.stderr)
    sys.exit(1 if wrong or not runs else 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", action="append", choices=DOMAINS)
    parser.add_argument("--tasks", help="ids, separated by commas")
    parser.add_argument("--first", type=int, help="number of tasks with actions")
    parser.add_argument("--json", help="file for the numbers of each run")
    return parser.parse_args()


def chosen(domain, options):
    tasks = list(domain.tasks.values())
    if options.tasks:
        ids = options.tasks.split(",")
        tasks = [task for task in tasks if task.id in ids]
    if options.first:
        tasks = [task for task in tasks if task.actions][: options.first]
    return tasks


def replay(project, model, task, script, results, state):
    """Ask the agent of a script, and compare everything with the gold."""
    exchange = model.begin(task)
    command, left = project.ask(script, task)
    faults = list(exchange.faults)
    try:
        answer = json.loads(command.stdout)
    except ValueError:
        answer = {}
    if command.returncode or answer.get("ending") != "done" or answer.get("text") != "It is done.":
        faults.append(f"exit status {command.returncode}: {command.stdout[:500]} {command.stderr[-1000:]}")
    wanted = results[-1:] if script == "last" else results
    # Numbers of JavaScript do not tell 1 from 1.0.
    same = type_and_value if script == "direct" else value
    for what, difference in (
        ("calls", first_difference(left["calls"], state["calls"], type_and_value)),
        ("database", first_difference(left["db"], state["db"], type_and_value)),
        ("results", first_difference(read(exchange, script), wanted, same)),
    ):
        if difference:
            faults.append(f"{what}: {difference}")
    used = answer.get("usage", {})
    if (used.get("inputTokens"), used.get("outputTokens")) != (exchange.input_tokens, exchange.output_tokens):
        faults.append(f"usage {used} instead of {exchange.input_tokens} and {exchange.output_tokens}")
    if answer.get("turns") != len(exchange.bodies):
        faults.append(f"{answer.get('turns')} turns for {len(exchange.bodies)} requests")
    return {
        "domain": task.domain.name, "task": task.id, "script": script, "calls": len(task.actions),
        "requests": len(exchange.bodies), "requestBytes": exchange.request_bytes, "answerBytes": exchange.answer_bytes,
        "inputTokens": exchange.input_tokens, "newTokens": exchange.new_tokens,
        "outputTokens": exchange.output_tokens, "faults": faults,
    }


def read(exchange, script):
    """Return the results of the actions as the model read them."""
    if not exchange.task.actions:
        return []
    if script == "direct":
        return [payload(text) for text in exchange.results]
    text = whole(exchange.results[1:])
    try:
        returned = json.loads(text)
    except ValueError:
        returned = text
    values = returned if script == "all" and isinstance(returned, list) else [returned]
    return [payload(each) if isinstance(each, str) else each for each in values]


def payload(text):
    """Return the JSON in a text, which for failed calls may begin with the kind of the error."""
    start = text.find("{")
    try:
        return json.JSONDecoder().raw_decode(text[max(start, 0):])[0]
    except ValueError:
        return text


def type_and_value(one, other):
    return type(one) is type(other) and one == other


def value(one, other):
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def first_difference(found, wanted, same, path="$"):
    """Return where two JSON values differ first, and how; ``None`` if they are equal."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        pairs = [(f"{path}.{key}", found[key], wanted[key]) for key in wanted]
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(found, wanted))]
    elif same(found, wanted):
        return None
    else:
        return f"{path} is {json.dumps(found)[:300]} instead of {json.dumps(wanted)[:300]}"
    return next(filter(None, (first_difference(one, other, same, inner) for inner, one, other in pairs)), None)


COLUMNS = {
    "calls": "calls",
    "requests": "requests",
    "request bytes": "requestBytes",
    "input tokens": "inputTokens",
    "of them new": "newTokens",
    "output tokens": "outputTokens",
}


def table(runs):
    """Return a table with the sums of each domain and script."""
    rows = [["", "script", "tasks", *COLUMNS, "equal"]]
    rows.append(["---"] * len(rows[0]))
    for domain in dict.fromkeys(run["domain"] for run in runs):
        for script in SCRIPTS:
            own = [run for run in runs if (run["domain"], run["script"]) == (domain, script)]
            sums = [f"{sum(run[key] for run in own):,}" for key in COLUMNS.values()]
            rows.append([domain, f"`{script}`", str(len(own)), *sums, str(sum(not run["faults"] for run in own))])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
