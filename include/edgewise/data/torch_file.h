// Files written by torch.save, without torch: the older layout (a row of pickles, then raw
// storages) and the zip layout (data.pkl and one member a storage). What is read is a dictionary of
// arrays, be they torch tensors or numpy arrays inside the pickle.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "edgewise/data/number_array.h"
#include "edgewise/util/file.h"

namespace edgewise {

class TorchFile {
 public:
  // Reads the file, unpacking gzip. Throws DataError when it is in neither layout, is damaged, or
  // its pickle asks for anything but arrays and containers.
  explicit TorchFile(const std::filesystem::path& path);
  // For bytes in memory already; `path` names them in errors.
  TorchFile(FileBytes bytes, const std::filesystem::path& path);
  TorchFile(TorchFile&&) noexcept;
  TorchFile& operator=(TorchFile&&) noexcept;
  TorchFile(const TorchFile&) = delete;
  TorchFile& operator=(const TorchFile&) = delete;
  ~TorchFile();

  // Keys of the saved dictionary whose values are arrays, sorted. A file that holds one bare array
  // has the one name "".
  [[nodiscard]] const std::vector<std::string>& names() const;
  [[nodiscard]] bool contains(std::string_view name) const;
  // Copies the array out. Throws DataError when there is none of that name, or it reaches outside
  // its storage.
  [[nodiscard]] NumberArray read(std::string_view name) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace edgewise
