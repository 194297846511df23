# What the machine of the cost does: 150 processes in 40 groups, half of them busy now and then, and one watch of a
# minute in a group of its own, whose time is counted in instructions.
mkdir -p /sys/fs/cgroup /tmp/mnt
mount -t cgroup2 none /sys/fs/cgroup
echo "+io +memory +cpu" > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/system.slice
echo "+io +memory +cpu" > /sys/fs/cgroup/system.slice/cgroup.subtree_control
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 60 ]; do sleep 0.25; tries=$((tries + 1)); done
mkswap /dev/vda > /dev/null
swapon /dev/vda
group=0
while [ $group -lt 40 ]; do
  directory=/sys/fs/cgroup/system.slice/service-$group.service
  mkdir $directory
  members=0
  while [ $members -lt 4 ] && [ $((group * 4 + members)) -lt 150 ]; do
    sleep 1000 &
    echo $! > $directory/cgroup.procs
    members=$((members + 1))
  done
  group=$((group + 1))
done
mkdir /sys/fs/cgroup/system.slice/watch.service
for seconds in 2 62; do
  sh -c 'echo $$ > /sys/fs/cgroup/system.slice/watch.service/cgroup.procs
    exec cardproof watch --who /dev/vda --time '$seconds's --json' > /tmp/said || echo "FAILED $(cat /tmp/said)"
  echo "USED $seconds $(ls -d /proc/[0-9]* | wc -l) $(sed -n 's/usage_usec //p' /sys/fs/cgroup/system.slice/watch.service/cpu.stat)"
done
