//! Programs that try to leak, stall, remember or break out. None changes more than its own block's vote.
//!
//! Every test runs twice where it can: as the user who runs the tests, and again as an ordinary user where that is root. A
//! kernel that lacks a layer must show it: then the refusal is what is tested.

use equipoise_runner::{
    Pace, Program, Refusal, Run, Sandbox,
    sandbox::{Input, Limits},
};
use std::{
    env, fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// Where the keeper lies; the copy for an ordinary user lies elsewhere.
fn keeper() -> PathBuf {
    env::var_os("EQUIPOISE_TEST_KEEPER").map_or(env!("CARGO_BIN_EXE_equipoise-sandbox").into(), PathBuf::from)
}

/// A run of one Python script, with times that no loaded machine misses.
fn python(script: &str) -> Run<'static> {
    // An interpreter that everybody can read: one in somebody's home needs that home.
    let name = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    let program = Program::new(name, &["-c", script]).expect("python3 is needed for these tests");
    Run {
        programs: vec![program],
        pace: Pace::UpTo(Duration::from_mins(2)),
        ..Run::new(Sandbox::kept_by(keeper()))
    }
}

fn shell(script: &str) -> Run<'static> {
    let program = Program::new("sh", &["-c", script]).expect("a shell");
    Run { programs: vec![program], ..python("") }
}

/// Can sandboxes be built here? If not, that is shown, and the refusal is the test.
fn refused() -> Option<Refusal> {
    let refusal = shell("true").rehearse(b"").err()?;
    let unshare = if nix_root() { "-mpnif" } else { "-Urmpnif" };
    let namespaces = Command::new("unshare").args([unshare, "true"]).status();
    let landlock = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_else(|_| "landlock".to_string());
    let absent = !namespaces.is_ok_and(|status| status.success()) || !landlock.contains("landlock");
    assert!(absent, "the kernel has every layer, but: {refusal}");
    let text = refusal.to_string();
    assert!(
        text.starts_with("the sandbox cannot be built here") && text.contains("`unsafe_no_sandbox`"),
        "{text}"
    );
    assert!(!text.contains('\n'), "{text}");
    Some(refusal)
}

fn nix_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// The answers of a run on blocks of this text.
fn answers(run: &Run, blocks: &[&str]) -> Vec<Option<String>> {
    let block = |index: usize| blocks[index].as_bytes().to_vec();
    run.answers(blocks.len(), block, |printed| Some(String::from_utf8_lossy(printed).trim().to_string()))
}

/// On this block the program answers this; or sandboxes cannot be built here, which was shown.
fn answers_with(run: &Run, block: &str, due: &str) {
    if refused().is_none() {
        run.rehearse(b"").expect("it starts");
        assert_eq!(answers(run, &[block]), [Some(due.to_string())]);
    }
}

/// A script that prints "held" where each attempt fails, and what succeeded otherwise.
fn held(attempts: &str) {
    for proc in [false, true] {
        held_with(attempts, proc);
    }
}

fn held_with(attempts: &str, proc: bool) {
    let script = format!(
        "import os, sys, ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\nwon = []\n\
         def attempt(name, act):\n\
         \x20   try:\n        got = act()\n    except Exception:\n        return\n\
         \x20   won.append(name + ': ' + repr(got)[:60])\n\
         def call(number, *arguments):\n\
         \x20   if libc.syscall(number, *arguments) == -1: raise OSError(ctypes.get_errno(), 'refused')\n\
         \x20   return 'done'\n{attempts}\nprint('; '.join(won) or 'held')\n"
    );
    let mut run = python(&script);
    run.sandbox.proc = proc;
    answers_with(&run, "a\n1\n", "held");
}

#[test]
fn answers_come_in_order_and_failures_are_nothing() {
    if refused().is_some() {
        return;
    }
    let run = python(
        "import sys\nrows = sys.stdin.read().split()\n\
         if rows[1] == 'bad': sys.exit(3)\nif rows[1] == 'odd': raise ValueError(rows)\nprint(len(rows), rows[1])",
    );
    let found = answers(&run, &["a\n1\n", "a\nbad\n", "a\n2\n3\n", "a\nodd\n", "a\n4\n"]);
    let text = |text: &str| Some(text.to_string());
    assert_eq!(found, [text("2 1"), None, text("3 2"), None, text("2 4")]);
}

