#!/usr/bin/env bash
# Runs the tests of a preset: tools/test.sh PRESET [CTEST ARGUMENT...]. Says at the end what was left
# out because its data, or a browser, is not there.
set -euo pipefail

preset=$1
shift
folder=build
[[ $preset == release || $preset == long ]] || folder=build-$preset

status=0
ctest --preset "$preset" "$@" || status=$?

log=$folder/Testing/Temporary/LastTest.log
if [[ -f $log ]]; then
  # One line a dataset: how many tests wanted it.
  left_out=$(sed -n 's/^.*left out: needs \(.*\) under [$]EDGEWISE_DATA.*$/\1/p' "$log" | sort | uniq -c)
  if [[ -n $left_out ]]; then
    printf '\nLeft out for lack of data (set EDGEWISE_DATA to the folder that holds it):\n'
    while read -r count name; do
      printf '  %s: %s tests\n' "$name" "$count"
    done <<<"$left_out"
  fi
  browser=$(grep -c 'left out: needs a browser' "$log" || true)
  if [[ $browser -gt 0 ]]; then
    printf '\nLeft out for lack of a browser (install chromium): tests that open reports\n'
  fi
fi
exit "$status"
