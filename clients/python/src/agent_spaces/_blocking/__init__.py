"""The blocking client: one file per resource. `_async` has the same surface and is written from this folder by scripts/async_client.py."""
