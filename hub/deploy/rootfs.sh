#!/bin/sh
# Makes a Debian 13 root that runs the hub, as a tar file. Needs Debian's packages mmdebstrap and uidmap; no root.
#
#   cargo build --release
#   deploy/rootfs.sh ../target/release/cardproof-hub cardproof-hub.tar
#
# Start it as a container. Its data are outside, so that a new root replaces the old one:
#
#   sudo mkdir -p /var/lib/machines/cardproof-hub /srv/cardproof-hub
#   sudo tar -xf cardproof-hub.tar -C /var/lib/machines/cardproof-hub
#   sudo systemd-nspawn -D /var/lib/machines/cardproof-hub --bind /srv/cardproof-hub:/var/lib/private/cardproof-hub \
#       --boot
#
# It then answers on 127.0.0.1:8080 of the computer that runs the container.
#
# MIRROR and SUITE choose another mirror and another release.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 PROGRAM OUTPUT.tar" >&2
    exit 2
fi
program=$1
output=$2
here=$(dirname "$0")

if [ ! -x "$program" ]; then
    echo "$0: $program is not a program; build it with cargo build --release" >&2
    exit 1
fi
if ! command -v mmdebstrap > /dev/null; then
    echo "$0: mmdebstrap is not installed; install it with: sudo apt install mmdebstrap uidmap" >&2
    exit 1
fi

# Under another name until it is whole.
partial=$output.partial.tar
trap 'rm -f "$partial"' EXIT
mmdebstrap --variant=minbase --include=systemd-sysv,ca-certificates \
    --customize-hook="install -D -m 755 '$program' \"\$1/usr/local/bin/cardproof-hub\"" \
    --customize-hook="install -D -m 644 '$here/cardproof-hub.service' \"\$1/etc/systemd/system/cardproof-hub.service\"" \
    --customize-hook='chroot "$1" systemctl enable cardproof-hub.service' \
    --customize-hook='echo cardproof-hub > "$1/etc/hostname"; : > "$1/etc/machine-id"' \
    "${SUITE:-trixie}" "$partial" "${MIRROR:-http://deb.debian.org/debian}"
mv "$partial" "$output"
echo "made $output"
