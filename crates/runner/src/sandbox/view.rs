//! The file system that a program sees: a root of its own, made of read-only views and one fresh folder.

use super::{inside::Stage, orders::Orders};
use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
    sys::statvfs::{FsFlags, statvfs},
    unistd::{chdir, pivot_root},
};
use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::{MetadataExt, symlink},
    path::{Component, Path, PathBuf},
};

/// The folder that a program starts in, and the only one that it can write.
pub(super) const WORK: &str = "/scratch";
/// The name of the program's user inside.
pub(super) const INSIDE_ID: u32 = 1000;

/// Where the new root is put together: nothing that is shown lies there.
const BASE: &str = "/proc";
/// Programs and libraries of the system, where they are.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
/// What programs need of the system's settings: how libraries are found, time zones, words of languages. No
/// passwords, no names of machines.
const SETTINGS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/R",
    "/etc/fonts",
    "/etc/python3",
    "/etc/java",
    "/etc/perl",
    "/etc/julia",
    "/etc/magic",
];
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Is the path one that every program sees?
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Put the root together and move into it. The old one is gone afterwards.
pub(super) fn enter(orders: &Orders, owner: Option<u32>) -> Result<(), Stage> {
    let still: Option<&str> = None;
    mount(still, "/", still, MsFlags::MS_REC | MsFlags::MS_PRIVATE, still).map_err(Stage::at("mounts"))?;
    let below = mount_points();
    tmpfs(BASE, "size=1m,nr_inodes=8k,mode=755").map_err(Stage::at("mounts"))?;
    for path in SYSTEM.iter().chain(SETTINGS).map(Path::new) {
        show_if_there(path, &below)?;
    }
    own_files(orders, owner)?;
    for (from, to) in &orders.shown {
        show(from, to, &below)?;
    }
    for path in &orders.hidden {
        cover(path)?;
    }
    devices(orders.proc)?;
    if orders.proc {
        processes();
    }
    close_root()
}

/// Where file systems are mounted now, so that those below a folder that is shown become read-only too.
fn mount_points() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let point = |line: &str| line.split(' ').nth(4).map(|path| PathBuf::from(path.replace("\\040", " ")));
    text.lines().filter_map(point).collect()
}

/// The same path under the new root.
fn inside(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
    parts.fold(PathBuf::from(BASE), |all, part| all.join(part))
}

fn show_if_there(path: &Path, below: &[PathBuf]) -> Result<(), Stage> {
    match fs::symlink_metadata(path) {
        Ok(kind) if kind.is_symlink() => {
            let to = fs::read_link(path).map_err(Stage::of("a link", path))?;
            let place = inside(path);
            make_folder(place.parent().unwrap_or(Path::new(BASE)))?;
            symlink(to, &place).map_err(Stage::of("a link", path))
        }
        Ok(_) => show(path, path, below),
        Err(_) => Ok(()),
    }
}

/// Show a file or folder, read-only.
fn show(from: &Path, to: &Path, below: &[PathBuf]) -> Result<(), Stage> {
    let place = inside(to);
    let kind = fs::metadata(from).map_err(Stage::of("a path to show", from))?;
    if fs::metadata(&place).is_ok_and(|there| there.dev() == kind.dev() && there.ino() == kind.ino()) {
        // It is seen already, as part of a folder.
        return Ok(());
    }
    if !stays_inside(&place) {
        // A link leads to it, and what the link leads to is shown where it lies.
        return Ok(());
    }
    if kind.is_dir() {
        make_folder(&place)?;
    } else {
        make_folder(place.parent().unwrap_or(Path::new(BASE)))?;
        fs::write(&place, "").map_err(Stage::of("a path to show", from))?;
    }
    let still: Option<&str> = None;
    mount(Some(from), &place, still, MsFlags::MS_BIND | MsFlags::MS_REC, still)
        .map_err(Stage::of("a path to show", from))?;
    read_only(&place, MsFlags::MS_NODEV)?;
    for point in below {
        if let Ok(rest) = point.strip_prefix(from)
            && rest != Path::new("")
        {
            read_only(&place.join(rest), MsFlags::MS_NODEV)?;
        }
    }
    Ok(())
}

/// Does no link on the way lead out of the new root? The links in it still mean the old one.
fn stays_inside(place: &Path) -> bool {
    let there = place.ancestors().find(|path| path.symlink_metadata().is_ok());
    there.is_some_and(|path| path.canonicalize().is_ok_and(|real| real == path))
}

fn make_folder(path: &Path) -> Result<(), Stage> {
    fs::create_dir_all(path).map_err(Stage::of("a folder of the view", path))
}

