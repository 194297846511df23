#!/bin/sh
# Installs the program cardproof from a release, after checking its SHA-256 sum.
#
#   sh install.sh                         the newest release, into /usr/local/bin or ~/.local/bin
#   VERSION=0.1.0 PREFIX=$HOME/.local sh install.sh
#   FROM=DIRECTORY sh install.sh          from files that are already here
set -eu

REPOSITORY=https://github.com/cardproof/cardproof
FROM=${FROM:-}
VERSION=${VERSION:-}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# The name of this machine's archive.
target() {
    case "$(uname -m)" in
        x86_64) echo x86_64 ;;
        # A 32-bit system on a 64-bit kernel has a 32-bit libc and shell.
        aarch64 | arm64) if [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 32 ]; then echo armv7; else echo aarch64; fi ;;
        armv7* | armv8*) echo armv7 ;;
        armv6*) echo armv6 ;;
        i?86) echo i686 ;;
        riscv64) echo riscv64 ;;
        *) fail "there is no build for '$(uname -m)'; build from source with 'cargo install --path crates/cli'" ;;
    esac
}

# Fetches $1 of the release to the file $2.
fetch() {
    if [ -n "$FROM" ]; then
        cp "$FROM/$1" "$2" || fail "there is no $1 in $FROM"
    elif command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --proto '=https' --output "$2" "$base/$1" || fail "cannot download $base/$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document="$2" "$base/$1" || fail "cannot download $base/$1"
    else
        fail "neither curl nor wget is installed; install one"
    fi
}

[ "$(uname -s)" = Linux ] || fail "cardproof runs on Linux only"
command -v sha256sum >/dev/null || fail "sha256sum is not installed; install coreutils"
machine=$(target)
if [ -n "$VERSION" ]; then
    base=$REPOSITORY/releases/download/v$VERSION
else
    base=$REPOSITORY/releases/latest/download
fi
if [ -z "${PREFIX:-}" ]; then
    if [ "$(id -u)" = 0 ]; then PREFIX=/usr/local; else PREFIX=$HOME/.local; fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
fetch SHA256SUMS "$work/SHA256SUMS"
line=$(grep -E "^[0-9a-f]{64} [ *]cardproof-[0-9][^ ]*-$machine\.tar\.gz\$" "$work/SHA256SUMS") ||
    fail "the release lists no archive for $machine"
[ "$(echo "$line" | wc -l)" = 1 ] || fail "the release lists more than one archive for $machine"
archive=${line#* [ *]}
fetch "$archive" "$work/$archive"
(cd "$work" && echo "$line" | sha256sum --check --quiet -) >/dev/null 2>&1 ||
    fail "$archive does not match its SHA-256 sum; nothing was installed"
tar -xzf "$work/$archive" -C "$work"
folder=$work/${archive%.tar.gz}
"$folder/cardproof" --version >/dev/null || fail "the program does not start on this machine; nothing was installed"
mkdir -p "$PREFIX/bin" || fail "cannot make $PREFIX/bin; name another place with PREFIX"
cp "$folder/cardproof" "$PREFIX/bin/.cardproof.new" || fail "cannot write to $PREFIX/bin; name another place with PREFIX"
mv "$PREFIX/bin/.cardproof.new" "$PREFIX/bin/cardproof"
mkdir -p "$PREFIX/share/man/man1" "$PREFIX/share/bash-completion/completions"
cp "$folder"/man/*.1 "$PREFIX/share/man/man1/" 2>/dev/null || true
cp "$folder/cardproof.bash" "$PREFIX/share/bash-completion/completions/cardproof" 2>/dev/null || true
echo "$("$PREFIX/bin/cardproof" --version) is installed as $PREFIX/bin/cardproof."
case ":$PATH:" in
    *":$PREFIX/bin:"*) ;;
    *) echo "$PREFIX/bin is not in PATH; add it, or start the program by its whole name." ;;
esac
