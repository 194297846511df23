# The programs that write, one by its name.
. /opt/who/settings
case $1 in
  # Installs two packages and purges them: apt and dpkg, begun and ended within the watch.
  upgrade)
    export DEBIAN_FRONTEND=noninteractive
    apt-get install --yes --quiet=2 /run/who/debs/first.deb /run/who/debs/second.deb
    apt-get purge --yes --quiet=2 first second
    ;;
  # Rows into SQLite, one transaction each.
  database)
    mkdir -p /var/lib/readings
    perl -e '$| = 1; print "CREATE TABLE IF NOT EXISTS readings (value BLOB);\n";
      while (1) { print "INSERT INTO readings VALUES (randomblob(3000));\n"; select(undef, undef, undef, 0.1) }' |
      sqlite3 /var/lib/readings/readings.db
    ;;
  # Messages for the journal, which hands them to rsyslog.
  sensor)
    perl -e '$| = 1; while (1) { print "value ", join(" ", map { int rand 1e9 } 1 .. 20), "\n"; select(undef, undef, undef, 0.02) }' |
      logger --tag sensor
    ;;
  # Changes pages of more memory than it is allowed.
  hungry)
    perl -e 'my $pages = 10000; my $text = ""; $text .= pack("N", rand 4e9) x 1024 for 1 .. $pages;
      while (1) { for (1 .. 100) { substr($text, 4096 * int(rand $pages), 4) = pack("N", rand 4e9) } select(undef, undef, undef, 0.25) }'
    ;;
  # Appends to a file of its own, and changes one of its image, which is copied up by the first change.
  container)
    perl -e 'use IO::Handle; chdir "/var/lib/containers/merged" or die;
      open my $log, ">>", "log" or die; open my $image, "+<", "image" or die; $_->autoflush(1) for $log, $image;
      while (1) { print $log map { chr rand 256 } 1 .. 40000; $log->sync; seek $image, 4096 * int(rand 1024), 0;
        print $image "x" x 4096; select(undef, undef, undef, 0.5) }'
    ;;
  # Sets the others going, watches, and hands over what was said and what is true.
  measure)
    mkdir -p /run/who
    mount -t tmpfs -o size=600m tmpfs /run/who
    mount -t tracefs tracefs /sys/kernel/tracing
    for package in first second; do
      mkdir -p /run/who/$package/DEBIAN /run/who/$package/opt/$package /run/who/debs
      printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: files\n' \
        $package > /run/who/$package/DEBIAN/control
      for file in $(seq 60); do
        head -c 40000 /dev/urandom > /run/who/$package/opt/$package/$file
      done
      dpkg-deb --build -Znone /run/who/$package /run/who/debs/$package.deb
    done
    box=/var/lib/containers
    mkdir -p $box/lower $box/upper $box/work $box/merged
    head -c 4194304 /dev/urandom > $box/lower/image
    mount -t overlay -o lowerdir=$box/lower,upperdir=$box/upper,workdir=$box/work overlay $box/merged
    sync
    systemctl start --no-block database sensor hungry
    systemd-run --quiet --scope --unit=docker-4f1c0e5a9d0b sh /opt/who/programs.sh container &
    sleep $WARM
    ls -l /sys/fs/cgroup /sys/fs/cgroup/system.slice > /run/who/groups
    cat /sys/fs/cgroup/cgroup.subtree_control >> /run/who/groups
    find / -xdev -printf '%i %y %p\n' > /run/who/before
    (while sleep 12; do systemctl start upgrade; done) &
    lib=/opt/who/lib
    cp /opt/who/cardproof /run/who/cardproof
    $lib/ld-linux-x86-64.so.2 --library-path $lib /run/who/cardproof watch --who / --time "$WATCH" --json \
      > /run/who/who.json 2> /run/who/said
    find / -xdev -printf '%i %y %p\n' > /run/who/after
    echo 0 > /sys/kernel/tracing/tracing_on
    cat /sys/kernel/tracing/per_cpu/cpu*/stats > /run/who/stats
    cat /sys/kernel/tracing/trace > /run/who/trace
    cat /proc/self/mountinfo /proc/swaps /proc/vmstat > /run/who/system
    tar -c -f /dev/vdc -C /run/who who.json said before after stats trace groups system
    sync
    stty -F /dev/ttyS1 raw -echo
    echo LABORATORY-IS-DONE > /dev/ttyS1
    poweroff -f
    ;;
esac
