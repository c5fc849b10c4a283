#!/bin/sh
# Makes passwords and tokens that do not exist yet.
#
#   make-secrets.sh [FOLDER OF HOSTS] [FOLDER OF POSTGRES] [USER OF HOSTS] [USER OF POSTGRES]
#
# Files are readable by the user that needs them only. Delete a token and start again for a new one; the passwords of Postgres
# are in the database too.
set -eu
umask 077
hosts=${1:-/run/secrets}
database=${2:-/run/postgres-secrets}
host_user=${3:-10001}
database_user=${4:-999}

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# Written whole or not at all: a start that is interrupted must not leave an empty password.
write() {
    printf '%s' "$2" > "$1.new"
    chown "$3:$3" "$1.new"
    chmod 0400 "$1.new"
    mv "$1.new" "$1"
}

for token in operator-token app-token host-key; do
    [ -s "$hosts/$token" ] || write "$hosts/$token" "$(random)" "$host_user"
done
[ -s "$database/superuser-password" ] || write "$database/superuser-password" "$(random)" "$database_user"
[ -s "$database/agents-password" ] || write "$database/agents-password" "$(random)" "$database_user"
# Both are on a network of this machine that nothing else is on; anywhere else, leave out sslmode.
write "$hosts/store" "postgres://agents:$(cat "$database/agents-password")@postgres/agents?sslmode=disable" "$host_user"
chown "$host_user:$host_user" "$hosts"
chown "$database_user:$database_user" "$database"