#[test]
fn several_programs_take_blocks_in_turn() {
    if refused().is_some() {
        return;
    }
    let mut run = shell("echo one");
    run.programs.extend(shell("echo two").programs);
    let found = answers(&run, &[""; 5]);
    assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), ["one", "two", "one", "two", "one"]);
}

#[test]
fn a_block_can_be_a_file() {
    let mut run = shell("cat block.csv; cat; wc -l < block.csv");
    run.sandbox.input = Input::CsvFile;
    answers_with(&run, "a\n1\n", "a\n1\n2");
    let mut run = shell("cat block.arrow; cat");
    run.sandbox.input = Input::ArrowFile;
    answers_with(&run, "bytes", "bytes");
}

#[test]
fn the_block_can_be_read_twice_and_not_changed() {
    let script = "import os\na = os.read(0, 100)\nos.lseek(0, 0, 0)\nb = os.read(0, 100)\n\
                  try:\n    os.write(0, b'x')\n    print('changed')\n\
                  except OSError: print(a == b == b'a\\n1\\n')";
    answers_with(&python(script), "a\n1\n", "True");
    // The same by its names, where there is a /proc.
    let script = "import os\na = open('/dev/stdin').read()\nb = open('/dev/stdin').read()\n\
                  try:\n    os.write(os.open('/proc/self/fd/0', os.O_RDWR), b'x')\n    print('changed')\n\
                  except OSError: print(a == b == 'a\\n1\\n')";
    let mut run = python(script);
    run.sandbox.proc = true;
    answers_with(&run, "a\n1\n", "True");
}

#[test]
fn there_is_no_network_and_no_socket() {
    held(
        "import socket\n\
         attempt('tcp', lambda: socket.create_connection(('127.0.0.1', 22), 1))\n\
         attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n\
         attempt('unix', lambda: socket.socket(socket.AF_UNIX))\n\
         attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))\n\
         attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))\n\
         attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))\n\
         attempt('interfaces', lambda: open('/sys/class/net/lo/address').read())\n\
         attempt('resolve', lambda: socket.getaddrinfo('example.org', 80))",
    );
}

#[test]
fn the_ledger_the_data_and_homes_are_not_there() {
    let folder = shared_folder();
    let (data, ledger) = (folder.path().join("data.csv"), folder.path().join("equipoise.ledger"));
    for path in [&data, &ledger] {
        fs::write(path, "secret").expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("readable by all");
    }
    let script = format!(
        "for path in [{data:?}, {ledger:?}, '/etc/shadow', '/etc/hostname', '/root/.profile', '/proc/1/root/root',\n\
         \x20            '/dev/mem', '/dev/kmsg', '/dev/tty', '/dev/vda', '/run/dbus/system_bus_socket', '/var/log/syslog']:\n\
         \x20   attempt(path, lambda: open(path).read(1))\n\
         for path in ['/home', '/root', '/run', '/srv', '/mnt', '/sys', '/boot', {folder:?}]:\n\
         \x20   attempt(path, lambda: os.listdir(path))\n\
         attempt('up', lambda: open('../../..' + {data:?}).read())\n\
         if os.listdir('/tmp'): won.append('/tmp: ' + repr(os.listdir('/tmp')))",
        folder = folder.path(),
    );
    held(&script);
}