/// Make a mount read-only and deaf to set-user-id bits, keeping what the system already forbids there.
fn read_only(place: &Path, also: MsFlags) -> Result<(), Stage> {
    let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | also;
    let now = match statvfs(place) {
        Ok(now) => now.flags(),
        // A mount below that the user may not even look at cannot be looked at inside either.
        Err(nix::errno::Errno::EACCES) => return Ok(()),
        Err(error) => return Err(Stage::of("a read-only view", place)(error)),
    };
    for (has, keep) in [
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ] {
        if now.contains(has) {
            flags |= keep;
        }
    }
    let still: Option<&str> = None;
    mount(still, place, still, flags, still).map_err(Stage::of("a read-only view", place))
}

/// Cover a file or folder with an empty one, if it can be seen.
fn cover(path: &Path) -> Result<(), Stage> {
    let place = inside(path);
    let still: Option<&str> = None;
    match fs::metadata(&place) {
        Ok(kind) if kind.is_dir() => {
            tmpfs(&place, "size=4k,mode=555,ro").map_err(Stage::of("a path to hide", path))
        }
        Ok(_) => {
            let empty = Path::new(BASE).join(".empty");
            fs::write(&empty, "").map_err(Stage::of("a path to hide", path))?;
            mount(Some(&empty), &place, still, MsFlags::MS_BIND, still)
                .map_err(Stage::of("a path to hide", path))?;
            read_only(&place, MsFlags::MS_NODEV)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // What cannot be looked at from here cannot be shown not to be there.
        Err(error) => Err(Stage::of("a path to hide", path)(error)),
    }
}

fn tmpfs(place: impl AsRef<Path>, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), place.as_ref(), Some("tmpfs"), flags, Some(options))
}

/// The devices that hold no state. Read-only: not even their times can be touched, which all blocks would see.
fn devices(with_proc: bool) -> Result<(), Stage> {
    make_folder(&inside(Path::new("/dev")))?;
    let still: Option<&str> = None;
    for path in DEVICES.iter().map(Path::new) {
        let place = inside(path);
        fs::write(&place, "").map_err(Stage::of("a device", path))?;
        mount(Some(path), &place, still, MsFlags::MS_BIND, still).map_err(Stage::of("a device", path))?;
        read_only(&place, MsFlags::MS_NOEXEC)?;
    }
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("shm", WORK),
    ];
    for (name, to) in links.into_iter().filter(|(_, to)| with_proc || !to.starts_with("/proc")) {
        let path = Path::new("/dev").join(name);
        symlink(to, inside(&path)).map_err(Stage::of("a device", &path))?;
    }
    Ok(())
}

/// Only where it is asked for: it counts processes and numbers files for the whole machine. Only the block's own processes; no load, no memory, no statistics of the machine. Where the kernel cannot show so
/// little, it shows nothing.
fn processes() {
    let place = inside(Path::new("/proc"));
    if fs::create_dir(&place).is_ok() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(Some("proc"), &place, Some("proc"), flags, Some("subset=pid"));
    }
}

/// The scratch folder, also under the names of temporary folders, and a list of users with one entry.
fn own_files(orders: &Orders, owner: Option<u32>) -> Result<(), Stage> {
    let work = inside(Path::new(WORK));
    make_folder(&work)?;
    let owned = owner.map_or(String::new(), |id| format!(",uid={id},gid={id}"));
    let options = format!("size={},nr_inodes=64k,mode=700{owned}", orders.limits.scratch);
    tmpfs(&work, &options).map_err(Stage::at("scratch folder"))?;
    let still: Option<&str> = None;
    for name in ["/tmp", "/var/tmp"] {
        let place = inside(Path::new(name));
        make_folder(&place)?;
        mount(Some(&work), &place, still, MsFlags::MS_BIND, still).map_err(Stage::at("scratch folder"))?;
    }
    let id = owner.unwrap_or(INSIDE_ID);
    for (name, text) in [
        ("/etc/passwd", format!("block:x:{id}:{id}::{WORK}:/bin/sh\n")),
        ("/etc/group", format!("block:x:{id}:\n")),
    ] {
        let path = inside(Path::new(name));
        make_folder(path.parent().unwrap_or(Path::new(BASE)))?;
        fs::write(&path, text).map_err(Stage::of("a file of the view", &path))?;
    }
    Ok(())
}

fn close_root() -> Result<(), Stage> {
    read_only(Path::new(BASE), MsFlags::MS_NODEV)?;
    chdir(BASE).map_err(Stage::at("root"))?;
    pivot_root(".", ".").map_err(Stage::at("root"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(Stage::at("root"))?;
    chdir("/").map_err(Stage::at("root"))
}
