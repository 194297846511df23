#!/bin/sh
# Mirrors the tables of a cardproof hub into the current directory: sh mirror.sh https://HUB
# With `documents` after the address it loads the records as they were sent too, and does so again in later runs.
#
# A file gets its name when it is whole and has the SHA-256 of the manifest. A run that was interrupted goes on where
# it stopped. What the hub no longer has is removed, but only after everything else is there.
# It needs curl, jq and sha256sum.
set -eu
case ${1-} in
http://*|https://*) data=$1/data ;;
-h|--help) sed -n '2,/^set/s/^# *//p' "$0"; exit ;;
*) echo "mirror.sh: the address of the hub is missing: sh mirror.sh https://HUB" >&2; exit 2 ;;
esac
case ${2-} in
'') ;;
documents) mkdir -p documents ;;
*) echo "mirror.sh: after the address there may be: documents" >&2; exit 2 ;;
esac

has_sum() { printf '%s  %s\n' "$2" "$1" | sha256sum -c >/dev/null 2>&1; }

curl -fsS -o manifest.json.part "$data/manifest.json" || {
  echo "mirror.sh: no manifest came, as curl says above; if the hub has made no raw data yet, run it again later" >&2
  exit 1
}
# What a mirror is made of; nothing else is written or removed.
paths='(runs|phases)/[0-9a-z-]+[.]parquet'
document='[0-9a-z-]+[.]jsonl[.]gz'
if [ "${2-}" = documents ] || ls documents 2>/dev/null | grep -qxE "$document"; then
  paths="$paths|documents/$document"
fi
jq -r --arg paths "$paths" '.files[] | select(.path | test("^(\($paths))$")) | "\(.sha256) \(.bytes) \(.path)"' \
  manifest.json.part > wanted.part
[ -s wanted.part ] || { echo "mirror.sh: the manifest names no table; nothing was changed" >&2; exit 1; }
mkdir -p runs phases

while read -r sum bytes path; do
  [ -e "$path" ] && continue
  has=$(cat "$path.part" 2>/dev/null | wc -c)
  [ "$has" -ge "$bytes" ] || curl -fsS -C - -o "$path.part" "$data/$path"
  has_sum "$path.part" "$sum" || {
    rm -f "$path.part"
    echo "mirror.sh: $path does not have its SHA-256; run it again" >&2
    exit 1
  }
  mv "$path.part" "$path"
done < wanted.part

curl -fsS -o schema.json "$data/schema.json"
mv manifest.json.part manifest.json
printf '%s\n' runs/* phases/* documents/* | grep -xE "($paths)([.]part)?" | while read -r path; do
  cut -d ' ' -f 3 wanted.part | grep -qxF "$path" || rm -f "$path"
done
rm -f wanted.part