#[test]
fn data_in_a_folder_of_the_program_is_refused_and_in_a_folder_of_the_system_covered() {
    let folder = shared_folder();
    let data = folder.path().join("data.csv");
    fs::write(&data, "secret").expect("a file");
    let mut run = shell("true");
    run.sandbox.hide(&data);
    run.sandbox.show(folder.path()).expect("a folder");
    let refusal = run.rehearse(b"").expect_err("data is in it").to_string();
    assert!(refusal.contains("data and ledger never enter the sandbox"), "{refusal}");
    let mut run = Run { programs: vec![Program::new("cat", &[&data]).unwrap()], ..shell("true") };
    run.sandbox.hide(&data);
    assert!(run.rehearse(b"").is_err());
    // The same file by another name, and a ledger that is yet to be made.
    let (others, link) = (shared_folder(), folder.path().join("data.csv"));
    fs::hard_link(&link, others.path().join("innocent")).expect("a link");
    let mut run = shell("true");
    run.sandbox.hide(&data);
    run.sandbox.show(others.path()).expect("a folder");
    let refusal = run.rehearse(b"").expect_err("data is in it").to_string();
    assert!(refusal.contains("under another name"), "{refusal}");
    let mut run = shell("true");
    run.sandbox.hide(&folder.path().join("./new.ledger"));
    run.sandbox.show(folder.path()).expect("a folder");
    assert!(run.rehearse(b"").is_err(), "a ledger that the run would make");
    // As if the data lay among the programs of the system.
    let mut run = shell("cat /usr/bin/env | wc -c; ls -la /usr/bin/env >/dev/null && echo there");
    run.sandbox.hide(Path::new("/usr/bin/env"));
    answers_with(&run, "", "0\nthere");
}

#[test]
fn files_that_are_shown_can_be_read_and_nothing_can_be_written_but_in_scratch() {
    let folder = shared_folder();
    let file = folder.path().join("model.txt");
    fs::write(&file, "weights").expect("a file");
    for path in [folder.path(), &file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("writable by all");
    }
    let script = format!(
        "import os\nprint(open({file:?}).read())\nopen('mine', 'w').write('x')\nopen('/tmp/also', 'w').write('x')\n\
         open('/dev/shm/too', 'w').write('x')\n\
         for path in [{file:?}, {new:?}, '/usr/bin/new', '/etc/new', '/new', '/dev/new', '/usr/bin/env', '/var/new']:\n\
         \x20   try:\n        open(path, 'a').write('x')\n        print('wrote', path)\n    except OSError: pass\n\
         for act in [lambda: os.chmod({file:?}, 0o777), lambda: os.utime({file:?}), lambda: os.utime('/dev/null'),\n\
         \x20           lambda: os.rename({file:?}, {new:?}), lambda: os.link({file:?}, '/wo' 'rk/link'),\n\
         \x20           lambda: os.remove({file:?}), lambda: os.setxattr({file:?}, 'user.a', b'b'),\n\
         \x20           lambda: os.mkdir('/dev/folder'), lambda: os.truncate({file:?}, 0)]:\n\
         \x20   try:\n        act()\n        print('changed')\n    except OSError: pass\nprint('end')",
        new = folder.path().join("new"),
    );
    let mut run = python(&script);
    run.sandbox.show(folder.path()).expect("a folder");
    answers_with(&run, "", "weights\nend");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "weights");
}

#[test]
fn nothing_is_remembered_from_block_to_block() {
    let script = "import os, sys, ctypes\nfound = []\nlibc = ctypes.CDLL(None, use_errno=True)\n\
        places = ['/tmp/note', '/dev/shm/note', '/var/tmp/note', '/wo' 'rk/note', os.path.expanduser('~/note')]\n\
        found += [p for p in places if os.path.exists(p)]\nfor p in places:\n    try: open(p, 'w').write('x')\n    except OSError: pass\n\
        if libc.shmget(0x1234, 4096, 0o1666) != -1 and not libc.shmget(0x1234, 4096, 0o3666) != -1: found.append('shm')\n\
        # A key of this user, and of its session.\n\
        for ring in [-3, -4, -5]:\n\
        \x20   if libc.syscall(249, b'user', b'note', 0, ring) > 0: found.append('key')\n\
        \x20   libc.syscall(248, b'user', b'note', b'x', 1, ring)\n\
        if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time\n        time.sleep(1000)\n    os._exit(0)\n\
        print(found or 'nothing')";
    let run = Run { serial: true, ..python(script) };
    if refused().is_none() {
        assert_eq!(answers(&run, &["", "", ""]), vec![Some("nothing".to_string()); 3]);
    }
}

#[test]
fn daemons_die_with_their_block() {
    if refused().is_some() {
        return;
    }
    let mark = format!("77{}", std::process::id());
    let run = shell(&format!(
        "setsid sh -c 'sleep {mark} & sleep {mark}' >/dev/null 2>&1 & sleep 0.3; echo started"
    ));
    assert_eq!(answers(&run, &[""]), [Some("started".to_string())]);
    assert!(!somebody_sleeps(&mark), "a process outlived its block");
}

