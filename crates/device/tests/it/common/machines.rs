//! The machines that the first look is tried on.

use super::Tree;

const PI_CPUS: &str = "
    online 0-3
    cpu0/cpufreq/scaling_governor ondemand
    cpu1/cpufreq/scaling_governor ondemand
    cpu2/cpufreq/scaling_governor ondemand
    cpu3/cpufreq/scaling_governor ondemand
    cpufreq/ondemand/sampling_rate 10000
";

/// What all machines have, private things included.
fn host(tree: &Tree, release: &str, arch: &str, mem_kib: u64) {
    tree.file("proc/sys/kernel/ostype", "Linux\n")
        .file("proc/sys/kernel/osrelease", format!("{release}\n"))
        .file("proc/sys/kernel/arch", format!("{arch}\n"))
        .file("proc/sys/kernel/hostname", "SECRET-host\n")
        .file("etc/hostname", "SECRET-host\n")
        .file("proc/meminfo", format!("MemTotal:  {mem_kib:>12} kB\nMemFree:  1 kB\n"));
}

fn pi(model: &str) -> Tree {
    let tree = Tree::new();
    host(&tree, "6.12.34+rpt-rpi-v8", "aarch64", 3_884_360);
    tree.files("sys/devices/system/cpu", PI_CPUS)
        .file("proc/device-tree/model", format!("{model}\0"))
        .file("proc/device-tree/serial-number", "SECRET1000000012345678\0");
    tree
}

const CARD_QUEUE: &str = "
    queue/scheduler none [mq-deadline] kyber
    queue/nr_requests 64
    queue/read_ahead_kb 128
    queue/write_cache write through
    queue/rotational 0
    removable 0
";

pub(crate) const PI4_CARD: &str =
    "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";

/// A Raspberry Pi 4 that boots from an SD card; `root_number` is that of its root partition.
pub(crate) fn pi4_with_sd_card(root_number: &str) -> Tree {
    let tree = pi("Raspberry Pi 4 Model B Rev 1.4");
    let card = PI4_CARD.strip_suffix("/block/mmcblk0").unwrap();
    tree.files(
        card,
        "type SD
         name SD32G
         manfid 0x000003
         oemid 0x5344
         serial 0xSECRET01
         cid SECRET035344534433324785SECRET0100e600
         date 08/2019",
    )
    .block(PI4_CARD, "179:0", 62_333_952)
    .files(PI4_CARD, CARD_QUEUE)
    .partition(PI4_CARD, "mmcblk0p1", "179:1", 1_048_576)
    .partition(PI4_CARD, "mmcblk0p2", root_number, 61_268_992)
    .link(&format!("{PI4_CARD}/device"), card)
    .mount(&format!(
        "27 1 {root_number} / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw,commit=600"
    ))
    .mount("40 27 179:1 / /boot/firmware rw,relatime - vfat /dev/mmcblk0p1 rw,fmask=0022")
    .swaps("");
    tree
}

pub(crate) const PI_EMMC: &str =
    "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:0001/block/mmcblk0";

/// A Raspberry Pi Compute Module 4 with soldered eMMC.
pub(crate) fn pi_with_emmc() -> Tree {
    let tree = pi("Raspberry Pi Compute Module 4 Rev 1.0");
    let card = PI_EMMC.strip_suffix("/block/mmcblk0").unwrap();
    tree.files(
        card,
        "type MMC
         name BJTD4R
         manfid 0x000015
         oemid 0x0100
         serial 0xSECRET02
         prv 0x0",
    )
    .block(PI_EMMC, "179:0", 61_071_360)
    .files(PI_EMMC, CARD_QUEUE)
    .file(&format!("{PI_EMMC}/queue/write_cache"), "write back\n")
    .link(&format!("{PI_EMMC}/device"), card)
    .block(&format!("{PI_EMMC}/mmcblk0boot0"), "179:32", 8_192)
    .file(&format!("{PI_EMMC}/mmcblk0boot0/force_ro"), "1\n");
    tree
}

pub(crate) const USB_STICK: &str = "sys/devices/platform/soc/3f980000.usb/usb1/1-1/1-1.2/1-1.2:1.0/\
                             host0/target0:0:0/0:0:0:0/block/sda";

