# What the machine does: for each card, file system and fill the test of the free space, with a look at the
# space that others have left while it runs. A line each, beginning with RUN, tells what came of it.
tries=0
while [ ! -b /dev/$LAST ] && [ $tries -lt 240 ]; do sleep 0.25; tries=$((tries + 1)); done
mkdir -p /mnt
# Busybox takes its own tool for a bare name, whatever stands in PATH: the real ones are named in full.
TOOLS=/usr/bin
export XDG_DATA_HOME=/tmp/home PATH=$TOOLS:/usr/sbin:/bin:/sbin

free_kib() {
  set -- $(stat -f -c '%a %S' /mnt)
  echo $(($1 * $2 / 1024))
}

make() {
  case $1 in
    vfat) $TOOLS/mkfs.vfat -F 32 -s 64 $2 ;;
    exfat) $TOOLS/mkfs.exfat -c 128K $2 ;;
    ext4) $TOOLS/mke2fs -q -F -t ext4 -O ^has_journal -E lazy_itable_init=1 $2 ;;
    f2fs) $TOOLS/mkfs.f2fs -q -f $2 ;;
  esac
}

# Files over the first part of the space, without writing them.
fill() {
  number=0
  left=$(($(free_kib) / 1024 * $2 / 100))
  while [ $left -gt 0 ]; do
    size=$left
    [ $size -gt 3000 ] && size=3000
    if [ $1 = exfat ]; then truncate -s ${size}M /mnt/film$number
    else touch /mnt/film$number && $TOOLS/fallocate -n -l ${size}M /mnt/film$number; fi
    left=$((left - size))
    number=$((number + 1))
  done
  head -c 300000 /dev/urandom > /mnt/photo
  sync
}

# On a fake e2fsck may find no end.
check() {
  case $1 in
    vfat) timeout $CHECK_MAX_S $TOOLS/fsck.vfat -n $2 ;;
    exfat) timeout $CHECK_MAX_S $TOOLS/fsck.exfat -n $2 ;;
    ext4) timeout $CHECK_MAX_S $TOOLS/e2fsck -fn $2 ;;
    f2fs) timeout $CHECK_MAX_S $TOOLS/fsck.f2fs --dry-run -f $2 < /dev/null ;;
  esac
}

watch_space() {
  least=$1
  while [ -e /tmp/running ]; do
    now=$(free_kib)
    [ $now -lt $least ] && least=$now
    echo $least > /tmp/least
    sleep 0.3
  done
}

# Ends a test that takes longer than any should, and says where it stood: in the kernel or in the program.
end_late() {
  sleep $TIME_MAX_S
  echo "the test did not end" >&2
  for task in /proc/$1/task/*; do
    cat $task/wchan $task/syscall $task/stack >&2
    echo >&2
  done
  kill -KILL $1
}

# File system, disk, card, share that is full.
one() {
  if ! make $1 /dev/$2 > /tmp/made 2>&1 || ! mount -t $1 /dev/$2 /mnt 2>> /tmp/made; then
    echo "RUN $1 $3 $4 no-file-system"
    tail -3 /tmp/made >&2
    return
  fi
  fill $1 $4
  sum=$(md5sum < /mnt/photo)
  ls -A /mnt > /tmp/before
  before=$(free_kib)
  touch /tmp/running
  watch_space $before &
  watcher=$!
  # What a refused test leaves empty.
  echo '{}' > /tmp/answer
  start=$(cut -d' ' -f1 /proc/uptime)
  cardproof verify /mnt --exclude-store $STORE --exclude-share 0.02 --quiet --json /tmp/answer > /tmp/said 2>&1 &
  test=$!
  if [ "$5" = kill ]; then
    sleep $6
    kill -KILL $test && wait $test
    status=killed
  else
    end_late $test &
    limit=$!
    wait $test
    status=$?
    kill $limit
    [ $status = 137 ] && status=late
  fi
  end=$(cut -d' ' -f1 /proc/uptime)
  rm /tmp/running
  wait $watcher
  cat /tmp/said >&2
  sync
  after=$(free_kib)
  ls -A /mnt | diff - /tmp/before > /tmp/left
  [ "$(md5sum < /mnt/photo)" = "$sum" ] && photo=same || photo=changed
  umount /mnt
  check $1 /dev/$2 > /tmp/checked 2>&1
  checked=$?
  [ $checked != 0 ] && tail -5 /tmp/checked >&2
  echo "RUN $1 $3 $4 $status $start $end $before $(cat /tmp/least) $after $(grep -c '^[+-][^+-]' /tmp/left) $photo $checked $(tr -d '\n' < /tmp/answer)"
  rm -f /tmp/answer
}
