# What the machine does: a function for each test, which prints a line with its name, the exit status, when it began and
# ended, and the answer. What the tests say beside goes to the first serial port.
tries=0
while [ ! -b /dev/mmcblk0 ] && [ $tries -lt 240 ]; do sleep 0.25; tries=$((tries + 1)); done
export XDG_DATA_HOME=/tmp/home
mkdir -p /mnt

now() {
  cut -d' ' -f1 /proc/uptime
}

unmounted() {
  grep -q ' /mnt ' /proc/mounts && umount /mnt
}

# The test's name, then the words of the command.
answered() {
  name=$1
  shift
  start=$(now)
  cardproof "$@" --json /tmp/answer > /tmp/page 2>&1
  status=$?
  end=$(now)
  cat /tmp/page >&2
  echo "SEEN $name $status $start $end $(tr -d '\n' < /tmp/answer)"
  rm -f /tmp/answer
}

discard() {
  unmounted
  answered discard verify /dev/mmcblk0 $DESTROY --discard --exclude-share 0.02
}

queue() {
  unmounted
  answered queue verify /dev/mmcblk0 $DESTROY --queue --exclude-share 0.001
}

identify() {
  answered identify identify /dev/mmcblk0
}

health() {
  answered health health /dev/mmcblk0
}

# The card's file system is made by the first test that needs it. By its path: the shell takes busybox's own otherwise.
mounted() {
  grep -q ' /mnt ' /proc/mounts && return
  /usr/bin/mke2fs -q -F -t ext4 -E lazy_itable_init=1 /dev/mmcblk0 >&2 && mount -t ext4 /dev/mmcblk0 /mnt
}

directory() {
  mounted && answered directory verify /mnt
}

check() {
  mounted && answered check check --only real,healthy /mnt
}