fn somebody_sleeps(mark: &str) -> bool {
    let mut entries = fs::read_dir("/proc").expect("/proc");
    entries.any(|entry| {
        let path = entry.expect("an entry").path().join("cmdline");
        fs::read(path).is_ok_and(|line| line.starts_with(format!("sleep\0{mark}").as_bytes()))
    })
}

#[test]
fn other_processes_and_the_machine_are_not_seen() {
    held(
        "for path in ['loadavg', 'stat', 'meminfo', 'cpuinfo', 'uptime', 'vmstat', 'diskstats', 'interrupts', 'locks',\n\
         \x20            'net/tcp', 'sys/kernel/hostname', 'pressure/cpu', 'sysvipc/shm', 'keys', 'mounts/..', 'kcore', 'schedstat']:\n\
         \x20   attempt(path, lambda: open('/proc/' + path).read(1))\n\
         folder = os.listdir('/proc') if os.path.exists('/proc') else []\n\
         pids = [int(name) for name in folder if name.isdigit()]\n\
         if max(pids, default=1) > 3 or len(pids) > 1: won.append('pids ' + repr(pids))\n\
         attempt('parent', lambda: os.kill(os.getppid() or 999999, 0))\n\
         attempt('sysinfo', lambda: call(99, ctypes.create_string_buffer(512)))\n\
         attempt('load', lambda: os.getloadavg())\n\
         attempt('syslog', lambda: call(103, 3, ctypes.create_string_buffer(512), 512))\n\
         if os.uname().nodename != 'block': won.append('name')\n\
         for file in range(3, 256):\n\
         \x20   attempt('open file %d' % file, lambda: os.fstat(file))\n\
         attempt('disk', lambda: os.statvfs('/usr'))",
    );
}

#[test]
fn common_files_carry_no_messages() {
    held(
        "import fcntl\nfd = os.open('/usr/bin/env', os.O_RDONLY)\nnull = os.open('/dev/null', os.O_RDWR)\n\
         for one in [fd, null, 0]:\n\
         \x20   attempt('flock', lambda: fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB))\n\
         \x20   attempt('lock', lambda: fcntl.lockf(one, fcntl.LOCK_EX | fcntl.LOCK_NB))\n\
         \x20   attempt('lease', lambda: fcntl.fcntl(one, 1024, 0))\n\
         \x20   attempt('notify', lambda: fcntl.fcntl(one, 1026, 1))\n\
         \x20   attempt('touch', lambda: os.utime('/proc/self/fd/%d' % one) if one != 0 else call(-1))\n\
         attempt('inotify', lambda: call(294, 0))\n\
         attempt('inotify', lambda: call(253))\n\
         attempt('fanotify', lambda: call(300, 0, 0))\n\
         attempt('cachestat', lambda: call(451, fd, 0, 0, 0))\n\
         attempt('preadv2', lambda: os.preadv(fd, [bytearray(10)], 0, 8))\n\
         attempt('fadvise', lambda: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED))\n\
         import mmap, socket\n\
         page = mmap.mmap(fd, 4096, prot=mmap.PROT_READ)\n\
         for advice in [3, 12, 20, 21, 22, 23, 25]:\n\
         \x20   attempt('madvise %d' % advice, lambda: page.madvise(advice))\n\
         one, other = socket.socketpair()\n\
         attempt('cookie', lambda: one.getsockopt(socket.SOL_SOCKET, 57, 8))\n\
         attempt('peer', lambda: one.getsockopt(socket.SOL_SOCKET, 77, 4))\n\
         attempt('pipe', lambda: fcntl.fcntl(os.pipe()[0], 1032))\n\
         attempt('buffers', lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20))\n\
         attempt('mark', lambda: one.setsockopt(socket.SOL_SOCKET, 36, 1))\n\
         attempt('pidfd by clone', lambda: call(56, 0x1000 | 17, 0, ctypes.create_string_buffer(8), 0, 0))\n\
         for name in ['fdinfo/0', 'status', 'stat', 'mountinfo', 'oom_score', 'maps', 'schedstat']:\n\
         \x20   attempt(name, lambda: open('/proc/self/' + name).read(1))\n\
         attempt('memfd', lambda: os.memfd_create('x'))\n\
         attempt('queue', lambda: call(240, b'x', 66, 0o600, 0))\n\
         attempt('semaphores', lambda: call(64, 1, 1, 0o1666))",
    );
}

