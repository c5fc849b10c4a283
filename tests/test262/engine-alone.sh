#!/bin/sh
# Runs test262 with the engine alone, natively and with nothing skipped, to compare a changed engine with another.
#
# Usage: tests/test262/engine-alone.sh CHECKOUT ENGINE FAILURES [PART…]
#
# CHECKOUT is one of test262. ENGINE is the `quickjs/` folder of rquickjs-sys, or a patched copy. FAILURES is the file
# for the failures, one line each. PART is a folder below `test/`; by default all that are in scope, and then stdout has
# what engine-alone.txt has.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$1" && pwd); engine=$(cd "$2" && pwd); failures=$3; shift 3
is_whole=false
[ $# -gt 0 ] || { is_whole=true; set -- annexB built-ins harness language; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for unit in quickjs dtoa libregexp libunicode quickjs-libc run-test262; do
    "${CC:-cc}" -O2 -fwrapv -funsigned-char -D_GNU_SOURCE -DQUICKJS_NG_BUILD -w -c "$engine/$unit.c" -o "$work/$unit.o"
done
"${CC:-cc}" "$work"/*.o -lm -lpthread -ldl -o "$work/run-test262"

cat > "$work/test262.conf" <<CONF
[config]
nostrict=yes
strict=yes
mode=default
async=yes
module=yes
verbose=yes
harnessdir=$checkout/harness
errorfile=$work/failures
testdir=$checkout/test
[features]
$(sed -e 's/[ #].*//' -e '/^$/d' "$checkout/features.txt")
CONF
: > "$work/failures"
for part in "$@"; do set -- "$@" -d "$checkout/test/$part"; shift; done
# It exits with 1 if a test fails.
"$work/run-test262" -c "$work/test262.conf" -a -u "$@" >&2 || true
sed "s#^$checkout/test/##" "$work/failures" | sort > "$failures"
$is_whole || exit 0
# Failures by folder, taken from the runs that the checkout has.
awk -F '[ /:]' '
    NR == FNR { folder = $2 ~ /\.js$/ ? $1 : $1 "/" $2; failed[folder]++; next }
    /^#/ { print; next }
    { split($0, row, " "); print row[1], row[3] - failed[row[1]], row[3] }' "$failures" "$here/engine-alone.txt"
