#!/bin/sh
# Runs every fuzz target for a bounded time, starting from the stored corpus.
# Usage: fuzz/run.sh SECONDS_PER_TARGET BUILD_DIR
# Exit status: 0 when nothing was found, 1 after a crash, a hang or a memory blow-up, 2 for wrong use. Findings and
# what the fuzzers learned stay under BUILD_DIR/fuzz-findings and BUILD_DIR/fuzz-corpus.
set -u
if [ $# -ne 2 ]; then
  echo "usage: $0 SECONDS_PER_TARGET BUILD_DIR" >&2
  exit 2
fi
seconds=$1
build=$2
here=$(dirname "$0")
status=0
for reader in zip npy npz pickle torch_file gzip safetensors; do
  fuzzer=$build/bin/${reader}_fuzzer
  if [ ! -x "$fuzzer" ]; then
    echo "$fuzzer is missing: build with -DEDGEWISE_BUILD_FUZZERS=ON" >&2
    exit 2
  fi
  learned=$build/fuzz-corpus/$reader
  findings=$build/fuzz-findings/$reader
  mkdir -p "$learned" "$findings"
  dictionary=
  [ ! -f "$here/$reader.dict" ] || dictionary=-dict=$here/$reader.dict
  echo "== $reader: $seconds s"
  if "$fuzzer" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=2048 -timeout=10 \
    -max_len=65536 ${dictionary:+"$dictionary"} -print_final_stats=1 -artifact_prefix="$findings/" "$learned" \
    "$here/corpus/$reader" >"$build/fuzz-$reader.log" 2>&1; then
    grep -E 'stat::(number_of_executed_units|slowest_unit_time_sec|peak_rss_mb)' "$build/fuzz-$reader.log"
  else
    tail -40 "$build/fuzz-$reader.log" >&2
    echo "$reader: finding stored under $findings" >&2
    status=1
  fi
done
exit $status
