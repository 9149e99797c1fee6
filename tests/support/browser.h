// A real browser without a window, driven over its debugging pipe: opens pages and tells what they
// drew, said and asked for. No driver program, no library: messages are JSON, each ended by a zero.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/test_support.h"

namespace edgewise::testing {

// How a page is looked at.
struct Screen {
  int width = 1200;
  int height = 900;
  bool dark = false;
  // As it is printed.
  bool paper = false;
};

class Browser {
 public:
  // The first known browser on the PATH.
  static std::optional<std::filesystem::path> find() {
    const char* path = std::getenv("PATH");
    std::string folders = path == nullptr ? "" : path;
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      std::size_t start = 0;
      while (start <= folders.size()) {
        const std::size_t end = std::min(folders.find(':', start), folders.size());
        const auto file = std::filesystem::path(folders.substr(start, end - start)) / name;
        if (::access(file.c_str(), X_OK) == 0) {
          return file;
        }
        start = end + 1;
      }
    }
    return std::nullopt;
  }

  explicit Browser(const std::filesystem::path& program) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) {
      throw std::runtime_error("no pipes for the browser");
    }
    const std::string profile = "--user-data-dir=" + (folder_.path() / "profile").string();
    child_ = ::fork();
    if (child_ == 0) {
      start(program, profile, to[0], from[1]);
    }
    ::close(to[0]);
    ::close(from[1]);
    write_ = to[1];
    read_ = from[0];
    // A browser that is gone must not take the test down with it.
    ::signal(SIGPIPE, SIG_IGN);
    const std::string target =
        call("Target.createTarget", {{"url", "about:blank"}}, false)["targetId"];
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}},
                    false)["sessionId"];
    for (const char* domain : {"Page", "Runtime", "Log", "Network"}) {
      call(std::string(domain) + ".enable");
    }
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  Browser(Browser&&) = delete;
  Browser& operator=(Browser&&) = delete;
  ~Browser() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(write_);
    ::close(read_);
  }

  // Loads the file and waits until it has loaded and drawn.
  void open(const std::filesystem::path& file, const Screen& screen = {}) {
    complaints_.clear();
    requests_.clear();
    loaded_ = false;
    call("Emulation.setDeviceMetricsOverride", {{"width", screen.width},
                                                {"height", screen.height},
                                                {"deviceScaleFactor", 1},
                                                {"mobile", screen.width < 600}});
    call("Emulation.setEmulatedMedia",
         {{"media", screen.paper ? "print" : ""},
          {"features",
           {{{"name", "prefers-color-scheme"}, {"value", screen.dark ? "dark" : "light"}}}}});
    call("Page.navigate", {{"url", urlOf(file)}});
    while (!loaded_) {
      take(receive());
    }
    evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  // The value of a JavaScript expression; a promise's once it is kept.
  nlohmann::json evaluate(const std::string& expression) {
    const nlohmann::json answer =
        call("Runtime.evaluate",
             {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (answer.contains("exceptionDetails")) {
      throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
    }
    return answer["result"].value("value", nlohmann::json());
  }

  // Errors, warnings and exceptions since the page was opened.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  // Every address that was asked for since.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

  static std::string urlOf(const std::filesystem::path& file) {
    std::string url = "file://";
    for (const char letter : file.string()) {
      const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '/' ||
                         letter == '.' || letter == '-' || letter == '_';
      url += plain ? std::string(1, letter)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return url;
  }

 private:
  [[noreturn]] static void start(const std::filesystem::path& program, std::string profile, int in,
                                 int out) {
    // 3 and 4 are where the browser looks for its pipe; they may be among the ends themselves.
    const int in_copy = ::fcntl(in, F_DUPFD, 10);
    const int out_copy = ::fcntl(out, F_DUPFD, 10);
    ::dup2(in_copy, 3);
    ::dup2(out_copy, 4);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(nothing, stream);
    }
    std::vector<std::string> words = {program.string(),
                                      "--headless",
                                      "--no-sandbox",
                                      "--disable-gpu",
                                      "--disable-dev-shm-usage",
                                      "--disable-background-networking",
                                      "--no-first-run",
                                      "--remote-debugging-pipe",
                                      std::move(profile)};
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }

  nlohmann::json call(const std::string& method,
                      const nlohmann::json& parameters = nlohmann::json::object(),
                      bool in_page = true) {
    const int id = ++last_id_;
    nlohmann::json message = {{"id", id}, {"method", method}, {"params", parameters}};
    if (in_page) {
      message["sessionId"] = session_;
    }
    send(message.dump());
    while (true) {
      nlohmann::json answer = receive();
      if (answer.value("id", 0) != id) {
        take(answer);
        continue;
      }
      if (answer.contains("error")) {
        throw std::runtime_error(method + ": " + answer["error"].dump());
      }
      return answer["result"];
    }
  }

  void send(std::string text) const {
    text += '\0';
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = ::write(write_, text.data() + sent, text.size() - sent);
      if (count <= 0) {
        throw std::runtime_error("the browser has gone");
      }
      sent += static_cast<std::size_t>(count);
    }
  }

  nlohmann::json receive() {
    constexpr int kPatienceMs = 120'000;
    std::size_t end = buffer_.find('\0');
    while (end == std::string::npos) {
      pollfd ready{.fd = read_, .events = POLLIN, .revents = 0};
      std::array<char, 1 << 16> piece{};
      if (::poll(&ready, 1, kPatienceMs) <= 0) {
        throw std::runtime_error("the browser does not answer");
      }
      const ssize_t count = ::read(read_, piece.data(), piece.size());
      if (count <= 0) {
        throw std::runtime_error("the browser has gone");
      }
      buffer_.append(piece.data(), static_cast<std::size_t>(count));
      end = buffer_.find('\0');
    }
    nlohmann::json message = nlohmann::json::parse(buffer_.substr(0, end));
    buffer_.erase(0, end + 1);
    return message;
  }

  // An event.
  void take(const nlohmann::json& event) {
    const std::string method = event.value("method", "");
    const nlohmann::json& about = event.contains("params") ? event["params"] : event;
    if (method == "Page.loadEventFired") {
      loaded_ = true;
    } else if (method == "Network.requestWillBeSent") {
      requests_.push_back(about["request"]["url"]);
    } else if (method == "Runtime.exceptionThrown") {
      complaints_.push_back(about.dump());
    } else if (method == "Runtime.consoleAPICalled") {
      const std::string kind = about["type"];
      if (kind == "error" || kind == "warning" || kind == "assert") {
        complaints_.push_back(about.dump());
      }
    } else if (method == "Log.entryAdded") {
      complaints_.push_back(about.dump());
    }
  }

  TempFolder folder_;
  pid_t child_ = -1;
  int write_ = -1;
  int read_ = -1;
  int last_id_ = 0;
  std::string session_;
  std::string buffer_;
  bool loaded_ = false;
  std::vector<std::string> complaints_;
  std::vector<std::string> requests_;
};

}  // namespace edgewise::testing