#[test]
fn there_is_no_way_up() {
    held(
        "attempt('ptrace parent', lambda: call(101, 16, os.getppid() or 2, 0, 0))\n\
         attempt('ptrace self', lambda: call(101, 0, 0, 0, 0))\n\
         attempt('unshare', lambda: call(272, 0x10000000))\n\
         attempt('namespace by clone', lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))\n\
         attempt('clone3', lambda: call(435, ctypes.create_string_buffer(88), 88))\n\
         attempt('setns', lambda: call(308, 0, 0))\n\
         attempt('mount', lambda: call(165, b'tmpfs', b'/work', b'tmpfs', 0, 0))\n\
         attempt('new mount', lambda: call(430, b'tmpfs', 0))\n\
         attempt('umount', lambda: call(166, b'/usr', 2))\n\
         attempt('pivot', lambda: call(155, b'/work', b'/work'))\n\
         attempt('chroot', lambda: os.chroot('/work'))\n\
         attempt('setuid', lambda: os.setuid(0))\n\
         attempt('io_uring', lambda: call(425, 1, ctypes.create_string_buffer(120)))\n\
         attempt('bpf', lambda: call(321, 0, 0, 0))\n\
         attempt('perf', lambda: call(298, 0, 0, -1, -1, 0))\n\
         attempt('userfaultfd', lambda: call(323, 0))\n\
         attempt('module', lambda: call(313, 0, b'', 0))\n\
         attempt('reboot', lambda: call(169, 0xfee1dead, 672274793, 0, 0))\n\
         attempt('handle', lambda: call(304, -100, ctypes.create_string_buffer(16), 0))\n\
         attempt('pidfd', lambda: call(434, os.getppid() or 2, 0))\n\
         attempt('vm', lambda: call(310, 1, 0, 0, 0, 0, 0))\n\
         attempt('orphan', lambda: call(157, 1, 0, 0, 0, 0))\n\
         attempt('affinity', lambda: os.sched_setaffinity(0, range(64)))\n\
         attempt('more memory', lambda: __import__('resource').setrlimit(9, (-1, -1)))\n\
         attempt('terminal', lambda: call(16, 1, 0x5412, b'x'))\n\
         caps = (ctypes.c_uint32 * 6)()\n\
         call(125, (ctypes.c_uint32 * 2)(0x20080522, 0), caps)\n\
         if caps[0] or caps[1] or caps[3] or caps[4]: won.append('rights ' + repr(list(caps)))\n\
         if os.getuid() == 0: won.append('root')",
    );
}

#[test]
fn a_set_user_id_program_gives_nothing() {
    let script =
        "su -c true </dev/null >/dev/null 2>&1 && echo root; test $(id -u) -eq 0 && echo root; echo nobody";
    answers_with(&shell(script), "", "nobody");
}

/// The attempts are real: without a sandbox most of them succeed.
#[test]
fn what_the_sandbox_closes_is_open_outside() {
    let mut run = python(
        "import os, fcntl, ctypes, socket\nlibc = ctypes.CDLL(None)\n\
         fd = os.open('/usr/bin/env', os.O_RDONLY)\nfcntl.flock(fd, fcntl.LOCK_SH)\nos.memfd_create('x')\nos.getloadavg()\n\
         open('/proc/meminfo').read()\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         assert libc.syscall(99, ctypes.create_string_buffer(512)) == 0\nassert libc.syscall(253) > 0\n\
         assert len([name for name in os.listdir('/proc') if name.isdigit()]) > 1\n\
         open('/etc/passwd').read().index('root')\nprint('open')",
    );
    run.sandbox = run.sandbox.without_protection();
    assert_eq!(answers(&run, &[""]), [Some("open".to_string())]);
}

