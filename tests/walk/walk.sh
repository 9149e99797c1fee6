#!/usr/bin/env bash
# A new user's way from an edge list to answers: runs the commands of README.md that stand below a
# `<!-- walk ... -->` line, word for word, and compares what they say with expected.txt.
#
#   walk.sh PROGRAM README FOLDER            fails, and shows the difference, where they part
#   walk.sh PROGRAM README FOLDER --update   writes expected.txt anew
#
# FOLDER is made anew. Fractions, and names in an order that follows from them, stand as # and NAME in
# expected.txt, since a last digit may depend on libtorch and the processor; what must hold of them is
# checked below.
set -euo pipefail

program=$(realpath "$1") readme=$(realpath "$2") folder=$3
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

fail() {
  printf 'walk: %s\n' "$1" >&2
  exit 1
}

# Lines that begin with `$ ` in the blocks marked as part of the walk.
commands() {
  awk '/^<!-- walk/ { marked = 1; next }
       marked && /^```sh/ { inside = 1; marked = 0; next }
       inside && /^```/ { inside = 0; next }
       inside && /^\$ / { sub(/^\$ /, ""); print }' "$readme"
}

# What does not depend on the machine: no fractions, times, sizes, widths of columns, numbers of
# epochs, nor the names that scores put in order.
settled() {
  awk '/^\$ / { list = 0; print; next }
       /^source,target,score/ { list = 1 }
       /^neighbour +of / { list = 2 }
       /^$/ { list = 0 }
       list == 1 { sub(/^[a-z]+,[a-z]+,[-+0-9.e]+/, "NAME,NAME,#") }
       list == 2 && !/^neighbour/ { $0 = "NAME NAME # # #" }
       { sub(/\(.* at most\)/, "(TIME, MEMORY at most)")
         sub(/sources, .* at most$/, "sources, TIME, MEMORY at most")
         sub(/runs\/methods\/[a-z]+\/seed-/, "runs/methods/NAME/seed-")
         sub(/[0-9]+ epochs, best [0-9]+/, "# epochs, best #")
         gsub(/[-+]?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/, "#")
         gsub(/ +/, " ")
         print }'
}

rm -rf "$folder"
mkdir -p "$folder/build/bin"
ln -s "$program" "$folder/build/bin/edgewise"
cp "$here/friends.csv" "$here/who.csv" "$folder"
cd "$folder"

mapfile -t lines < <(commands)
((${#lines[@]} >= 8)) || fail "README.md has only ${#lines[@]} commands of the walk"
for line in "${lines[@]}"; do
  # Comments of the page are no part of what is typed.
  printf '$ %s\n' "$(sed -E 's/ +# .*//' <<<"$line")"
  eval "$line" 2>&1 || fail "failed ($?): $line"
done </dev/null >said.txt
settled <said.txt >settled.txt

if [[ ${4:-} == --update ]]; then
  cp settled.txt "$here/expected.txt"
fi
diff -u "$here/expected.txt" settled.txt || fail "the walk has changed; see $PWD/said.txt"

# Whoever is predicted for ann is a new friend, and more likely than not one of her own circle.
predicted=$(grep -E '^ann,[a-z]+,' said.txt | cut -d , -f 2 | head -n 5)
[[ $(wc -w <<<"$predicted") == 5 ]] || fail "ann has fewer than five predictions"
circle=" bob cat dan eve finn gus hal ida jan kim leo "
near=0
for other in $predicted; do
  ! grep -qE "^(ann,$other|$other,ann)$" friends.csv || fail "ann knows $other already"
  [[ $circle != *" $other "* ]] || near=$((near + 1))
done
((near >= 3)) || fail "of ann's predictions only $near are of her circle: $predicted"
for file in runs/friends/{options.json,metrics.json,model.safetensors,report.html} ann-dan.svg \
  comparison.html scored.csv links.csv; do
  [[ -s $file ]] || fail "$file is missing"
done
for page in runs/friends/report.html comparison.html; do
  grep -q '</html>' "$page" || fail "$page is no whole page"
done
[[ $(tail -n 1 ann-dan.svg) == '</svg>' ]] || fail "ann-dan.svg is no whole picture"
