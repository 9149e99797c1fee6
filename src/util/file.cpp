#include "edgewise/util/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "edgewise/util/error.h"

namespace edgewise {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void throwCannotRead(const std::filesystem::path& path, int reason) {
  if (reason == ENOENT || reason == ENOTDIR) {
    throw DataError(FilePlace{path}, "no such file",
                    "check the path; relative paths start at the current folder");
  }
  if (reason == EACCES || reason == EPERM) {
    throw DataError(FilePlace{path}, "permission denied", "make the file and its folders readable");
  }
  if (reason == ENOMEM) {
    throw ResourceError(fmt::format("{}: not enough memory to map the file", path.string()));
  }
  throw DataError(FilePlace{path}, fmt::format("cannot be read ({})", std::strerror(reason)));
}

// Pipes and devices have no size to map: read them to their end.
std::string readStream(int descriptor, const std::filesystem::path& path) {
  std::string bytes;
  constexpr std::size_t kChunk = 1 << 20;
  for (;;) {
    const std::size_t old_size = bytes.size();
    bytes.resize(old_size + kChunk);
    const ssize_t count = ::read(descriptor, bytes.data() + old_size, kChunk);
    if (count < 0 && errno == EINTR) {
      bytes.resize(old_size);
      continue;
    }
    if (count < 0) {
      throwCannotRead(path, errno);
    }
    bytes.resize(old_size + static_cast<std::size_t>(count));
    if (count == 0) {
      return bytes;
    }
  }
}

}  // namespace

struct FileBytes::Mapping {
  void* address;
  std::size_t size;

  Mapping(void* mapped, std::size_t length) : address(mapped), size(length) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() { ::munmap(address, size); }
};

FileBytes::FileBytes() = default;
FileBytes::FileBytes(FileBytes&&) noexcept = default;
FileBytes& FileBytes::operator=(FileBytes&&) noexcept = default;
FileBytes::~FileBytes() = default;

FileBytes FileBytes::map(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    throwCannotRead(path, errno);
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    throwCannotRead(path, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw DataError(FilePlace{path}, "is a folder, not a file");
  }
  if (!S_ISREG(status.st_mode)) {
    return own(readStream(file.get(), path));
  }
  FileBytes bytes;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return bytes;
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    throwCannotRead(path, errno);
  }
  bytes.mapping_ = std::make_unique<Mapping>(address, size);
  return bytes;
}

FileBytes FileBytes::own(std::string bytes) {
  FileBytes result;
  result.owned_ = std::move(bytes);
  return result;
}

std::string_view FileBytes::view() const {
  if (mapping_) {
    return {static_cast<const char*>(mapping_->address), mapping_->size};
  }
  return owned_;
}

FileBytes readFile(const std::filesystem::path& path) {
  FileBytes bytes = FileBytes::map(path);
  if (looksLikeGzip(bytes.view())) {
    return FileBytes::own(gunzip(bytes.view(), path));
  }
  return bytes;
}

bool isThere(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::optional<std::filesystem::path> findPlainOrGz(const std::filesystem::path& path) {
  if (isThere(path)) {
    return path;
  }
  std::filesystem::path packed = path;
  packed += ".gz";
  if (isThere(packed)) {
    return packed;
  }
  return std::nullopt;
}

}  // namespace edgewise