#[test]
fn forks_and_memory_are_bounded_and_others_are_not_harmed() {
    if refused().is_some() {
        return;
    }
    let mut bomb = python(
        "import os, sys\nwhat = sys.stdin.read().strip()\n\
         if what == 'fork':\n    children = 0\n    while True:\n        try:\n            if os.fork() == 0:\n\
         \x20               import time; time.sleep(1000)\n            children += 1\n        except OSError: break\n\
         \x20   print('stopped at', children < 64)\n\
         elif what == 'memory':\n    hoard = []\n    try:\n        while True: hoard.append(bytearray(1 << 24))\n\
         \x20   except MemoryError: print('stopped at', len(hoard) < 32)\n\
         elif what == 'files':\n    try:\n        while True: open('/tmp/big', 'ab').write(b'x' * (1 << 20))\n\
         \x20   except OSError: print('stopped at', os.path.getsize('/tmp/big') <= 32 << 20)\n\
         elif what == 'threads':\n    import threading, time\n    count = 0\n    try:\n        while True:\n\
         \x20           threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); count += 1\n\
         \x20   except RuntimeError: print('stopped at', count < 64, flush=True); os._exit(0)\n\
         else: print('well')",
    );
    bomb.sandbox.limits = Limits { memory: 512 << 20, processes: 32, scratch: 32 << 20, ..Limits::default() };
    let found = answers(&bomb, &["fork", "well", "memory", "well", "files", "well", "threads", "well"]);
    for (index, answer) in found.iter().enumerate() {
        let due = if index % 2 == 1 { "well" } else { "stopped at True" };
        assert_eq!(answer.as_deref(), Some(due), "block {index}: {found:?}");
    }
}

#[test]
fn late_and_endless_answers_are_nothing_and_take_the_declared_time() {
    if refused().is_some() {
        return;
    }
    let mut run = python(
        "import sys, time, os, signal\nwhat = sys.stdin.read().strip()\n\
         if what == 'sleep':\n    print(7, flush=True); time.sleep(1000)\n\
         if what == 'deaf':\n    for s in range(1, 32):\n        try: signal.signal(s, signal.SIG_IGN)\n        except (OSError, ValueError): pass\n\
         \x20   time.sleep(1000)\n\
         if what == 'spin':\n    while True: pass\n\
         if what == 'gigabyte':\n    while True: os.write(1, b'1' * 65536)\n\
         if what == 'fails': sys.exit(1)\nif what == 'nothing': sys.exit(0)\nprint(float('nan'))",
    );
    // A second is enough for none of those that must be killed, and the two that end are not asked to.
    run.pace = Pace::Fixed(Duration::from_secs(1));
    run.serial = true;
    let begin = Instant::now();
    let found = answers(&run, &["sleep", "deaf", "spin", "gigabyte", "fails"]);
    // Never sooner than declared; how much later depends on the machine's load.
    assert!(begin.elapsed() >= run.total_time(5) && run.total_time(5) >= Duration::from_secs(5));
    assert_eq!(found, vec![None; 5]);
    run.pace = Pace::UpTo(Duration::from_mins(2));
    assert_eq!(answers(&run, &["nothing", "nan"]), [Some(String::new()), Some("nan".to_string())]);
}

/// Many processes inside calls that cannot be broken off die slowly; the run ends no sooner than declared. That the next
/// block has its whole time is a test of the schedule.
#[test]
fn a_block_that_dies_slowly_is_no_answer_and_ends_nothing_early() {
    if refused().is_some() {
        return;
    }
    let mut run = python(
        "import os\nwith open('/tmp/sparse', 'wb') as file: file.truncate(250 << 20)\n\
         fd, buffer = os.open('/tmp/sparse', os.O_RDONLY), bytearray(1 << 18)\n\
         while True:\n\
         \x20   try: os.fork()\n\
         \x20   except OSError: break\n\
         while True: os.preadv(fd, [buffer] * 1000, 0)",
    );
    run.pace = Pace::Fixed(Duration::from_secs(1));
    let begin = Instant::now();
    assert_eq!(answers(&run, &[""]), [None]);
    assert!(begin.elapsed() >= run.total_time(1));
}

