# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""The asynchronous client."""
