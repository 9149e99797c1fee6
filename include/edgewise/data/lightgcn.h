// Reader for recommendation data as NGCF and LightGCN publish it: train.txt and test.txt, one user
// a line, the user's number followed by the numbers of the items that user chose.
#pragma once

#include <filesystem>
#include <string>

#include "edgewise/data/dataset.h"

namespace edgewise {

// Reads train.txt and test.txt (each plain or as .gz) from `folder`. Blanks at the end of a line,
// empty lines and users without items are fine.
//
// Users and items keep the numbers of the files; the sides are as large as the largest number in
// either file asks for, so a user or item that only the test names has a node too. In `raw.table`
// and in the tables of the official split `src` is the user and `dst` the item, each counted from 0
// within its own side (`raw.right_ids` is set; makeDataset shifts the items behind the users). The
// split has train and test rows, in the order of the files; `valid` is empty. `raw.table` holds the
// train rows, then the test rows.
//
// Mended, with a remark in `raw.notes`: a repeated interaction counts once, and one that stands in
// both files is kept in train and dropped from test. Remarked only: users without training items,
// items never seen in training, test numbers beyond those of training, an empty test.
//
// Throws DataError for a missing file, a file without any training interaction, and (with file and
// line) for anything that is not a number, a negative number, or one of kMaxNodes and more.
[[nodiscard]] DatasetParts readLightGcn(const std::filesystem::path& folder,
                                        const std::string& name);

}  // namespace edgewise
