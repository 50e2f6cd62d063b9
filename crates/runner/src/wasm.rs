//! WebAssembly modules: no capability but the block and the answer, counted steps, and the same answer on every machine.
//!
//! The module runs inside the sandbox of its block, in place of a program, so that time, memory and all other layers hold for it
//! too. Of the system interface (WASI, preview 1) it finds standard input, standard output and the end; clocks stand
//! still, random numbers are always the same, and there are no files. What else it imports ends it.

use std::{error::Error, fmt};
use wasmtime::{Caller, Config, Engine, Extern, Linker, Module, Store, StoreLimits, StoreLimitsBuilder};

/// How a module ended: its answer, if it ended well.
pub(crate) fn run(module: &[u8], block: &[u8], limits: Sizes) -> Result<Vec<u8>, Box<dyn Error>> {
    let engine = Engine::new(&config())?;
    let module = Module::new(&engine, module)?;
    let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let state = State {
        block: block.to_vec(),
        read: 0,
        answer: Vec::new(),
        most: limits.answer,
        limits: StoreLimitsBuilder::new().memory_size(memory).memories(4).tables(16).instances(4).build(),
    };
    let mut store = Store::new(&engine, state);
    store.limiter(|state| &mut state.limits);
    store.set_fuel(limits.steps)?;
    let mut linker = Linker::new(&engine);
    offer(&mut linker)?;
    linker.define_unknown_imports_as_traps(&module)?;
    let instance = linker.instantiate(&mut store, &module)?;
    let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
    match start.call(&mut store, ()) {
        Ok(()) => {}
        Err(error) => match error.downcast_ref::<Ended>() {
            Some(Ended(0)) => {}
            _ => return Err(error.into()),
        },
    }
    Ok(store.into_data().answer)
}

/// What a module may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub memory: u64,
    pub answer: usize,
    pub steps: u64,
}

/// Counted steps, one form of not-a-number, and memories without reserved addresses, which the limits of the sandbox forbid.
fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .memory_reservation(0)
        .memory_reservation_for_growth(0)
        .memory_guard_size(0)
        .memory_init_cow(false);
    config
}

struct State {
    block: Vec<u8>,
    read: usize,
    answer: Vec<u8>,
    most: usize,
    limits: StoreLimits,
}

/// The module said that it is done, with this code.
#[derive(Clone, Copy, Debug)]
struct Ended(i32);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the module ended with code {}", self.0)
    }
}

impl Error for Ended {}

/// Numbers of the interface for what went wrong.
const GOOD: i32 = 0;
const BAD_FILE: i32 = 8;
const BAD_ADDRESS: i32 = 21;
const NO_SPACE: i32 = 51;
const NOT_SUPPORTED: i32 = 52;
const NOT_SEEKABLE: i32 = 70;
const NOT_CAPABLE: i32 = 76;

const WASI: &str = "wasi_snapshot_preview1";

fn offer(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(WASI, "fd_read", fd_read)?;
    linker.func_wrap(WASI, "fd_write", fd_write)?;
    linker.func_wrap(WASI, "proc_exit", |code: i32| -> wasmtime::Result<()> { Err(Ended(code).into()) })?;
    // No arguments, no variables.
    for name in ["args_sizes_get", "environ_sizes_get"] {
        linker.func_wrap(WASI, name, |mut caller: Caller<'_, State>, count: u32, size: u32| {
            code(put(&mut caller, count, &[0; 4]).and_then(|()| put(&mut caller, size, &[0; 4])))
        })?;
    }
    for name in ["args_get", "environ_get"] {
        linker.func_wrap(WASI, name, |_: u32, _: u32| GOOD)?;
    }
    // Time stands still.
    linker.func_wrap(WASI, "clock_time_get", |mut caller: Caller<'_, State>, _: u32, _: u64, at: u32| {
        code(put(&mut caller, at, &[0; 8]))
    })?;
    linker.func_wrap(WASI, "clock_res_get", |mut caller: Caller<'_, State>, _: u32, at: u32| {
        code(put(&mut caller, at, &1u64.to_le_bytes()))
    })?;
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, State>, at: u32, count: u32| {
        let always: Vec<u8> = (0..count).map(|place| u8::try_from(place % 251).unwrap_or(0)).collect();
        code(put(&mut caller, at, &always))
    })?;
    linker.func_wrap(WASI, "sched_yield", || GOOD)?;
    linker.func_wrap(WASI, "fd_close", |_: u32| GOOD)?;
    linker.func_wrap(WASI, "fd_seek", |_: u32, _: i64, _: u32, _: u32| NOT_SEEKABLE)?;
    linker.func_wrap(WASI, "fd_prestat_get", |_: u32, _: u32| BAD_FILE)?;
    linker.func_wrap(WASI, "fd_prestat_dir_name", |_: u32, _: u32, _: u32| BAD_FILE)?;
    linker.func_wrap(WASI, "fd_fdstat_set_flags", |_: u32, _: u32| NOT_SUPPORTED)?;
    linker.func_wrap(WASI, "fd_fdstat_get", |mut caller: Caller<'_, State>, file: u32, at: u32| {
        if file > 2 {
            return BAD_FILE;
        }
        // A character device with all rights.
        let mut stat = [0xff; 24];
        stat[..8].copy_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        code(put(&mut caller, at, &stat))
    })?;
    let path_open = |_: u32, _: u32, _: u32, _: u32, _: u32, _: u64, _: u64, _: u32, _: u32| NOT_CAPABLE;
    linker.func_wrap(WASI, "path_open", path_open)?;
    Ok(())
}

