// A tiny HTTP server on loopback for tests of downloading: answers each request from a table, one
// after another on its own thread, and can misbehave on purpose.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace edgewise::testing {

struct HttpReply {
  int status = 200;
  std::string body;
  // Where a redirect leads.
  std::string location;
  // The Content-Length to claim; the body's size when absent. More than the body is a cut transfer.
  std::optional<std::size_t> claimed_length;
  // Sends the body without saying how long it is.
  bool without_length = false;
  // After the body: keeps the connection open, silent, until the client goes away.
  bool stall = false;
};

// A whole page.
inline HttpReply page(std::string body) {
  HttpReply reply;
  reply.body = std::move(body);
  return reply;
}
// A page that does not say how long it is.
inline HttpReply unsizedPage(std::string body) {
  HttpReply reply = page(std::move(body));
  reply.without_length = true;
  return reply;
}
// The start of a page of `length` bytes, then the end of the connection.
inline HttpReply cutPage(std::string body, std::size_t length) {
  HttpReply reply = page(std::move(body));
  reply.claimed_length = length;
  return reply;
}
// The start of a page of `length` bytes, then silence.
inline HttpReply stallingPage(std::string body, std::size_t length) {
  HttpReply reply = cutPage(std::move(body), length);
  reply.stall = true;
  return reply;
}
inline HttpReply redirect(std::string location) {
  HttpReply reply = page("moved");
  reply.status = 302;
  reply.location = std::move(location);
  return reply;
}
inline HttpReply failure(int status) {
  HttpReply reply = page("sorry");
  reply.status = status;
  return reply;
}

class HttpServer {
 public:
  HttpServer() {
    // Loopback must not be sent through a proxy the environment may name.
    ::setenv("no_proxy", "127.0.0.1", 1);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, generic, length) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, generic, &length) != 0 || ::pipe2(wake_.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("cannot start the test server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  HttpServer(HttpServer&&) = delete;
  HttpServer& operator=(HttpServer&&) = delete;
  ~HttpServer() {
    // Closing the writing end wakes every poll of the serving thread.
    ::close(wake_[1]);
    thread_.join();
    ::close(wake_[0]);
    ::close(listener_);
  }

  // "http://127.0.0.1:<port>" followed by `path`, which starts with a slash or is empty.
  [[nodiscard]] std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

  // What to answer at `path`: each reply once, the last one for ever. Unknown paths get a 404.
  void answer(const std::string& path, std::vector<HttpReply> replies) {
    const std::lock_guard lock(mutex_);
    replies_[path] = std::move(replies);
  }
  void answer(const std::string& path, HttpReply reply) {
    answer(path, std::vector<HttpReply>{std::move(reply)});
  }

  // The paths asked for so far, in order.
  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (waitFor(listener_)) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) {
        handle(client);
        ::close(client);
      }
    }
  }

  // True when `socket` can be read, false when the server is to end.
  [[nodiscard]] bool waitFor(int socket) const {
    std::array<pollfd, 2> watched = {pollfd{socket, POLLIN, 0}, pollfd{wake_[0], POLLIN, 0}};
    while (::poll(watched.data(), watched.size(), -1) < 0) {
    }
    return watched[1].revents == 0;
  }

  void handle(int client) {
    std::string head;
    std::array<char, 4096> buffer{};
    while (head.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = waitFor(client) ? ::read(client, buffer.data(), buffer.size()) : 0;
      if (count <= 0) {
        return;
      }
      head.append(buffer.data(), static_cast<std::size_t>(count));
    }
    const std::size_t begin = head.find(' ') + 1;
    const HttpReply reply = take(head.substr(begin, head.find(' ', begin) - begin));
    sendAll(client, headOf(reply) + reply.body);
    if (reply.stall) {
      while (waitFor(client) && ::read(client, buffer.data(), buffer.size()) > 0) {
      }
    }
  }

  [[nodiscard]] HttpReply take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(path);
    const auto found = replies_.find(path);
    if (found == replies_.end() || found->second.empty()) {
      return failure(404);
    }
    std::vector<HttpReply>& replies = found->second;
    HttpReply reply = replies.front();
    if (replies.size() > 1) {
      replies.erase(replies.begin());
    }
    return reply;
  }

  static std::string headOf(const HttpReply& reply) {
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Test\r\n";
    if (!reply.location.empty()) {
      head += "Location: " + reply.location + "\r\n";
    }
    if (!reply.without_length) {
      const std::size_t length = reply.claimed_length.value_or(reply.body.size());
      head += "Content-Length: " + std::to_string(length) + "\r\n";
    }
    return head + "Connection: close\r\n\r\n";
  }

  static void sendAll(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) {
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int listener_ = -1;
  std::array<int, 2> wake_ = {-1, -1};
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<HttpReply>> replies_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace edgewise::testing