#[test]
fn with_serial_no_two_blocks_run_at_the_same_time() {
    if refused().is_some() {
        return;
    }
    let script = "import time\na = time.monotonic()\ntime.sleep(0.05)\nprint(a, time.monotonic())";
    let run = Run { serial: true, ..python(script) };
    let mut times: Vec<(f64, f64)> = Vec::new();
    for found in answers(&run, &[""; 4]).into_iter().flatten() {
        let (from, to) = found.split_once(' ').expect("two moments");
        times.push((from.parse().expect("a moment"), to.parse().expect("a moment")));
    }
    assert_eq!(times.len(), 4);
    assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{times:?}");
}

/// A block that looks for another one, which runs at the same time and holds a secret in every place that it can.
#[test]
fn a_block_that_runs_beside_another_finds_nothing_of_it() {
    if refused().is_some() {
        return;
    }
    let script = "import os, sys, glob, time\nblock = sys.stdin.read()\n\
        open('/tmp/' + block.strip(), 'w').write(block)\nos.environ['SECRET'] = block\nfound = []\n\
        until = time.monotonic() + 0.5\n\
        while time.monotonic() < until:\n\
        \x20   for place in glob.glob('/proc/*/fd/*') + glob.glob('/proc/*/cwd/*') + glob.glob('/proc/*/root/tmp/*') + glob.glob('/tmp/*') + glob.glob('/dev/shm/*'):\n\
        \x20       try:\n\
        \x20           if place.split('/')[3:4] != ['fd'] or place.rsplit('/', 1)[1] == '0':\n\
        \x20               text = open(place).read(100)\n\
        \x20               if 'secret' in text and text != block: found.append(place)\n\
        \x20       except (OSError, UnicodeDecodeError): pass\n\
        \x20   for place in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n\
        \x20       try: found += [place] if 'secret' in open(place).read() else []\n\
        \x20       except OSError: pass\n\
        print(found or 'nothing')";
    for proc in [false, true] {
        let mut run = python(script);
        run.sandbox.proc = proc;
        let found = answers(&run, &["secret1", "secret2", "secret3", "secret4"]);
        assert_eq!(found, vec![Some("nothing".to_string()); 4]);
    }
}

#[test]
fn a_program_that_cannot_start_is_refused_before_anything_is_paid() {
    if refused().is_some() {
        return;
    }
    let folder = shared_folder();
    let script = folder.path().join("tool");
    fs::write(&script, "#!/no/such/interpreter\n").expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    let program = Program::new(&script, &[] as &[&str]).expect("it is there");
    let refusal =
        Run { programs: vec![program], ..shell("") }.rehearse(b"").expect_err("no interpreter").to_string();
    assert!(refusal.starts_with("'tool' cannot be started in the sandbox ("), "{refusal}");
    let refusal = shell("exec no-such-program").rehearse(b"").expect_err("nothing to run").to_string();
    assert!(refusal.contains("not found"), "{refusal}");
    // A program may fail without rows.
    let rehearsed = python("raise ValueError('no rows')").rehearse(b"").expect("it starts");
    assert_eq!(rehearsed[0].last_words.as_deref(), Some("ValueError: no rows"));
    assert_eq!(rehearsed[0].answer, None);
}

/// A module in the same sandbox: the rows of a block, and nothing from one that never ends.
#[cfg(feature = "wasm")]
#[test]
fn modules_count_rows_and_end() {
    if refused().is_some() {
        return;
    }
    let folder = shared_folder();
    let place = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("open to all");
        Program::new(&path, &[] as &[&str]).expect("a module")
    };
    let rows = place("rows.wat", include_str!("../../../examples/programs/rows.wat"));
    let endless = place("endless.wat", "(module (func (export \"_start\") (loop $l (br $l))))");
    let mut run = Run { programs: vec![rows, endless], ..shell("") };
    run.sandbox.limits.steps = 10_000_000;
    run.rehearse(b"a\n").expect("it starts");
    let text = |text: &str| Some(text.to_string());
    assert_eq!(answers(&run, &["a\n1\n2\n", "a\n", "a\n", "a\n"]), [text("2"), None, text("0"), None]);
}

