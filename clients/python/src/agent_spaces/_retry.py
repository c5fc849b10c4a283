"""When a request is repeated, and after how long."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

#: Longest wait that a server can ask for with Retry-After, in seconds. A longer one is an error for the caller to decide on.
MAX_RETRY_AFTER = 60.0
#: First wait, in seconds; doubles with each attempt.
FIRST_DELAY = 0.1
#: Longest wait between attempts, in seconds: short enough for a person who watches a run.
MAX_DELAY = 10.0


def may_repeat(status: int, repeatable: bool) -> bool:
    """True if an answer with this status may be followed by a better one.

    429 means that the server did nothing, whatever was asked. 502 and 504 come from proxies while a server restarts.
    """
    return status == 429 or (repeatable and status in (502, 503, 504))


def delay_before(attempt: int, retry_after: float | None = None) -> float | None:
    """Return the wait before the next attempt in seconds, or None if the server asks for too long a wait."""
    if retry_after is not None:
        return retry_after if retry_after <= MAX_RETRY_AFTER else None
    # Half of it is random, so that clients that were cut together do not come back together.
    delay: float = min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(attempt, 10))
    return delay / 2 + random.random() * delay / 2


def parse_retry_after(header: str | None) -> float | None:
    """Parse ``Retry-After``, seconds or a date, into seconds."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
