#!/bin/sh
# Makes a Debian package of the hub. Needs dpkg-deb; no root.
#
#   cargo build --release
#   deploy/deb.sh ../target/release/cardproof-hub cardproof-hub.deb
#   sudo apt install ./cardproof-hub.deb
#
# It installs the program and the service, and in /usr/share/doc/cardproof-hub this README and what it
# names: settings of nginx and PostgreSQL, the nightly backup, and alerts. It starts nothing the first
# time; an upgrade starts a running hub again.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 PROGRAM OUTPUT.deb" >&2
    exit 2
fi
program=$1
output=$2
here=$(dirname "$0")

if [ ! -x "$program" ]; then
    echo "$0: $program is not a program; build it with cargo build --release" >&2
    exit 1
fi
# What it was built with here is what it needs elsewhere.
libc=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
version=$("$program" --version | cut -d ' ' -f 2)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 755 "$program" "$tree/usr/bin/cardproof-hub"
install -d -m 755 "$tree/usr/lib/systemd/system" "$tree/DEBIAN"
sed 's|/usr/local/bin/|/usr/bin/|' "$here/cardproof-hub.service" > "$tree/usr/lib/systemd/system/cardproof-hub.service"
chmod 644 "$tree/usr/lib/systemd/system/cardproof-hub.service"
for file in nginx.conf postgresql.conf hub.rules.yml ../README.md; do
    install -D -m 644 "$here/$file" "$tree/usr/share/doc/cardproof-hub/$(basename "$file")"
done
install -m 755 "$here/backup.sh" "$tree/usr/share/doc/cardproof-hub/backup.sh"
{
    echo "Licence: Apache-2.0 (see /usr/share/common-licenses/Apache-2.0) or MIT:"
    echo
    cat "$here/../../LICENSE-MIT"
} > "$tree/usr/share/doc/cardproof-hub/copyright"
chmod 644 "$tree/usr/share/doc/cardproof-hub/copyright"
cat > "$tree/DEBIAN/control" <<CONTROL
Package: cardproof-hub
Version: $version-1
Architecture: $(dpkg --print-architecture)
Maintainer: cardproof developers <packages@cardproof.invalid>
Depends: libc6 (>= $libc)
Suggests: nginx, postgresql
Section: web
Priority: optional
Homepage: https://github.com/cardproof/cardproof
Description: hub for records of storage measured with cardproof
 Keeps records of SD cards and other storage, finds and compares them, and
 gives all data away.
CONTROL
# A running hub is a process of the old program until it is started again.
cat > "$tree/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if [ -n "$2" ]; then systemctl try-restart cardproof-hub.service; fi
fi
if [ -z "$2" ]; then
    echo "Write the options into /etc/cardproof-hub.env, then: systemctl enable --now cardproof-hub"
    echo "/usr/share/doc/cardproof-hub/README.md says how, under \"Run it as a service\"."
fi
SCRIPT
cat > "$tree/DEBIAN/prerm" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now cardproof-hub.service
fi
SCRIPT
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
dpkg-deb --root-owner-group --build "$tree" "$output"
