#!/usr/bin/env bash
# tools/lint.sh format        rewrites all sources in the house's format
# tools/lint.sh check         format, clang-tidy and shellcheck; nothing is changed
# clang-tidy is slow, so a file that passed is not looked at again until it, a header it reads, its
# compile command or the rules change (.cache/tidy remembers).
set -euo pipefail

readonly tidy=clang-tidy-19 format=clang-format-19
readonly cache=.cache/tidy build=build-lint

# Files of the checkout, or of the unpacked archive, that match the patterns.
list_files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" |
      while read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
  else
    local pattern arguments=()
    for pattern in "$@"; do arguments+=(-o -name "$pattern"); done
    find . \( -path ./build -o -path './build-*' \) -prune -o \( "${arguments[@]:1}" \) -type f -print
  fi
}

sources() { list_files '*.h' '*.cpp' '*.cu'; }

check_format() {
  sources | xargs -r "$format" --dry-run -Werror
}

# The sources that CMake compiles, as paths from the root.
compiled_sources() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | sort -u |
    sed "s|^$PWD/||" | grep -E '^(src|apps|tests|benchmarks|fuzz|examples)/'
}

# libtorch 1.13 uses std::vector of a type that is not complete yet, which clang refuses in C++20 (GCC does not). Files
# that include its functions or autograd are left to the compiler; kernels and everything else stay free of them.
readable_sources() {
  compiled_sources | while read -r file; do
    if grep -qE '#include (<torch/(torch|autograd|csrc)|<ATen/(ATen|Functions|TensorOperators)|"ops/autograd_support|"support/(tensors|devices))' "$file"; then
      printf 'clang-tidy leaves out %s: clang cannot read the libtorch headers it needs\n' "$file" >&2
    else
      printf '%s\n' "$file"
    fi
  done
}

# The rules for a file: .clang-tidy of its folder and of those above.
rules_of() {
  local folder=$1
  while folder=$(dirname "$folder"); do
    [[ ! -f $folder/.clang-tidy ]] || cat "$folder/.clang-tidy"
    [[ $folder != . ]] || return 0
  done
}

# All that decides what clang-tidy says about a file: its text after the preprocessor, which carries
# the headers, and the rules. Fails when the preprocessor does.
fingerprint() {
  local command
  command=$(grep -F -B 2 "\"file\": \"$PWD/$1\"" "$build/compile_commands.json" |
    sed -n 's/^ *"command": "\(.*\)",$/\1/p' | head -n 1)
  command=$(sed 's/\\"/"/g; s/ -o [^ ]* -c / -E -C /' <<<"$command")
  [[ -n $command ]] || return 1
  {
    rules_of "$1"
    "$tidy" --version
    printf '%s\n' "$command"
    # The command comes from CMake and carries its own quoting. Comments count: NOLINT is one.
    (cd "$build" && eval "$command" 2>/dev/null)
  } | sha256sum | cut -d ' ' -f 1
}

tidy_one() {
  local file=$1 print stamp="" log
  # Without a fingerprint nothing is remembered.
  if print=$(fingerprint "$file"); then
    stamp=$cache/$print
    [[ ! -e $stamp ]] || return 0
  fi
  log=$(mktemp)
  if "$tidy" -p "$build" --quiet "$file" >"$log" 2>/dev/null; then
    [[ -z $stamp ]] || touch "$stamp"
    rm -f "$log"
  else
    printf '\n== %s\n' "$file"
    cat "$log"
    rm -f "$log"
    return 1
  fi
}

check_tidy() {
  mkdir -p "$cache"
  find "$cache" -type f -mtime +30 -delete
  readable_sources | xargs -r -P "${JOBS:-2}" -n 1 "$0" tidy-one
}

check_shell() {
  {
    list_files '*.sh'
    [[ ! -f .ci/run ]] || echo .ci/run
  } | xargs -r shellcheck
}

case ${1:-} in
  format) sources | xargs -r "$format" -i ;;
  check)
    check_format
    echo "format: clean"
    check_shell
    echo "shell scripts: clean"
    check_tidy
    echo "clang-tidy: clean"
    ;;
  tidy-one) tidy_one "$2" ;;
  *)
    echo "usage: tools/lint.sh format|check" >&2
    exit 2
    ;;
esac
