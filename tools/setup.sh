#!/usr/bin/env bash
# Installs what a target of the Makefile needs on Debian: tools/setup.sh GROUP...
# Quick and silent when everything is there. Elsewhere it only says what is needed: CMake then
# finds it or says what it misses. What the groups web and browser are for can be done without, so
# their packages may fail to install. EDGEWISE_NO_INSTALL=1 skips all of it.
set -euo pipefail

# What a group is for, and its packages.
declare -A purpose=(
  [build]="compiler, build tools and libraries"
  [web]="npm, for the chart library of reports"
  [browser]="a browser in which tests open reports"
  [bench]="the benchmark library"
  [lint]="formatter and static checks"
  [sanitize]="clang with its sanitizers, fuzzer and OpenMP"
)
declare -A packages=(
  # libopenblas-openmp-dev: without it libtorch runs on a BLAS that is far slower, and the pthread
  # variant competes with OpenMP's threads. ca-certificates: downloads over https.
  [build]="g++ cmake ninja-build ccache git ca-certificates libtorch-dev libopenblas-openmp-dev
    libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev zlib1g-dev libcurl4-openssl-dev
    libgtest-dev libgmock-dev"
  [web]="nodejs npm"
  [browser]="chromium fonts-dejavu-core"
  [bench]="libbenchmark-dev"
  # libomp-19-dev: clang-tidy reads the sources as clang, which needs an omp.h of its own.
  [lint]="clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev libomp-19-dev shellcheck"
  [sanitize]="clang-19 libclang-rt-19-dev libomp-19-dev"
)
# Of a group that can be done without: the programs that stand for its packages, whoever installed
# them.
declare -A programs=(
  [web]="npm"
  [browser]="chromium chromium-browser google-chrome"
)

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# Prints those of the packages named that are not installed.
missing_of() {
  local installed package
  # dpkg-query fails when it does not know one of them, and still lists the others.
  installed=$(dpkg-query -W -f='${Package}:${db:Status-Status}\n' "$@" 2>/dev/null || true)
  installed=" $(sed -n 's/:installed$//p' <<<"$installed" | tr '\n' ' ') "
  for package in "$@"; do
    [[ $installed == *" $package "* ]] || printf '%s\n' "$package"
  done
}

# Whether one of the programs named is there.
any_program() {
  local name
  for name in "$@"; do
    ! command -v "$name" >/dev/null || return 0
  done
  return 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

may_become_root() { [[ $(id -u) == 0 ]] || command -v sudo >/dev/null; }

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# Says what root would have to do: leave_to_root NEEDED OPTIONAL, each a list in one word.
leave_to_root() {
  local hints=("these packages are missing, and only root can install them: $1")
  [[ -z $2 ]] || hints+=("charts in reports and their tests, which can be done without, want these, too: $2")
  fail "${hints[@]}" \
    "either run:  su -c 'apt-get update && apt-get install --no-install-recommends $1${2:+ $2}'" \
    "or set EDGEWISE_NO_INSTALL=1 to go on with what is there."
}

install_packages() {
  local list="$*"
  # A source that cannot be reached need not be the one with our packages: try on.
  apt update >/dev/null || say "apt-get update reported problems; trying to install all the same"
  apt install --no-install-recommends "$@" || fail \
    "apt-get could not install: $list" \
    "its messages above say why (no network, a package this release does not have, a full disk)." \
    "With the packages there by other means, EDGEWISE_NO_INSTALL=1 goes on without this step."
}

# The group's packages if they can be had; else what that means.
install_if_possible() {
  local group=$1
  # shellcheck disable=SC2086
  any_program ${programs[$group]} && return 0
  if ! may_become_root; then
    say "going on without ${packages[$group]} (${purpose[$group]}): only root can install packages"
    return 0
  fi
  say "installing with apt-get, for $group (${purpose[$group]}; a few minutes): ${packages[$group]}"
  local said
  # shellcheck disable=SC2086
  if ! said=$({ apt update && apt install --no-install-recommends ${packages[$group]}; } 2>&1); then
    tail -n 3 <<<"$said"
    say "could not be installed; going on without ${purpose[$group]}"
  fi
}

# libtorch takes its BLAS from whatever Debian's alternatives point to. The automatic choice prefers
# OpenBLAS's pthread variant; a choice made by hand is left alone.
choose_openmp_blas() {
  local link name target
  for link in /etc/alternatives/libblas.so.3-* /etc/alternatives/liblapack.so.3-* \
    /etc/alternatives/libopenblas.so.0-*; do
    [[ -e $link ]] || continue
    name=${link##*/}
    case $(readlink "$link") in
      */openblas-pthread/*) ;;
      *) continue ;;
    esac
    target=$(update-alternatives --query "$name" |
      sed -n 's/^Alternative: \(.*\/openblas-openmp\/.*\)$/\1/p' | head -n 1)
    [[ -n $target ]] || continue
    if [[ $(update-alternatives --query "$name") == *"Status: manual"* ]]; then
      say "$name is set by hand to OpenBLAS's pthread variant, which competes with OpenMP; left as it is"
    elif may_become_root; then
      say "$name: selecting OpenBLAS's OpenMP variant (undo: update-alternatives --auto $name)"
      as_root update-alternatives --set "$name" "$target" >/dev/null
    else
      say "$name points to OpenBLAS's pthread variant, which competes with OpenMP; as root:"
      say "  update-alternatives --set $name $target"
    fi
  done
}

main() {
  local group list wanted=() missing=() optional=() extra=()
  [[ $# -gt 0 ]] || fail "usage: tools/setup.sh GROUP...   groups: ${!purpose[*]}"
  for group in "$@"; do
    [[ -n ${purpose[$group]:-} ]] || fail "no such group: $group; known: ${!purpose[*]}"
    if [[ -n ${programs[$group]:-} ]]; then
      optional+=("$group")
      continue
    fi
    # The lists are meant to be split.
    # shellcheck disable=SC2206
    wanted+=(${packages[$group]})
  done
  [[ -z ${EDGEWISE_NO_INSTALL:-} ]] || return 0
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this is not a Debian system, so nothing is installed. What is needed, by Debian's names:"
    say "  ${wanted[*]}"
    for group in "${optional[@]}"; do
      say "  and, for ${purpose[$group]}: ${packages[$group]}"
    done
    return 0
  fi
  list=$(missing_of "${wanted[@]}")
  [[ -z $list ]] || mapfile -t missing <<<"$list"
  if [[ ${#missing[@]} -gt 0 ]]; then
    for group in "$@"; do
      [[ -z ${programs[$group]:-} ]] || continue
      # shellcheck disable=SC2086
      [[ -z $(missing_of ${packages[$group]}) ]] || say "needed for $group: ${purpose[$group]}"
    done
    if ! may_become_root; then
      for group in "${optional[@]}"; do
        # shellcheck disable=SC2206,SC2086
        any_program ${programs[$group]} || extra+=(${packages[$group]})
      done
      leave_to_root "${missing[*]}" "${extra[*]}"
    fi
    say "installing with apt-get: ${missing[*]}"
    install_packages "${missing[@]}"
  fi
  for group in "${optional[@]}"; do
    install_if_possible "$group"
  done
  choose_openmp_blas
}

main "$@"
