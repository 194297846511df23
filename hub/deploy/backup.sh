#!/bin/sh
# Backs the hub up every night and keeps the last 30 backups; cron starts it where it is /etc/cron.daily/cardproof-hub.
# Nothing is said where all went well.
# It holds the hub's secrets: whoever copies the directory to another machine, as one should, keeps it as safe.
set -eu
data=${CARDPROOF_HUB_DATA:-/var/lib/cardproof-hub}
to=${CARDPROOF_HUB_BACKUPS:-/var/backups/cardproof-hub}
settings=${CARDPROOF_HUB_SETTINGS:-/etc/cardproof-hub.env}
program=${CARDPROOF_HUB_PROGRAM:-cardproof-hub}

# A hub that has been removed has nothing to back up.
command -v "$program" > /dev/null || exit 0
set -- --data "$data"
if [ -f "$settings" ]; then
    set -- "$@" --env-file "$settings"
fi
umask 077
mkdir -p "$to"
"$program" backup "$@" --to "$to/hub-$(date +%F-%H%M%S).sqlite" > /dev/null
# Names have the day and the time, so that the oldest come first. What is no backup is left alone.
find "$to" -maxdepth 1 -type f -name 'hub-????-??-??-??????.sqlite' | sort | head -n -30 | xargs -r -d '\n' rm --
# What a backup has left that was killed, and SQLite beside one that was opened.
find "$to" -maxdepth 1 -type f -name 'hub-????-??-??-??????.sqlite[.-]*' -mtime +0 -delete
