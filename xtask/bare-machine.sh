#!/bin/sh
# Runs the two commands of README.md from a clean clone in a bare Debian: no tool but Rust, git and a C compiler.
#
#   xtask/bare-machine.sh bookworm|trixie root|user [WORK]
#
# As root, with mmdebstrap installed, from the root of a committed source. The system is made below WORK
# (/var/tmp/cardproof-bare without it) and stays there; mounts are in a view of this process alone and go with it.
# Rust is that of this machine, with the crates that it has downloaded. Closes with the times and the last line.
set -eu

release=$1 user=$2 work=${3:-/var/tmp/cardproof-bare}
case "$release:$user" in
    bookworm:root | bookworm:user | trixie:root | trixie:user) ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
root=$work/$release-$user
cargo_home=${CARGO_HOME:-$HOME/.cargo} rustup_home=${RUSTUP_HOME:-$HOME/.rustup}

if [ -z "${CARDPROOF_IN_OWN_VIEW:-}" ]; then
    export CARDPROOF_IN_OWN_VIEW=1
    exec unshare --mount --propagation private sh "$0" "$@"
fi

if [ ! -d "$root" ]; then
    mkdir -p "$work"
    mmdebstrap --variant=minbase --include=ca-certificates,gcc,git,libc6-dev "$release" "$root"
fi
# How this machine reaches its registries.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
done
grep -l Acquire /etc/apt/apt.conf.d/* 2>/dev/null | while read -r file; do cp "$file" "$root$file"; done
for kind in proc sys dev; do mount --rbind "/$kind" "$root/$kind"; done

home=$root/home/tester
mkdir -p "$home/.cargo" "$home/.rustup" "$root/opt/source.git"
cp -r "$cargo_home/bin" "$home/.cargo/"
for part in config.toml env registry; do
    [ ! -e "$cargo_home/$part" ] || cp -r "$cargo_home/$part" "$home/.cargo/"
done
mount --bind "$rustup_home" "$home/.rustup"
rm -rf "$home/cardproof" "$root/opt/source.git"
git clone --quiet --bare . "$root/opt/source.git"
git -C "$root/opt/source.git" config --add safe.directory '*'

cat > "$home/run.sh" <<'INNER'
set -eu
export HOME=/home/tester CARGO_HOME=/home/tester/.cargo RUSTUP_HOME=/home/tester/.rustup CI=true
export PATH=/home/tester/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /home/tester
git -c safe.directory='*' clone --quiet /opt/source.git cardproof
cd cardproof
began=$(date +%s)
cargo run --release -- run sim:sandisk-ultra --quiet
echo "first command: $(($(date +%s) - began)) s"
began=$(date +%s)
status=0
cargo xtask test > /home/tester/test.log 2>&1 || status=$?
echo "second command: $(($(date +%s) - began)) s, status $status"
grep -E '^(skipped|failed): ' /home/tester/test.log || true
tail -n 1 /home/tester/test.log
exit "$status"
INNER

if [ "$user" = root ]; then
    exec chroot "$root" sh /home/tester/run.sh
fi
chown -R 1000:1000 "$home/run.sh" "$home/.cargo" "$root/opt/source.git"
chown 1000:1000 "$home"
exec chroot --userspec=1000:1000 "$root" sh /home/tester/run.sh
