#!/usr/bin/env bash
# The main job on the graph that comes with the program. Works offline.
set -euo pipefail

exec build/bin/edgewise train --dataset planted --model ra --out runs/demo "$@"