/// A Raspberry Pi 3 with a stick behind its USB 2 hub.
pub(crate) fn usb_stick_on_usb2() -> Tree {
    let tree = pi("Raspberry Pi 3 Model B Plus Rev 1.3");
    let hub = "sys/devices/platform/soc/3f980000.usb/usb1/1-1";
    let stick = format!("{hub}/1-1.2");
    let unit = USB_STICK.strip_suffix("/block/sda").unwrap();
    tree.files(hub, "speed 480\nidVendor 0424\nidProduct 2514")
        .files(
            &stick,
            "speed 480
             idVendor 0781
             idProduct 5581
             serial SECRET4C530001230405
             product Ultra",
        )
        .link(&format!("{stick}/1-1.2:1.0/driver"), "sys/bus/usb/drivers/usb-storage")
        .file("sys/bus/usb/drivers/usb-storage/module", "")
        .files(unit, "model Ultra\nvendor SanDisk\nrev 1.00\nvpd_pg80 SECRET4C530001230405")
        .block(USB_STICK, "8:0", 120_164_352)
        .partition(USB_STICK, "sda1", "8:1", 120_162_304)
        .link(&format!("{USB_STICK}/device"), unit)
        .files(
            USB_STICK,
            "removable 1
             queue/scheduler none [mq-deadline] kyber
             queue/nr_requests 2
             queue/read_ahead_kb 128
             queue/write_cache write through
             queue/rotational 1",
        );
    tree
}

fn laptop() -> Tree {
    let tree = Tree::new();
    host(&tree, "6.12.48-amd64", "x86_64", 16_123_456);
    tree.files(
        "sys/class/dmi/id",
        "sys_vendor LENOVO
         product_name 20XWCTO1WW
         product_serial SECRETPF12345
         board_serial SECRETL1HF",
    )
    .files(
        "sys/devices/system/cpu",
        "online 0-7
         cpu0/cpufreq/scaling_governor powersave
         cpu4/cpufreq/scaling_governor performance",
    );
    tree
}

pub(crate) const NVME: &str = "sys/devices/pci0000:00/0000:00:1d.0/0000:04:00.0/nvme/nvme0/nvme0n1";
pub(crate) const CRYPT: &str = "sys/devices/virtual/block/dm-0";

/// A laptop whose NVMe disk holds btrfs in LUKS.
pub(crate) fn nvme_with_luks_and_btrfs() -> Tree {
    let tree = laptop();
    let controller = NVME.strip_suffix("/nvme0n1").unwrap();
    let function = "sys/devices/pci0000:00/0000:00:1d.0/0000:04:00.0";
    tree.files(function, "current_link_speed 8.0 GT/s PCIe\ncurrent_link_width 4")
        .files(
            controller,
            "model SAMSUNG MZVL2512HCJQ-00B00
             serial SECRETS675NX0R
             transport pcie",
        )
        .block(NVME, "259:0", 1_000_215_216)
        .partition(NVME, "nvme0n1p1", "259:1", 1_048_576)
        .partition(NVME, "nvme0n1p2", "259:2", 999_164_592)
        .link(&format!("{NVME}/device"), controller)
        .files(
            NVME,
            "removable 0
             queue/scheduler [none] mq-deadline
             queue/nr_requests 1023
             queue/read_ahead_kb 128
             queue/write_cache write back
             queue/rotational 0",
        )
        .block(CRYPT, "253:0", 999_131_824)
        .files(
            CRYPT,
            "dm/uuid CRYPT-LUKS2-SECRET0a1b2c3d-SECRET-host-root
             dm/name SECRET-host-root
             queue/read_ahead_kb 128
             queue/rotational 0",
        )
        .stack(CRYPT, &format!("{NVME}/nvme0n1p2"))
        .mount("29 1 8:77 / / rw - ext4 /dev/elsewhere rw")
        .mount(
            "30 29 0:33 /@home /proc rw,relatime - btrfs /dev/mapper/SECRET-host-root \
             rw,compress=zstd:3,space_cache=v2,subvolid=257,subvol=/@SECRET",
        );
    tree
}

/// The same disk as a namespace of an NVMe subsystem, as kernels with multipath show it.
pub(crate) fn nvme_in_a_subsystem() -> Tree {
    let tree = laptop();
    let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    let function = "sys/devices/pci0000:00/0000:00:1d.0/0000:04:00.0";
    let namespace = format!("{subsystem}/nvme0n1");
    tree.files(function, "current_link_speed 16.0 GT/s PCIe\ncurrent_link_width 1")
        .files(&format!("{function}/nvme/nvme0"), "transport pcie")
        .link(&format!("{subsystem}/nvme0"), &format!("{function}/nvme/nvme0"))
        .files(subsystem, "model WD_BLACK SN770\nserial SECRET21")
        .block(&namespace, "259:0", 976_773_168)
        .link(&format!("{namespace}/device"), subsystem);
    tree
}

