"""Compares the dataclasses with the OpenAPI document and prints the differences: python3 scripts/check_types.py"""

import dataclasses
import json
import sys
import types
import typing
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PYTHON / "src"))

from agent_spaces import _types, _wire  # noqa: E402

# Names that differ: the client's own classes have the plain ones.
NAMES = {"Space": "SpaceInfo", "Run": "RunInfo", "Function": "CapabilityFunction"}
# Schemas without a dataclass, with the reason.
LEFT_OUT = {"Problem": "read by ApiError"}
# Fields that the document does not list: the server sends them by the type of an event.
UNLISTED = {"Event.caller", "Event.parent"}


def document() -> dict:
    return json.loads((PYTHON.parent / "openapi.json").read_text())


def differences(found: dict) -> list[str]:
    faults = []
    for name, schema in found["components"]["schemas"].items():
        # Pages are read by `Items`.
        # Those without members are a Literal where they are used.
        if name in LEFT_OUT or "enum" in schema or (name.endswith("Page") and name != "EventPage"):
            continue
        cls = getattr(_types, NAMES.get(name, name), None)
        if cls is None:
            faults.append(f"{name}: no dataclass")
            continue
        fields = {_wire.member(field.name): field for field in dataclasses.fields(cls) if field.name != "payload"}
        members = schema.get("properties", {})
        faults += [f"{name}.{one}: not in the dataclass" for one in members if one not in fields]
        faults += [f"{name}.{one}: not in the document" for one in fields if one not in members and f"{name}.{one}" not in UNLISTED]
        hints = typing.get_type_hints(cls)
        for one, field in fields.items():
            if one in members:
                faults += check(f"{name}.{one}", members[one], one in schema.get("required", []), field, hints[field.name], found)
    return faults


def check(where: str, schema: dict, required: bool, field: dataclasses.Field, hint: object, found: dict) -> list[str]:
    needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    faults = [] if needed == required else [f"{where}: {'required' if required else 'optional'} in the document only"]
    if typing.get_origin(hint) in (typing.Union, types.UnionType) and type(None) in typing.get_args(hint):
        kinds = [one for one in typing.get_args(hint) if one is not type(None)]
        hint = kinds[0] if len(kinds) == 1 else typing.Union[tuple(kinds)]
    if not fits(schema, hint, found):
        faults.append(f"{where}: {json.dumps(schema)} in the document, {hint} in the dataclass")
    return faults


def fits(schema: dict, hint: object, found: dict) -> bool:
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        target = found["components"]["schemas"][name]
        return fits(target, hint, found) if "properties" not in target else hint is getattr(_types, NAMES.get(name, name), None)
    if "oneOf" in schema:
        # A member that may be null, as some generators write it.
        inner = [one for one in schema["oneOf"] if one.get("type") != "null"]
        return len(inner) == 1 and fits(inner[0], hint, found)
    if "enum" in schema:
        return typing.get_origin(hint) is typing.Literal and set(typing.get_args(hint)) == set(schema["enum"])
    kinds = schema.get("type")
    kinds = [one for one in kinds if one != "null"] if isinstance(kinds, list) else [kinds]
    if len(kinds) > 1:
        plain = {"integer": int, "string": str, "number": float, "boolean": bool}
        return set(typing.get_args(hint)) == {plain[one] for one in kinds}
    (kind,) = kinds
    if kind == "array":
        return typing.get_origin(hint) is list and fits(schema["items"], typing.get_args(hint)[0], found)
    if kind == "object":
        return getattr(typing.get_origin(hint), "__name__", "") in ("dict", "Mapping")
    return hint is {"string": str, "integer": int, "number": float, "boolean": bool, None: typing.Any}[kind]


if __name__ == "__main__":
    faults = differences(document())
    print("\n".join(faults) or "the dataclasses agree with the document")
    sys.exit(1 if faults else 0)
