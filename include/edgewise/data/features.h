// Node features from a file of any form that is known: one door for the program, which need not
// know formats.
#pragma once

#include <filesystem>

#include "edgewise/data/feature_matrix.h"
#include "edgewise/data/feature_text.h"

namespace edgewise {

// Reads numpy files (.npy, .npz), svmlight files (.svm, .svmlight, .libsvm) and tables (.csv, .tsv,
// .txt and anything else in text form), gzipped or not. Numpy files are known by their first bytes
// whatever their name; a text file without a telling name is svmlight when the entries of its first
// row are index:value. `options` apply to text; the rows of the other forms are nodes in order.
// Throws what the reader of the form throws.
[[nodiscard]] FeatureMatrix readFeatures(const std::filesystem::path& path,
                                         const FeatureTextOptions& options = {});

}  // namespace edgewise
