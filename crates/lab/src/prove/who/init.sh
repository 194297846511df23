#!/bin/busybox sh
# What the kernel starts: lays the file system out on the disk under test, records every request to the disk and every
# block that the file system gives to a file from then on, and becomes systemd of the Debian laid there.
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in /modules/*; do insmod $module || echo "cannot load $module"; done
. /who/settings
tries=0
while [ ! -b /dev/vdc ] && [ $tries -lt 240 ]; do sleep 0.25; tries=$((tries + 1)); done
case $FILESYSTEM in
  ext4) /usr/bin/mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda2 ;;
  f2fs) /usr/bin/mkfs.f2fs -q -f /dev/vda2 ;;
esac
mkswap /dev/vda1
swapon /dev/vda1

mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing
echo 0 > tracing_on
echo 32768 > buffer_size_kb
echo mono > trace_clock
# The instant of each look: the kernel shows the disk's counters, for which nobody else asks.
echo 'p:look part_stat_show' > kprobe_events
for event in kprobes/look block/block_rq_complete ext4/ext4_allocate_blocks ext4/ext4_allocate_inode \
  f2fs/f2fs_submit_page_write f2fs/f2fs_submit_page_bio f2fs/f2fs_new_inode; do
  [ ! -d events/$event ] || echo 1 > events/$event/enable
done
echo 1 > tracing_on
cd /

mkdir -p /new
mount -t $FILESYSTEM -o noatime /dev/vda2 /new
tar -x -f /dev/vdb -C /new
cp -a /who /new/opt/who
mkdir -p /new/opt/who/lib
cp -a /usr/bin/cardproof /new/opt/who/cardproof
for library in /lib /lib64 /usr/lib; do [ ! -d $library ] || cp -a $library/. /new/opt/who/lib/; done
sh /new/opt/who/services.sh /new
umount /sys/kernel/tracing
umount /sys /proc
mount --move /dev /new/dev
exec switch_root /new /sbin/init
