# The front door: each target installs what is missing (tools/setup.sh), then does its work.
# `make help` lists them. Behind it stands CMake with the presets of CMakePresets.json.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
# Further settings for CMake, e.g. EDGEWISE_CMAKE_ARGS=-DEDGEWISE_WERROR=ON
EDGEWISE_CMAKE_ARGS ?=
# Layers to which asan and tsan keep, e.g. LAYERS="util graph"; all of them when empty.
LAYERS ?=

CONFIGURE := tools/configure.sh
space := $(subst ,, )
layer_programs = $(if $(LAYERS),--target $(LAYERS:%=%_tests))
layer_tests = $(if $(LAYERS),-L '^($(subst $(space),|,$(strip $(LAYERS))))$$')

.PHONY: help build test test-long demo bench results format lint asan tsan fuzz install clean \
	setup-build setup-test setup-bench setup-lint setup-sanitize

help: ## this list
	@echo "edgewise: link prediction in which every edge picks its own view"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Settings: JOBS=$(JOBS)  PREFIX=$(PREFIX)  FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo '  LAYERS="util graph"       the layers to which asan and tsan keep; all unless said'
	@echo "  EDGEWISE_DATA=DIR         real datasets, for the tests that need them"
	@echo "  EDGEWISE_NO_INSTALL=1     install nothing; go on with what is there"
	@echo "  EDGEWISE_CMAKE_ARGS=...   more settings for CMake (cmake --list-presets: other builds)"

build: setup-build ## build the program: build/bin/edgewise
	@$(CONFIGURE) release $(EDGEWISE_CMAKE_ARGS)
	@cmake --build build -j $(JOBS) --target edgewise_product

test: setup-test ## build, then run the whole suite
	@$(CONFIGURE) release $(EDGEWISE_CMAKE_ARGS)
	@cmake --build build -j $(JOBS)
	@tools/test.sh release

test-long: setup-test ## run the tests that take minutes or more
	@$(CONFIGURE) release $(EDGEWISE_CMAKE_ARGS)
	@cmake --build build -j $(JOBS)
	@tools/test.sh long

demo: build ## build, then show the main job on a graph that comes with the program
	@tools/demo.sh

bench: setup-bench ## build and run the benchmarks
	@$(CONFIGURE) bench $(EDGEWISE_CMAKE_ARGS)
	@cmake --build --preset bench -j $(JOBS)
	@tools/bench.sh build-bench

results: build ## write the tables of docs/results.md anew from results/
	@build/bin/edgewise reproduce --docs docs/results.md --store results

format: setup-lint ## rewrite all sources in the house's format
	@tools/lint.sh format

lint: setup-lint ## check format, clang-tidy and shell scripts
	@$(CONFIGURE) lint
	@cmake --build build-lint --target edgewise_revision
	@JOBS=$(JOBS) tools/lint.sh check

asan: setup-build ## run the torch-free tests under address and undefined-behaviour sanitizers
	@$(CONFIGURE) asan-ubsan
	@cmake --build --preset asan-ubsan -j $(JOBS) $(layer_programs)
	@tools/test.sh asan-ubsan $(layer_tests)

tsan: setup-sanitize ## run the torch-free tests under the thread sanitizer
	@$(CONFIGURE) tsan
	@cmake --build --preset tsan -j $(JOBS) $(layer_programs)
	@tools/test.sh tsan $(layer_tests)

fuzz: setup-sanitize ## run every fuzz target for FUZZ_SECONDS
	@$(CONFIGURE) fuzz
	@cmake --build --preset fuzz -j $(JOBS)
	@fuzz/run.sh $(FUZZ_SECONDS) build-fuzz

install: build ## install program, libraries, headers and CMake package under PREFIX (honours DESTDIR)
	@cmake --install build --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build build-*/

setup-build:
	@tools/setup.sh build web

setup-test:
	@tools/setup.sh build web browser

setup-bench:
	@tools/setup.sh build web bench

setup-lint:
	@tools/setup.sh build web bench lint

setup-sanitize:
	@tools/setup.sh build sanitize
