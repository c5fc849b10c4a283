"""JSON to dataclasses and back.

A member ``createdAt`` is the field ``created_at``; ``for`` is ``for_``. Unknown members are left out, missing optional ones are None. A field
``payload`` takes all members that no other field has.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, TypeVar

from ._errors import ConnectionFailed

T = TypeVar("T")


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


#: Value of a member that is not sent; None is sent as null.
UNSET: Any = _Unset()


def member(field: str) -> str:
    """Return the name in JSON of a field."""
    head, *rest = field.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in rest)


_known: dict[Any, list[tuple[str, str, Any, bool]]] = {}


def _fields(cls: Any) -> list[tuple[str, str, Any, bool]]:
    """Return name, member, type and necessity of each field."""
    if cls not in _known:
        hints = typing.get_type_hints(cls)
        missing = dataclasses.MISSING
        _known[cls] = [
            (field.name, member(field.name), hints[field.name], field.default is missing and field.default_factory is missing)
            for field in dataclasses.fields(cls)
        ]
    return _known[cls]


def load(cls: type[T], data: Any) -> T:
    """Return the dataclass of a JSON object."""
    if not isinstance(data, dict):
        raise ConnectionFailed(f"answer is no JSON object where {cls.__name__} is expected")
    values: dict[str, Any] = {}
    taken = set()
    for field, name, hint, required in _fields(cls):
        if field == "payload":
            continue
        taken.add(name)
        value = data.get(name)
        if value is not None:
            values[field] = _value(hint, value)
        elif required:
            if name not in data and hint is not Any:
                raise ConnectionFailed(f"answer lacks '{name}' of {cls.__name__}")
            values[field] = None
    if any(field == "payload" for field, *_ in _fields(cls)):
        values["payload"] = {name: value for name, value in data.items() if name not in taken}
    return cls(**values)


def _value(hint: Any, value: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        inner = [one for one in typing.get_args(hint) if one is not type(None)]
        return _value(inner[0], value) if len(inner) == 1 else value
    if origin is list and isinstance(value, list):
        (inner_hint,) = typing.get_args(hint)
        return [_value(inner_hint, one) for one in value]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return load(hint, value)
    return value


def dump(value: Any) -> Any:
    """Return the JSON of a dataclass, without the members that are None or UNSET. Anything else is returned as it is."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    found = {}
    for field, name, hint, _ in _fields(type(value)):
        one = getattr(value, field)
        # A field of any type, such as an input, may be null on purpose.
        if one is UNSET or (one is None and hint is not Any):
            continue
        found[name] = dump(one)
    return found
