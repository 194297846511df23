# Describes the services to systemd of the root that is the first word.
units=$1/etc/systemd/system
mkdir -p $units/multi-user.target.wants $1/etc/systemd/journald.conf.d $1/etc/systemd/system.conf.d $1/etc/apt
. /who/settings

unit() {
  name=$1
  printf '[Unit]\nDescription=%s\n[Service]\nExecStart=/bin/sh /opt/who/programs.sh %s\n' "$name" "$name" > $units/$name.service
  shift
  for line in "$@"; do echo "$line" >> $units/$name.service; done
}
unit upgrade Type=oneshot
unit database
unit sensor
unit hungry MemoryHigh=24M MemoryMax=32M
unit measure StandardOutput=journal
ln -s ../measure.service $units/multi-user.target.wants/measure.service

# As systemd comes, or told to count what each service does to storage.
[ $ACCOUNTING = default ] || printf '[Manager]\nDefaultIOAccounting=yes\n' > $1/etc/systemd/system.conf.d/who.conf
printf '[Journal]\nStorage=persistent\n' > $1/etc/systemd/journald.conf.d/who.conf
ln -sf /dev/null $units/serial-getty@ttyS0.service
# Nothing else begins to write by itself.
for timer in apt-daily apt-daily-upgrade dpkg-db-backup fstrim e2scrub_all logrotate; do
  ln -sf /dev/null $units/$timer.timer
done
echo 4f1c0e5a9d0b4c6f8a7e2d3b1c5f6a70 > $1/etc/machine-id
