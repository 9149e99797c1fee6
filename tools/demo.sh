#!/usr/bin/env bash
# The main job on the graph that comes with the program: a model whose pairs pick their own views
# against the same model with fixed, random and mixed views, and against the classical methods, on
# the same leak-free splits; mean and standard deviation over three seeds. Works offline.
set -euo pipefail

program=build/bin/edgewise
folder=runs/demo

# Trains, and leaves of what the program prints the rows of its table.
rows() {
  local name=$1
  shift
  "$program" train --dataset planted --seeds 3 --overwrite --out "$folder/$name" "$@" |
    awk -F '  +' '/ ± / { printf "%-14s %4s  %s  %s\n", $1, $2, $3, $4 }'
}

printf '%-14s %4s  %15s  %15s\n' model runs 'test auc' 'test ap'
rows classical --model cn,ra,katz,ppr "$@"
for selector in none fixed:1,1 fixed:1,2 jk rs ps2; do
  rows "gae-${selector/:/-}" --model gae --selector "$selector" --recipe best "$@"
done

echo
"$program" report "$folder" --out "$folder/report.html" --quiet
echo "Everything about these runs, in a browser: $folder/report.html"
echo "Which views pairs picked: $folder/gae-ps2/seed-0/views.csv"
echo "Why a pair scores as it does: $program explain $folder/gae-ps2/seed-0 --pair 0,100"
