#!/usr/bin/env bash
# The main job on the graph that comes with the program: every classical method on the same leak-free
# splits, mean and standard deviation over three seeds. Works offline.
set -euo pipefail

exec build/bin/edgewise train --dataset planted --model cn,aa,ra,jaccard,pa,katz,ppr --seeds 3 \
  --out runs/demo --overwrite "$@"
