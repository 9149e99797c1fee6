#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/printable.h"
#include "data/safetensors_header.h"
#include "edgewise/data/number_array.h"
#include "edgewise/util/error.h"

namespace edgewise {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kWriteAgain =
    "copy or download the file again, or write it anew with a safetensors library";
constexpr std::uint64_t kLargestSize = std::numeric_limits<std::int64_t>::max();

// What the text has led to: the next value or the keys to come.
enum class State : std::uint8_t {
  kHeader,
  kNames,
  kTensor,
  kFields,
  kType,
  kShape,
  kSizes,
  kOffsets,
  kPositions,
  kMetadata,
  kMetadataKeys,
  kMetadataText,
};

constexpr std::array<std::pair<std::string_view, State>, 3> kFields = {
    {{"dtype", State::kType}, {"shape", State::kShape}, {"data_offsets", State::kOffsets}}};

// What must stand where the text has led to.
std::string_view ruleOf(State state) {
  switch (state) {
    case State::kTensor:
      return "must be an object with dtype, shape and data_offsets";
    case State::kType:
      return "dtype must be a string";
    case State::kShape:
      return "shape must be an array of sizes";
    case State::kSizes:
      return "a size must be a whole number from 0 to 9223372036854775807";
    case State::kOffsets:
      return "data_offsets must be an array of two positions";
    case State::kPositions:
      return "a position must be a whole number from 0 to 18446744073709551615";
    case State::kMetadata:
      return "must be an object of strings";
    case State::kMetadataText:
      return "must be a string";
    default:
      return "must be an object";
  }
}

// Takes the header as a stream of events instead of a tree: what the format has no place for is
// refused where it begins, however deep or long it would go on, and a key that comes twice is seen.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::filesystem::path& path) : path_(path) {}

  [[nodiscard]] SafetensorsHeader take() { return std::move(header_); }

