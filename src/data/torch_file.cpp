#include "edgewise/data/torch_file.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "data/byte_reader.h"
#include "data/printable.h"
#include "edgewise/data/pickle.h"
#include "edgewise/data/zip_archive.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

// The first pickle of the older layout: protocol 2, one long integer, torch's magic number.
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kPickleMember = "/data.pkl";

}  // namespace

// Members view one another (the document and the storages look into the bytes), so it never moves.
struct TorchFile::Content {
  Content(FileBytes file_bytes, std::filesystem::path file_path)
      : bytes(std::move(file_bytes)), path(std::move(file_path)) {}

  void openLegacy();
  void openZip();
  void listArrays();
  // Where the older layout keeps the bytes of each storage.
  void findStorages(ByteReader& reader);
  [[nodiscard]] NumberArray tensor(const PickleTensor& tensor, const std::string& label) const;

  FileBytes bytes;
  std::filesystem::path path;
  std::string pickle_bytes;
  PickleDocument document;
  std::optional<ZipArchive> archive;
  // Name of the archive's top folder.
  std::string folder;
  std::map<std::string_view, std::string_view> storages;
  std::vector<std::string> names;
  std::map<std::string, PickleRef, std::less<>> arrays;
};

void TorchFile::Content::openLegacy() {
  ByteReader reader(bytes.view(), path);
  const auto next = [&] {
    PickleDocument pickle = readPickle(bytes.view().substr(reader.position()), path);
    reader.take(pickle.consumed());
    return pickle;
  };
  reader.take(kLegacyMagic.size());
  next();  // Protocol version.
  const PickleDocument system = next();
  if (const auto* about = system.root().as<PickleMapping>()) {
    const PickleRef little = findKey(*about, "little_endian");
    if (little != nullptr && little->as<bool>() != nullptr && !*little->as<bool>()) {
      throw DataError(FilePlace{path}, "was saved on a big-endian machine",
                      "save it again on an ordinary one");
    }
  }
  document = next();
  findStorages(reader);
}

void TorchFile::Content::findStorages(ByteReader& reader) {
  std::map<std::string_view, std::size_t> widths;
  for (const PickleValue& value : document.values()) {
    if (const auto* storage = value.as<std::unique_ptr<PickleStorage>>()) {
      widths[(*storage)->key] = byteWidth((*storage)->type);
    }
  }
  const PickleDocument keys = readPickle(bytes.view().substr(reader.position()), path);
  reader.take(keys.consumed());
  const auto* list = keys.root().as<PickleSequence>();
  if (list == nullptr) {
    throw DataError(FilePlace{path}, "lacks the list of its storages");
  }
  for (const PickleRef key : list->items) {
    const auto found = widths.find(pickleText(*key));
    if (found == widths.end()) {
      throw DataError(FilePlace{path}, fmt::format("holds a storage {} that nothing refers to",
                                                   printable(pickleText(*key))));
    }
    const auto count = reader.little<std::uint64_t>();
    if (count > reader.left() / found->second) {
      throw DataError(FilePlace{path},
                      fmt::format("storage {} claims {} values, more than the file holds",
                                  printable(found->first), count),
                      "the file is truncated; copy or download it again");
    }
    storages[found->first] = reader.take(count * found->second);
  }
}

void TorchFile::Content::openZip() {
  archive.emplace(bytes.view(), path);
  for (const std::string& name : archive->names()) {
    if (name.ends_with(kPickleMember)) {
      folder = name.substr(0, name.size() - kPickleMember.size());
      break;
    }
  }
  const std::string pickle_name = folder + std::string(kPickleMember);
  if (!archive->contains(pickle_name)) {
    throw DataError(FilePlace{path}, "is a zip archive without data.pkl, so not a torch file");
  }
  const std::string order_name = folder + "/byteorder";
  if (archive->contains(order_name) && archive->read(order_name) != "little") {
    throw DataError(FilePlace{path}, "was saved on a big-endian machine",
                    "save it again on an ordinary one");
  }
  pickle_bytes = archive->read(pickle_name);
  document = readPickle(pickle_bytes, path);
}

void TorchFile::Content::listArrays() {
  const auto add = [&](std::string_view name, PickleRef value) {
    if (value->as<std::unique_ptr<PickleArray>>() != nullptr ||
        value->as<std::unique_ptr<PickleTensor>>() != nullptr) {
      arrays.insert_or_assign(std::string(name), value);
    }
  };
  add("", &document.root());
  if (const auto* mapping = document.root().as<PickleMapping>()) {
    for (const auto& [key, value] : mapping->items) {
      if (key->as<PickleText>() != nullptr) {
        add(pickleText(*key), value);
      }
    }
  }
  for (const auto& [name, value] : arrays) {
    names.push_back(name);
  }
}

NumberArray TorchFile::Content::tensor(const PickleTensor& tensor, const std::string& label) const {
  if (archive) {
    const std::string member = fmt::format("{}/data/{}", folder, tensor.storage.key);
    if (const std::optional<std::string_view> plain = archive->stored(member)) {
      return NumberArray::fromBytes(*plain, tensor.layout, label);
    }
    return NumberArray::fromBytes(archive->read(member), tensor.layout, label);
  }
  const auto found = storages.find(tensor.storage.key);
  if (found == storages.end()) {
    throw DataError(
        fmt::format("{}: its storage {} is missing", label, printable(tensor.storage.key)));
  }
  return NumberArray::fromBytes(found->second, tensor.layout, label);
}

TorchFile::TorchFile(const std::filesystem::path& path) : TorchFile(readFile(path), path) {}

TorchFile::TorchFile(FileBytes bytes, const std::filesystem::path& path)
    : content_(std::make_unique<Content>(std::move(bytes), path)) {
  const std::string_view view = content_->bytes.view();
  if (view.starts_with(kLegacyMagic)) {
    content_->openLegacy();
  } else if (view.starts_with(kZipMagic)) {
    content_->openZip();
  } else {
    throw DataError(FilePlace{path}, "is not a file written by torch.save",
                    "copy or download the file again");
  }
  content_->listArrays();
}

TorchFile::TorchFile(TorchFile&&) noexcept = default;
TorchFile& TorchFile::operator=(TorchFile&&) noexcept = default;
TorchFile::~TorchFile() = default;

const std::vector<std::string>& TorchFile::names() const { return content_->names; }

bool TorchFile::contains(std::string_view name) const { return content_->arrays.contains(name); }

NumberArray TorchFile::read(std::string_view name) const {
  const auto found = content_->arrays.find(name);
  if (found == content_->arrays.end()) {
    throw DataError(FilePlace{content_->path},
                    fmt::format("has no array {}; it has: {}", printable(name),
                                printable(fmt::format("{}", fmt::join(content_->names, ", ")))));
  }
  const std::string label = fmt::format("{}[{}]", content_->path.string(), name);
  if (const auto* tensor = found->second->as<std::unique_ptr<PickleTensor>>()) {
    return content_->tensor(**tensor, label);
  }
  return pickledArray(*found->second, label);
}

}  // namespace edgewise
