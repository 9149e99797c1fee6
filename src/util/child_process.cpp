#include "edgewise/util/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>

#include "edgewise/util/error.h"
#include "edgewise/util/interrupt.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace edgewise {
namespace {

constexpr mode_t kFileMode = 0666;
constexpr int kNotStarted = 127;
constexpr int kSignalled = 128;

std::string reasonOf(int number) { return std::generic_category().message(number); }

// Between fork and exec only calls that are safe after a signal: other threads may have held locks.
[[noreturn]] void becomeProgram(const char* program, char* const* words, int output,
                                pid_t starter) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != starter) {
    ::_exit(kNotStarted);
  }
#else
  (void)starter;
#endif
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(program, words);
  ::_exit(kNotStarted);
}

// Who wrote a lock's file.
std::string holderOf(int descriptor) {
  std::array<char, 16> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string_view number(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string_view line = number.substr(0, number.find('\n'));
  return line.empty() ? "another process" : fmt::format("another process ({})", line);
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  const std::string program = command.program.string();
  std::vector<std::string> words = {"edgewise"};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  const int output =
      ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (output < 0) {
    throw DataError(FilePlace{command.output},
                    fmt::format("cannot be written ({})", reasonOf(errno)));
  }
  const pid_t starter = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    becomeProgram(program.c_str(), pointers.data(), output, starter);
  }
  const int reason = errno;
  ::close(output);
  if (pid_ < 0) {
    throw ResourceError(fmt::format("cannot start a process ({})", reasonOf(reason)));
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_), code_(other.code_) {
  other.pid_ = -1;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void ChildProcess::keep(int status) {
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  pid_ = -1;
}

bool ChildProcess::running() {
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    keep(status);
  }
  return pid_ > 0;
}

int ChildProcess::wait() {
  while (pid_ > 0) {
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      keep(status);
    } else if (errno != EINTR) {
      pid_ = -1;
    }
  }
  return code_;
}

void ChildProcess::interrupt() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGINT);
  }
}

FolderLock::FolderLock(const std::filesystem::path& folder, const FolderUse& use) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const std::filesystem::path file = folder / use.file;
  // What a killed program had started ends a moment after it.
  constexpr double kPause = 0.05;
  const auto tries = static_cast<int>(use.seconds / kPause);
  for (int i = 0;; ++i) {
    const int alone = use.inherited ? 0 : O_CLOEXEC;
    descriptor_ = failure ? -1 : ::open(file.c_str(), O_RDWR | O_CREAT | alone, kFileMode);
    if (descriptor_ < 0) {
      throw DataError(FilePlace{folder},
                      fmt::format("cannot write to this folder ({})",
                                  failure ? failure.message() : reasonOf(errno)),
                      "choose another folder with " + use.option);
    }
    if (take(file)) {
      break;
    }
    const std::string holder = holderOf(descriptor_);
    ::close(descriptor_);
    if (i >= tries || interruptRequested()) {
      throw ConfigError(fmt::format("{} is in use by {}", folder.string(), holder),
                        "wait for it to end, or choose another " + use.option);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
  }
  if (!use.inherited) {
    file_ = file;
  }
}

bool FolderLock::take(const std::filesystem::path& file) {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return errno != EWOULDBLOCK && errno != EINTR;  // a file system without locks
  }
  // Whoever held it may have removed the file since it was opened here.
  struct stat here{};
  struct stat there{};
  if (::fstat(descriptor_, &here) != 0 || ::stat(file.c_str(), &there) != 0 ||
      here.st_ino != there.st_ino) {
    return false;
  }
  // Who holds it is told where that can be written; it is held all the same.
  const std::string number = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor_, 0) == 0) {
    std::ignore = ::pwrite(descriptor_, number.data(), number.size(), 0);
  }
  return true;
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) {
    return;
  }
  // While it is held: nobody else has it then.
  if (!file_.empty()) {
    ::unlink(file_.c_str());
  }
  ::close(descriptor_);
}

}  // namespace edgewise