fn code(done: Option<()>) -> i32 {
    done.map_or(BAD_ADDRESS, |()| GOOD)
}

/// Write to the module's memory; nothing where it has none there.
fn put(caller: &mut Caller<'_, State>, at: u32, bytes: &[u8]) -> Option<()> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory)?;
    memory.write(caller, at as usize, bytes).ok()
}

fn word(caller: &mut Caller<'_, State>, at: u32) -> Option<u32> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory)?;
    let mut bytes = [0; 4];
    memory.read(caller, at as usize, &mut bytes).ok()?;
    Some(u32::from_le_bytes(bytes))
}

/// The places and lengths of a list of buffers.
fn buffers(caller: &mut Caller<'_, State>, list: u32, count: u32) -> Option<Vec<(u32, u32)>> {
    (0..count.min(1024))
        .map(|place| {
            let at = list.checked_add(place.checked_mul(8)?)?;
            Some((word(caller, at)?, word(caller, at.checked_add(4)?)?))
        })
        .collect()
}

fn fd_read(mut caller: Caller<'_, State>, file: u32, list: u32, count: u32, total: u32) -> i32 {
    if file != 0 {
        return BAD_FILE;
    }
    let mut read = || -> Option<()> {
        let mut all = 0u32;
        for (at, length) in buffers(&mut caller, list, count)? {
            let state = caller.data();
            let rest = &state.block[state.read..];
            let part = rest[..rest.len().min(length as usize)].to_vec();
            put(&mut caller, at, &part)?;
            caller.data_mut().read += part.len();
            all = all.checked_add(u32::try_from(part.len()).ok()?)?;
        }
        put(&mut caller, total, &all.to_le_bytes())
    };
    code(read())
}

fn fd_write(mut caller: Caller<'_, State>, file: u32, list: u32, count: u32, total: u32) -> i32 {
    if !matches!(file, 1 | 2) {
        return BAD_FILE;
    }
    let Some(parts) = buffers(&mut caller, list, count) else { return BAD_ADDRESS };
    let mut all = 0u32;
    for (at, length) in parts {
        let Some(memory) = caller.get_export("memory").and_then(Extern::into_memory) else {
            return BAD_ADDRESS;
        };
        let (data, state) = memory.data_and_store_mut(&mut caller);
        let end = (at as usize).saturating_add(length as usize);
        let Some(bytes) = data.get(at as usize..end) else { return BAD_ADDRESS };
        // What it says besides its answer is for nobody.
        if file == 1 {
            if state.answer.len() + bytes.len() > state.most {
                return NO_SPACE;
            }
            state.answer.extend_from_slice(bytes);
        }
        all = all.saturating_add(length);
    }
    code(put(&mut caller, total, &all.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { memory: 1 << 20, answer: 100, steps: 1_000_000 };

    /// A module that runs these lines.
    fn module(lines: &str) -> String {
        format!(
            "(module
               (import \"wasi_snapshot_preview1\" \"fd_read\" (func $read (param i32 i32 i32 i32) (result i32)))
               (import \"wasi_snapshot_preview1\" \"fd_write\" (func $write (param i32 i32 i32 i32) (result i32)))
               (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
               (import \"wasi_snapshot_preview1\" \"path_open\"
                 (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
               (import \"elsewhere\" \"socket\" (func $socket (result i32)))
               (memory (export \"memory\") 1)
               (func (export \"_start\") {lines}))"
        )
    }

    /// Reads into 1024 and writes back what was read.
    const ECHO: &str = "(i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 64))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))";

    #[test]
    fn a_module_reads_its_block_and_writes_its_answer() {
        let answer = run(module(ECHO).as_bytes(), b"a\n1\n", SIZES).unwrap();
        assert_eq!(answer, b"a\n1\n");
        let ended = format!("{ECHO} (call $exit (i32.const 0))");
        assert_eq!(run(module(&ended).as_bytes(), b"7", SIZES).unwrap(), b"7");
    }

    #[test]
    fn what_does_not_end_well_is_no_answer() {
        for lines in [
            "(loop $for_ever (br $for_ever))",
            "(call $exit (i32.const 3))",
            "unreachable",
            "(drop (call $socket))",
            "(drop (i32.load (i32.const 99999999)))",
        ] {
            assert!(run(module(lines).as_bytes(), b"", SIZES).is_err(), "{lines}");
        }
        assert!(run(b"not a module", b"", SIZES).is_err());
    }

    #[test]
    fn files_memory_and_long_answers_are_refused_to_it() {
        // Each writes the digit of what it was told, plus 48 to make it readable where small.
        let told = |call: &str| {
            let lines = format!(
                "(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 1))
                 (i32.store8 (i32.const 16) {call})
                 (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"
            );
            run(module(&lines).as_bytes(), b"", SIZES).unwrap()
        };
        let open = "(call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0))";
        assert_eq!(told(open), [76]);
        assert_eq!(told("(memory.grow (i32.const 100))"), [255]);
        assert_eq!(told("(call $read (i32.const 5) (i32.const 0) (i32.const 1) (i32.const 8))"), [8]);
        let long = "(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 101))
            (if (i32.eqz (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (then unreachable))";
        assert_eq!(run(module(long).as_bytes(), b"", SIZES).unwrap(), b"");
    }
}
