#!/bin/sh
# Makes a Debian package of the hub. Needs dpkg-deb; no root.
#
#   cargo build --release
#   deploy/deb.sh ../target/release/cardproof-hub cardproof-hub.deb
#   sudo apt install ./cardproof-hub.deb
#
# It installs the program and the service, and in /usr/share/doc/cardproof-hub this README and all that it links to. It
# starts nothing the first time; an upgrade starts a running hub again.
#
# The version has the time of the commit, so that a later build is newer to apt; of a tree with changes it has the time
# of the build too. A second build of the same commit is installed with `apt install --reinstall ./cardproof-hub.deb`.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 PROGRAM OUTPUT.deb" >&2
    exit 2
fi
program=$1
output=$2
here=$(dirname "$0")
root=$here/../..

if [ ! -x "$program" ]; then
    echo "$0: $program is not a program; build it with cargo build --release" >&2
    exit 1
fi
for file in LICENSE-MIT docs/design/hub.md docs/submission-v1.schema.json; do
    if [ ! -f "$root/$file" ]; then
        echo "$0: $file of cardproof's source is missing; run this where it is, in the whole source" >&2
        exit 1
    fi
done
# What it was built with here is what it needs elsewhere.
libc=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
version=$("$program" --version | cut -d ' ' -f 2)
if commit=$(TZ=UTC git -C "$root" log -1 --format=%cd --date=format-local:%Y%m%d.%H%M%S 2> /dev/null); then
    version=$version+git$commit
    if ! git -C "$root" diff --quiet HEAD; then
        version=$version+$(date -u +%Y%m%d%H%M%S)
    fi
elif [ -e "$root/.git" ]; then
    echo "$0: git tells nothing of the source, so the version is that of the last release; build it as who owns it" >&2
fi
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
docs=$tree/usr/share/doc/cardproof-hub
install -D -m 755 "$program" "$tree/usr/bin/cardproof-hub"
install -d -m 755 "$tree/usr/lib/systemd/system" "$tree/DEBIAN" "$docs/deploy" "$docs/docs/design"
sed 's|/usr/local/bin/|/usr/bin/|' "$here/cardproof-hub.service" > "$tree/usr/lib/systemd/system/cardproof-hub.service"
chmod 644 "$tree/usr/lib/systemd/system/cardproof-hub.service"
# In the package README is one directory higher than in the source.
sed 's|](\.\./|](|g' "$here/../README.md" > "$docs/README.md"
sed 's|](\.\./\.\./hub/|](../../|g' "$root/docs/design/hub.md" > "$docs/docs/design/hub.md"
install -m 644 "$root/docs/submission-v1.schema.json" "$docs/docs"
install -m 644 "$here/../data-v1.json" "$docs"
for file in Containerfile cardproof-hub.service hub.rules.yml nginx.conf postgresql.conf; do
    install -m 644 "$here/$file" "$docs/deploy"
done
install -m 755 "$here/backup.sh" "$here/rootfs.sh" "$docs/deploy"
{
    echo "Licence: Apache-2.0 (see /usr/share/common-licenses/Apache-2.0) or MIT:"
    echo
    cat "$root/LICENSE-MIT"
} > "$docs/copyright"
chmod 644 "$docs/README.md" "$docs/docs/design/hub.md" "$docs/copyright"
cat > "$tree/DEBIAN/control" <<CONTROL
Package: cardproof-hub
Version: $version-1
Architecture: $(dpkg --print-architecture)
Maintainer: cardproof developers <packages@cardproof.invalid>
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f 1)
Depends: libc6 (>= $libc)
Recommends: cron | cron-daemon
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
