#!/usr/bin/env bash
# Configures a preset: tools/configure.sh PRESET [CMAKE ARGUMENT...]. Its output is shown only when
# it fails; a build folder that is set up already is left to CMake's own checks, unless there are
# arguments to apply.
set -euo pipefail

preset=$1
shift
folder=build
[[ $preset == release ]] || folder=build-$preset
[[ ! -f $folder/build.ninja || $# -gt 0 ]] || exit 0

command -v cmake >/dev/null || {
  printf 'configure: cmake is missing; on Debian tools/setup.sh build installs it and all else that a build needs\n' >&2
  exit 1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf 'configuring %s\n' "$folder"
if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
# What the build will have to do without.
sed -n 's/^-- edgewise: //p' "$log"
