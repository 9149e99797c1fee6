#!/usr/bin/env bash
# Runs every benchmark of a build folder: tools/bench.sh BUILD_FOLDER [BENCHMARK ARGUMENT...]
set -euo pipefail

folder=$1
shift
shopt -s nullglob
programs=("$folder"/bin/*_benchmark)
if [[ ${#programs[@]} == 0 ]]; then
  echo "there are no benchmarks in $folder/bin" >&2
  exit 1
fi
for program in "${programs[@]}"; do
  printf '\n== %s\n' "${program##*/}"
  "$program" "$@"
done