  bool null() override { wrong("null"); }
  bool boolean(bool value) override { wrong(value ? "true" : "false"); }
  // Only what has a minus sign arrives here.
  bool number_integer(number_integer_t value) override {
    wrong(value == 0 ? "-0" : fmt::format("{}", value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    wrong(printable(text));
  }
  bool binary(binary_t& /*value*/) override { wrong("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kSizes && value <= kLargestSize) {
      if (tensor_.shape.size() == kMaxDimensions) {
        fail(fmt::format("has more than {} dimensions", kMaxDimensions));
      }
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (state_ == State::kPositions) {
      if (position_count_ == 2) {
        fail("data_offsets holds more than two positions");
      }
      (position_count_ == 0 ? tensor_.begin : tensor_.end) = value;
      ++position_count_;
    } else {
      wrong(fmt::format("{}", value));
    }
    return true;
  }

  bool string(string_t& text) override {
    if (state_ == State::kType) {
      setType(text);
      state_ = State::kFields;
    } else if (state_ == State::kMetadataText) {
      metadata_value_->second = std::move(text);
      state_ = State::kMetadataKeys;
    } else {
      wrong(fmt::format("the string {}", printable(text)));
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    if (state_ == State::kHeader) {
      state_ = State::kNames;
    } else if (state_ == State::kTensor) {
      state_ = State::kFields;
    } else if (state_ == State::kMetadata) {
      state_ = State::kMetadataKeys;
    } else {
      wrong("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    if (state_ == State::kNames) {
      startEntry(text);
    } else if (state_ == State::kFields) {
      startField(text);
    } else {
      startMetadata(text);
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::kFields) {
      finishTensor();
    }
    // Behind the header's own end nothing follows that would ask for the state.
    state_ = State::kNames;
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    if (state_ == State::kShape) {
      state_ = State::kSizes;
    } else if (state_ == State::kOffsets) {
      state_ = State::kPositions;
    } else {
      wrong("an array");
    }
    return true;
  }

  bool end_array() override {
    if (state_ == State::kPositions && position_count_ != 2) {
      fail(fmt::format("data_offsets must hold two positions, not {}", position_count_));
    }
    state_ = State::kFields;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& /*reason*/) override {
    throw DataError(
        FilePlace{path_},
        fmt::format("the header is not valid JSON at its byte {}: {}", position, printable(token)),
        std::string(kWriteAgain));
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(FilePlace{path_}, fmt::format("{}: {}", where_, what),
                    std::string(kWriteAgain));
  }

  [[noreturn]] void wrong(std::string_view found) const {
    fail(fmt::format("{}, not {}", ruleOf(state_), found));
  }

  void startEntry(std::string& name) {
    if (name == kSafetensorsMetadata) {
      where_ = name;
      if (std::exchange(has_metadata_, true)) {
        fail("stands in the header twice");
      }
      state_ = State::kMetadata;
      return;
    }
    where_ = fmt::format("tensor {}", printable(name));
    tensor_ = {};
    tensor_.name = std::move(name);
    seen_.clear();
    position_count_ = 0;
    state_ = State::kTensor;
  }

  void startField(std::string_view name) {
    const auto* field = std::ranges::find(kFields, name, [](const auto& row) { return row.first; });
    if (field == kFields.end()) {
      fail(fmt::format("has an unknown key {}", printable(name)));
    }
    if (std::ranges::find(seen_, field->second) != seen_.end()) {
      fail(fmt::format("has {} twice", name));
    }
    seen_.push_back(field->second);
    state_ = field->second;
  }

  void startMetadata(std::string& name) {
    const auto [value, is_new] = header_.metadata.try_emplace(std::move(name));
    where_ = fmt::format("{} {}", kSafetensorsMetadata, printable(value->first));
    if (!is_new) {
      fail("stands in the header twice");
    }
    metadata_value_ = value;
    state_ = State::kMetadataText;
  }

  void setType(std::string_view name) {
    const std::optional<TensorType> type = tensorTypeNamed(name);
    if (!type) {
      throw DataError(FilePlace{path_},
                      fmt::format("{}: unknown dtype {}", where_, printable(name)),
                      "convert it to F64, F32, F16, BF16, BOOL or an integer type (I8 to I64, "
                      "U8 to U64)");
    }
    tensor_.type = *type;
  }

  void finishTensor() {
    for (const auto& [name, field] : kFields) {
      if (std::ranges::find(seen_, field) == seen_.end()) {
        fail(fmt::format("lacks {}", name));
      }
    }
    const std::optional<std::uint64_t> size = tensorBytes(tensor_.type, tensor_.shape);
    if (!size) {
      fail(fmt::format("the shape {} is beyond any memory", shapeText(tensor_.shape)));
    }
    if (tensor_.begin > tensor_.end) {
      fail(fmt::format("data_offsets end at {}, before they begin at {}", tensor_.end,
                       tensor_.begin));
    }
    if (tensor_.end - tensor_.begin != *size) {
      fail(fmt::format("the shape {} of {} takes {} bytes, but data_offsets span {}",
                       shapeText(tensor_.shape), typeName(tensor_.type), *size,
                       tensor_.end - tensor_.begin));
    }
    header_.tensors.push_back(std::move(tensor_));
  }

  const std::filesystem::path& path_;
  SafetensorsHeader header_;
  State state_ = State::kHeader;
  // The entry at hand, for errors.
  std::string where_ = "the header";
  bool has_metadata_ = false;
  TensorEntry tensor_;
  std::vector<State> seen_;
  std::size_t position_count_ = 0;
  std::map<std::string, std::string>::iterator metadata_value_{};
};

}  // namespace

SafetensorsHeader parseSafetensorsHeader(std::string_view text, const std::filesystem::path& path) {
  // The JSON library takes a zero byte for the end and would leave what follows unread.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw DataError(FilePlace{path},
                    fmt::format("the header is not valid JSON: its byte {} is zero", zero),
                    std::string(kWriteAgain));
  }
  HeaderReader reader(path);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return reader.take();
}

}  // namespace edgewise
