# What is done on an emulated board, by its own Debian. Each step prints a line `== NAME`, what the
# program said, and a line `== status N`.
. /visit.conf
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C COLUMNS=100
date --set "@$NOW" >/dev/null
mkdir -p /srv/place
stty cols 100 2>/dev/null

step() {
    # A line of the kernel may stand before it, without its end.
    printf '\n== %s\n' "$1"
    shift
    "$@" 2>&1
    # A progress bar that was broken off ends without a line end.
    printf '\n== status %d\n' $?
}

install_package() {
    [ "$(dpkg --print-architecture)" = "$(dpkg-deb --field /cardproof.deb Architecture)" ] ||
        dpkg --add-architecture "$(dpkg-deb --field /cardproof.deb Architecture)"
    dpkg --install /cardproof.deb
}

# The time of one start, of twenty.
version_time() {
    begin=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cardproof --version >/dev/null || return 1; done
    echo "$((($(date +%s%N) - begin) / 20000000)) ms"
}

left_files() {
    [ -z "$(ls -A /srv/place)" ] && echo "nothing is left in the measured directory"
}

records() {
    ls "$HOME"/.local/share/cardproof/records/*.json | wc -l
}

step machine uname -srm
step install install_package
step version cardproof --version
step version-time version_time
step identify cardproof identify "/dev/$DEVICE"
step identity cardproof identify "/dev/$DEVICE" --json -
step run cardproof run /srv/place --size 16M --time-budget 30s --quiet --json /tmp/record.json
step watch cardproof watch --once
step report cardproof show latest --markdown short
# In the foreground timeout sends the signal once; two of them end the program at once.
step ctrl-c timeout --foreground --preserve-status --signal=INT 8 cardproof run /srv/place --size 16M
step left left_files
step remove dpkg --remove cardproof
step gone sh -c '! command -v cardproof'
step records records
sync
echo VISIT-IS-DONE
sleep 600
