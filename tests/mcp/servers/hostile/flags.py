"""What goes wrong before any call."""
import argparse
import os
import sys

parser = argparse.ArgumentParser(prog="hostile")
parser.add_argument("--ignore-eof", action="store_true", help="stay when stdin closes")
parser.add_argument("--ignore-sigterm", action="store_true", help="stay when asked to end")
parser.add_argument("--noise", action="store_true", help="print a banner on stdout before speaking")
parser.add_argument("--slow-start", type=int, default=0, metavar="MS", help="wait before reading anything")
parser.add_argument("--no-start", action="store_true", help="never answer initialize")
parser.add_argument("--exit-at-start", action="store_true", help="explain on stderr and exit 3")
parser.add_argument("--discover", choices=("error", "silent", "exit", "empty", "invalid"), default="error",
                    help="what server/discover meets: method not found, nothing, an exit, {} or a number as result")
parser.add_argument("--protocol", metavar="VERSION", help="answer initialize with this version, whatever was asked")
parser.add_argument("--legacy-parameters", action="store_true", help="list tools with parameters, not inputSchema")
parser.add_argument("--schema-version", type=int, default=1, metavar="N", help="give echo a property version_N")
parser.add_argument("--description", metavar="TEXT", help="describe echo so")
parser.add_argument("--extra-tool", metavar="NAME", help="offer one more tool, which echoes")
parser.add_argument("--instructions", metavar="TEXT")
parser.add_argument("--pages", type=int, default=1, metavar="N", help="spread tools/list over N pages")
parser.add_argument("--loop-cursor", action="store_true", help="give the same nextCursor for ever")
parser.add_argument("--flood-forever", action="store_true", help="write noise and notifications without end")
parser.add_argument("--log", metavar="FILE", help="append every message and signal received, one JSON a line")
parser.add_argument("--more", metavar="FILE", help="read further flags from this file, one a line, if it is there")

flags = parser.parse_args()
if flags.more and os.path.exists(flags.more):
    with open(flags.more, encoding="utf-8") as file:
        flags = parser.parse_args(sys.argv[1:] + file.read().splitlines())
