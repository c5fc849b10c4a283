"""Addresses of requests."""

from __future__ import annotations

from urllib.parse import quote, urlsplit


def segment(value: str | int) -> str:
    """Encode one segment of a path. A URL's ``.`` and ``..`` would address another resource, even if they are escaped."""
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f"'{text}' cannot be a part of a path")
    return quote(text, safe="")


def file_path(path: str) -> str:
    """Encode a relative file path."""
    return "/".join(segment(part) for part in path.split("/"))


def base_url(url: str) -> str:
    """Check a server's address and return it without a final slash."""
    parsed = urlsplit(url)
    if parsed.scheme not in ("http", "https") or not parsed.hostname:
        raise ValueError("url must be http or https")
    if parsed.username is not None or parsed.password is not None:
        raise ValueError("url must not contain a user or password: use token")
    if parsed.query or parsed.fragment:
        raise ValueError("url must not have a query or fragment")
    return url.rstrip("/")
