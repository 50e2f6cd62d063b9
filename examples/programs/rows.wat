;; How many records a block has: prints one number. A WebAssembly module; `equipoise` must be built with --features wasm.
;;   equipoise run salaries.csv --epsilon 1 --output number --range 0,200 -- rows.wat
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  ;; The bytes 0 to 7 are a buffer's place and length, 8 a count of bytes, from 1024 on the buffer.
  (func (export "_start")
    (local $lines i32) (local $place i32) (local $end i32)
    (loop $more
      (i32.store (i32.const 0) (i32.const 1024))
      (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (local.set $place (i32.const 1024))
      (local.set $end (i32.add (i32.const 1024) (i32.load (i32.const 8))))
      (block $read_all
        (loop $byte
          (br_if $read_all (i32.eq (local.get $place) (local.get $end)))
          (local.set $lines
            (i32.add (local.get $lines) (i32.eq (i32.load8_u (local.get $place)) (i32.const 10))))
          (local.set $place (i32.add (local.get $place) (i32.const 1)))
          (br $byte)))
      (br_if $more (i32.load (i32.const 8))))
    ;; The first line names the columns.
    (local.set $lines (i32.sub (local.get $lines) (i32.const 1)))
    ;; Digits from the last to the first, ending at 1023.
    (local.set $place (i32.const 1024))
    (loop $digit
      (local.set $place (i32.sub (local.get $place) (i32.const 1)))
      (i32.store8 (local.get $place)
        (i32.add (i32.const 48) (i32.rem_u (local.get $lines) (i32.const 10))))
      (local.set $lines (i32.div_u (local.get $lines) (i32.const 10)))
      (br_if $digit (local.get $lines)))
    (i32.store (i32.const 0) (local.get $place))
    (i32.store (i32.const 4) (i32.sub (i32.const 1024) (local.get $place)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