/// A SATA disk in an array with one behind a USB 3 bridge.
pub(crate) fn array_of_sata_and_usb3() -> Tree {
    let tree = laptop();
    let port = "sys/devices/pci0000:00/0000:00:17.0/ata1";
    let sata = format!("{port}/host0/target0:0:0/0:0:0:0");
    let bridge = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1";
    let usb = format!("{bridge}/2-1:1.0/host4/target4:0:0/4:0:0:0");
    let array = "sys/devices/virtual/block/md0";
    tree.file(&format!("{port}/link1/ata_link/link1/sata_spd"), "6.0 Gbps\n")
        .files(&sata, "model CT500MX500SSD1\nvendor ATA")
        .block(&format!("{sata}/block/sda"), "8:0", 976_773_168)
        .link(&format!("{sata}/block/sda/device"), &sata)
        .files(bridge, "speed 5000\nidVendor 152d\nidProduct 0578\nserial SECRETDB9876")
        .link(&format!("{bridge}/2-1:1.0/driver"), "sys/bus/usb/drivers/uas")
        .file("sys/bus/usb/drivers/uas/module", "")
        .files(&usb, "model Generic\nvendor JMicron")
        .block(&format!("{usb}/block/sdb"), "8:16", 976_773_168)
        .link(&format!("{usb}/block/sdb/device"), &usb)
        .block(array, "9:0", 976_640_000)
        .files(array, "md/level raid1\nqueue/rotational 0")
        .stack(array, &format!("{sata}/block/sda"))
        .stack(array, &format!("{usb}/block/sdb"));
    tree
}

pub(crate) const LOOP: &str = "sys/devices/virtual/block/loop7";

/// A virtual machine with a loop device over a file.
pub(crate) fn virtual_machine_with_loop() -> Tree {
    let tree = Tree::new();
    host(&tree, "6.18.44-vm", "x86_64", 24_684_100);
    let disk = "sys/devices/pci0000:00/0000:00:02.0/virtio1";
    let vda = format!("{disk}/block/vda");
    tree.files("sys/devices/system/cpu", "online 0-1")
        .files(
            "sys/class/dmi/id",
            "sys_vendor QEMU
             product_name Standard PC (Q35 + ICH9, 2009)
             product_uuid SECRET",
        )
        .file(&format!("{disk}/vendor"), "0x1af4\n")
        .block(&vda, "254:0", 536_870_912)
        .link(&format!("{vda}/device"), disk)
        .files(
            &vda,
            "serial SECRET-serial
             removable 0
             queue/scheduler none [mq-deadline] kyber bfq
             queue/nr_requests 256
             queue/read_ahead_kb 8192
             queue/write_cache write back
             queue/rotational 1",
        )
        .block(LOOP, "7:7", 131_072)
        .files(
            LOOP,
            "removable 0
             loop/backing_file /home/SECRET/disk image.img
             queue/scheduler [none] mq-deadline
             queue/nr_requests 128
             queue/read_ahead_kb 128
             queue/write_cache write back
             queue/rotational 0",
        )
        .mount("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard")
        .swaps("");
    tree
}

/// A machine that keeps compressed memory as a block device.
pub(crate) fn zram() -> Tree {
    let tree = pi("Raspberry Pi Zero 2 W Rev 1.0");
    let zram = "sys/devices/virtual/block/zram0";
    tree.block(zram, "253:0", 524_288).files(
        zram,
        "removable 0
         comp_algorithm lzo [zstd]
         queue/read_ahead_kb 128
         queue/write_cache write through
         queue/rotational 0",
    );
    tree
}

/// A card whose every file is garbage.
pub(crate) fn garbage() -> Tree {
    let tree = pi4_with_sd_card("179:2");
    let card = PI4_CARD.strip_suffix("/block/mmcblk0").unwrap();
    let invalid_utf8 = b"\xff\xfe\xc0".as_slice();
    tree.file(&format!("{card}/type"), "SDIOtype\n")
        .file(&format!("{card}/name"), invalid_utf8)
        .file(&format!("{card}/manfid"), "")
        .file(&format!("{card}/oemid"), "\x1b[31m")
        .file(&format!("{PI4_CARD}/size"), "18446744073709551615\n")
        .file(&format!("{PI4_CARD}/removable"), "maybe\n")
        .file(&format!("{PI4_CARD}/queue/rotational"), "2\n")
        .file(&format!("{PI4_CARD}/queue/scheduler"), invalid_utf8)
        .file(&format!("{PI4_CARD}/queue/nr_requests"), "-1\n")
        .file(&format!("{PI4_CARD}/queue/read_ahead_kb"), "18014398509481984\n")
        .file(&format!("{PI4_CARD}/queue/write_cache"), "write sideways\n")
        .file("proc/device-tree/model", "\0\0")
        .files("sys/class/dmi/id", "product_name To Be Filled By O.E.M.")
        .file("proc/sys/kernel/osrelease", invalid_utf8)
        .file("proc/sys/kernel/arch", "\n")
        .file("proc/meminfo", "MemTotal: 99999999999999999999 kB\n")
        .file("proc/self/mountinfo", b"\xff\xff\n27 x\n 179:2 / /\n- - -\n".as_slice())
        .file("sys/devices/system/cpu/online", "3-0\n");
    for cpu in 0..4 {
        tree.file(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), "\0");
    }
    tree
}
