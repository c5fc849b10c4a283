#!/bin/sh
# Role and database of the hosts, made when Postgres starts with an empty folder. Not a superuser.
set -eu
# The password is not among the arguments, which other processes see.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\set password `cat "${AGENTS_PASSWORD_FILE:-/run/secrets/agents-password}"`
CREATE ROLE agents LOGIN PASSWORD :'password';
CREATE DATABASE agents;
GRANT CONNECT, CREATE ON DATABASE agents TO agents;
REVOKE CONNECT ON DATABASE agents FROM PUBLIC;
ALTER ROLE agents SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE agents SET statement_timeout = '60s';
SQL