#[cfg(not(feature = "wasm"))]
#[test]
fn modules_are_refused_where_they_are_not_built_in() {
    let refusal = Program::new("rows.wat", &[] as &[&str]).expect_err("not built in").to_string();
    assert!(refusal.starts_with("this build does not run WebAssembly modules"), "{refusal}");
}

/// A program that closes its output and goes on is ended in time all the same.
#[test]
fn a_closed_output_does_not_switch_off_the_clock() {
    let mut run = shell("exec >&- 2>&-; sleep 1000");
    run.pace = Pace::UpTo(Duration::from_secs(1));
    run.sandbox = run.sandbox.without_protection();
    assert_eq!(answers(&run, &[""]), [None]);
}

#[test]
fn without_protection_programs_run_all_the_same_and_leave_no_folder() {
    let mut run = shell("cat >/dev/null; pwd; test -e block.csv || echo fresh; echo x > left");
    run.sandbox = run.sandbox.without_protection();
    run.rehearse(b"").expect("it starts");
    let found = answers(&run, &["", ""]);
    let place =
        |text: &Option<String>| PathBuf::from(text.as_deref().unwrap_or("").lines().next().unwrap_or(""));
    assert!(found.iter().all(|text| text.as_deref().unwrap_or("").ends_with("fresh")), "{found:?}");
    assert!(found.iter().all(|text| !place(text).exists()), "{found:?}");
}

#[test]
fn limits_that_the_kernel_refuses_and_missing_keepers_are_one_line() {
    let run = Run { sandbox: Sandbox::kept_by("/no/such/keeper"), ..shell("true") };
    let refusal = run.rehearse(b"").expect_err("no keeper").to_string();
    assert!(refusal.starts_with("no process can be started ("), "{refusal}");
    assert!(Sandbox::found_at(&keeper()).is_ok());
    for other in ["/bin/true", "/bin/echo", "/no/such/keeper"] {
        let refusal = Sandbox::found_at(Path::new(other)).expect_err("no keeper").to_string();
        assert!(refusal.contains("is no keeper of sandboxes of version"), "{refusal}");
    }
    let run = Run { pace: Pace::UpTo(Duration::from_millis(1)), ..shell("true") };
    assert!(run.rehearse(b"").is_err());
}

/// A keeper whose starter was killed before the kernel could be asked to tell: it finds another parent, and starts nothing.
#[test]
fn a_keeper_whose_starter_has_gone_starts_nothing() {
    let folder = shared_folder();
    let trace = folder.path().join("trace");
    let start = |started_by: Option<&str>| {
        let mut command = Command::new(keeper());
        command.args(["equipoise-sandbox-keeper", "--", "/bin/touch"]).arg(&trace).env_clear();
        command.envs(started_by.map(|number| ("EQUIPOISE_STARTED_BY", number)));
        command.output().expect("it runs")
    };
    for started_by in [None, Some(""), Some("1"), Some("4294967295")] {
        let output = start(started_by);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(250), "{started_by:?}: {said}");
        assert!(said.contains("whoever started this has ended"), "{started_by:?}: {said}");
    }
    let own = std::process::id().to_string();
    let said = String::from_utf8_lossy(&start(Some(&own)).stderr).into_owned();
    assert!(!said.contains("whoever started this has ended"), "this one is its starter: {said}");
    assert!(!trace.exists(), "nothing was run");
}

/// A folder that an ordinary user can enter.
fn shared_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open to all");
    folder
}

/// Root is also nobody: all of the above again, as an ordinary user.
#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    const NOBODY: u32 = 65534;
    if !nix_root() || env::var_os("EQUIPOISE_TEST_KEEPER").is_some() {
        return;
    }
    let folder = shared_folder();
    let place = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        fs::copy(from, &to).expect("a copy");
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).expect("open to all");
        to
    };
    let tests = place(&env::current_exe().expect("this test"), "tests");
    let keeper = place(&keeper(), "keeper");
    fs::write(folder.path().join("Cargo.toml"), "").expect("a file");
    let output = Command::new(tests)
        .env("EQUIPOISE_TEST_KEEPER", keeper)
        .current_dir(folder.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("it runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "as an ordinary user:\n{text}");
    assert!(text.contains("test result: ok"), "{text}");
}
