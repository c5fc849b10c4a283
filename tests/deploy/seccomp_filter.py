"""Executes a command under the profile of deploy/seccomp.json, as a container runtime would load it.

    python seccomp_filter.py COMMAND [ARGUMENT …]
"""

import ctypes
import ctypes.util
import json
import os
import sys
from pathlib import Path

PROFILE = Path(__file__).resolve().parents[2] / "deploy/seccomp.json"
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
COMPARISONS = {"SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp`"""

    _fields_ = [("index", ctypes.c_uint), ("op", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


def library():
    """libseccomp; `None` if it is not installed."""
    name = ctypes.util.find_library("seccomp")
    return ctypes.CDLL(name, use_errno=True) if name else None


def action(rule, errno):
    return ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else ERRNO | rule.get("errnoRet", errno)


def load():
    """Loads the profile into this process. Sets `no_new_privs`."""
    seccomp, profile = library(), json.loads(PROFILE.read_text())
    seccomp.seccomp_init.restype = ctypes.c_void_p
    errno = profile["defaultErrnoRet"]
    filters = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(ERRNO | errno)))
    for rule in profile["syscalls"]:
        given = rule.get("args", [])
        compared = (Comparison * len(given))(
            *(Comparison(each["index"], COMPARISONS[each["op"]], each["value"], each.get("valueTwo", 0)) for each in given)
        )
        for name in rule["names"]:
            number = seccomp.seccomp_syscall_resolve_name(name.encode())
            # Runtimes leave out names that their library does not know.
            if number == -1:
                continue
            done = seccomp.seccomp_rule_add_array(filters, ctypes.c_uint32(action(rule, errno)), number, len(given), compared)
            if done != 0:
                sys.exit(f"libseccomp refuses the rule of {name}: {os.strerror(-done)}")
    if (done := seccomp.seccomp_load(filters)) != 0:
        sys.exit(f"the profile cannot be loaded: {os.strerror(-done)}")


if __name__ == "__main__":
    load()
    os.execvp(sys.argv[1], sys.argv[1:])
