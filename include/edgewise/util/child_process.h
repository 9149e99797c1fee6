// A program started beside this one, and a folder that only one process works in. Work that is
// spread over processes survives the end of any of them, and none outlives the one that started it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace edgewise {

struct ChildCommand {
  // What to start; /proc/self/exe is this program itself, even when its file was replaced
  // meanwhile.
  std::filesystem::path program = {};
  // Its arguments, without its name.
  std::vector<std::string> words = {};
  // Where all it says goes; made anew.
  std::filesystem::path output = {};
};

// A running program in a process group of its own: Ctrl-C on a terminal reaches the starter alone,
// which decides. Where the system can (Linux), it is killed when the starter ends.
class ChildProcess {
 public:
  // Throws DataError when the output cannot be written, ResourceError when no process can be
  // started. A program that is not there exits with 127.
  explicit ChildProcess(const ChildCommand& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills what still runs.
  ~ChildProcess();

  [[nodiscard]] bool running();
  // Waits for the end. 128 + the signal when one ended it.
  int wait();
  // Asks it to end, as Ctrl-C would.
  void interrupt() const;

 private:
  void keep(int status);

  pid_t pid_ = -1;
  int code_ = -1;
};

// What a folder is locked for: where, how long to wait for others, and the option that names it.
struct FolderUse {
  std::string file = ".lock";
  double seconds = 2;
  std::string option = "--out";
  // Whether processes that are started meanwhile hold it as well. Where they do not, the file goes
  // when the lock does.
  bool inherited = true;
};

// A folder's lock, held until this object (and every process started meanwhile) is gone, however
// they end. The file says which process took it.
class FolderLock {
 public:
  // Makes the folder. Throws ConfigError when somebody else holds it for the same use all the
  // while, DataError when it cannot be written.
  explicit FolderLock(const std::filesystem::path& folder, const FolderUse& use = {});
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock(FolderLock&&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  // Whether the lock was taken: else somebody holds it.
  [[nodiscard]] bool take(const std::filesystem::path& file);

  int descriptor_ = -1;
  // To be removed at the end; empty: it stays.
  std::filesystem::path file_;
};

}  // namespace edgewise
