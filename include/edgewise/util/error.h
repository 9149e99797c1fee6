// Errors that reach a user. Every one carries what went wrong (with the offending value and place),
// a hint that says what to do next, and the process exit code it stands for; `main` catches once
// and prints both lines. Broken invariants of our own are not user errors: use `invariant`, which
// throws std::logic_error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace edgewise {

enum class ExitCode : int {
  kDone = 0,
  kFailure = 1,
  kUsage = 2,
  kData = 3,
  kResources = 4,
  kInterrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(const std::string& message, std::string hint, ExitCode code)
      : std::runtime_error(message), hint_(std::move(hint)), code_(code) {}

  // What to do next; may be empty.
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  [[nodiscard]] ExitCode exitCode() const noexcept { return code_; }

 private:
  std::string hint_;
  ExitCode code_;
};

// A wrong option, argument or combination of them.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message, std::string hint = {})
      : Error(message, std::move(hint), ExitCode::kUsage) {}
};

// Where in a file a problem stands. `line` counts from 1; 0 means the file as a whole.
struct FilePlace {
  std::filesystem::path path;
  std::size_t line = 0;
};

// "path:line" or "path".
[[nodiscard]] std::string toString(const FilePlace& place);

// A file or its content that cannot be used.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message, std::string hint = {})
      : Error(message, std::move(hint), ExitCode::kData) {}
  DataError(const FilePlace& place, const std::string& message, std::string hint = {})
      : Error(toString(place) + ": " + message, std::move(hint), ExitCode::kData) {}
};

// Sizes that do not fit together (a caller's mistake that a user can also provoke through files).
class ShapeError : public Error {
 public:
  explicit ShapeError(const std::string& message, std::string hint = {})
      : Error(message, std::move(hint), ExitCode::kData) {}
};

// Disk full, memory exhausted, no such device.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& message, std::string hint = {})
      : Error(message, std::move(hint), ExitCode::kResources) {}
};

// The user pressed Ctrl-C (or the process was asked to end).
class InterruptedError : public Error {
 public:
  explicit InterruptedError(const std::string& message, std::string hint = {})
      : Error(message, std::move(hint), ExitCode::kInterrupted) {}
};

[[noreturn]] void throwBrokenInvariant(std::string_view what, const std::source_location& where);

// Throws std::logic_error with the caller's file and line when `holds` is false. Inline, so that
// compilers and checkers see what holds afterwards.
inline void invariant(bool holds, std::string_view what,
                      const std::source_location& where = std::source_location::current()) {
  if (!holds) {
    throwBrokenInvariant(what, where);
  }
}

}  // namespace edgewise
