#include "edgewise/data/download.h"

#include <fmt/format.h>

#include "edgewise/util/error.h"

#ifdef EDGEWISE_HAS_CURL
#include <curl/curl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "edgewise/util/atomic_file.h"
#include "edgewise/util/file.h"
#include "edgewise/util/hash.h"
#include "edgewise/util/interrupt.h"
#include "edgewise/util/text.h"
#endif

namespace edgewise {
namespace {

std::string byHand(const DownloadRequest& request) {
  return fmt::format("or fetch {} by hand and put it at {}", request.url, request.target.string());
}

}  // namespace

#ifndef EDGEWISE_HAS_CURL

bool canDownload() noexcept { return false; }

void downloadFile(const DownloadRequest& request, ProgressSink&) {
  throw DataError(
      fmt::format("{}: this build cannot download (it was made without libcurl)", request.url),
      "build with libcurl, " + byHand(request));
}

#else

namespace {

// A failure that another attempt may mend.
class TransientFailure : public DataError {
 public:
  using DataError::DataError;
};

class Handle {
 public:
  Handle() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    handle_ = ready == CURLE_OK ? curl_easy_init() : nullptr;
    if (handle_ == nullptr) {
      throw ResourceError("cannot start libcurl");
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() { curl_easy_cleanup(handle_); }

  template <class T>
  void set(CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(handle_, option, value);
    invariant(code == CURLE_OK, "libcurl takes the option");
  }
  template <class T>
  [[nodiscard]] T get(CURLINFO info) {
    T value{};
    curl_easy_getinfo(handle_, info, &value);
    return value;
  }
  [[nodiscard]] CURLcode perform() { return curl_easy_perform(handle_); }

 private:
  CURL* handle_ = nullptr;
};

// One attempt to fetch the file: what the callbacks need, and how it ended.
class Transfer {
 public:
  Transfer(const DownloadRequest& request, ProgressSink& progress)
      : request_(request), progress_(progress), file_(request.target) {
    configure();
  }

  void run() {
    const CURLcode code = handle_.perform();
    task_.reset();
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    if (code != CURLE_OK) {
      explain(code);
    }
    verify();
    file_.commit();
  }

 private:
  void configure() {
    const DownloadLimits& limits = request_.limits;
    handle_.set(CURLOPT_URL, request_.url.c_str());
    handle_.set(CURLOPT_USERAGENT, "edgewise");
    handle_.set(CURLOPT_NOSIGNAL, 1L);
    handle_.set(CURLOPT_FAILONERROR, 1L);
    handle_.set(CURLOPT_FOLLOWLOCATION, 1L);
    handle_.set(CURLOPT_MAXREDIRS, static_cast<long>(limits.max_redirects));
    const bool secure = lowerCase(request_.url).starts_with("https:");
#if LIBCURL_VERSION_NUM >= 0x075500
    handle_.set(CURLOPT_PROTOCOLS_STR, "http,https");
    handle_.set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
#else
    handle_.set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    handle_.set(CURLOPT_REDIR_PROTOCOLS,
                static_cast<long>(secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    handle_.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_timeout.count()));
    handle_.set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(limits.slow_bytes_per_second));
    handle_.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.slow_for.count()));
    handle_.set(CURLOPT_WRITEFUNCTION, &Transfer::onData);
    handle_.set(CURLOPT_WRITEDATA, this);
    handle_.set(CURLOPT_NOPROGRESS, 0L);
    handle_.set(CURLOPT_XFERINFOFUNCTION, &Transfer::onProgress);
    handle_.set(CURLOPT_XFERINFODATA, this);
  }

  // The callbacks are called from C: nothing may be thrown through them.
  static std::size_t onData(const char* bytes, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      transfer.take({bytes, size});
      return size;
    } catch (...) {
      transfer.failure_ = std::current_exception();
      return 0;
    }
  }
  static int onProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      throwIfInterrupted();
      return 0;
    } catch (...) {
      transfer.failure_ = std::current_exception();
      return 1;
    }
  }

  void take(std::string_view bytes) {
    ProgressTask& task = task_ ? *task_ : begin();
    received_ += bytes.size();
    if (request_.size && received_ > *request_.size) {
      throwWrongSize(fmt::format("more than the {} bytes", *request_.size));
    }
    file_.write(bytes);
    task.advance(bytes.size());
  }

  ProgressTask& begin() {
    const auto announced = handle_.get<curl_off_t>(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
    if (announced >= 0) {
      announced_ = static_cast<std::uint64_t>(announced);
    }
    if (request_.size && announced_ && *announced_ != *request_.size) {
      throwWrongSize(fmt::format("{} bytes instead of the {}", *announced_, *request_.size));
    }
    return task_.emplace(progress_, request_.target.filename().string(),
                         request_.size.value_or(announced_.value_or(0)));
  }

  [[noreturn]] void throwWrongSize(const std::string& what) const {
    throw DataError(
        fmt::format("{}: the server sends {} expected", request_.url, what),
        "the file may have changed at its source; check the address, " + byHand(request_));
  }

  void verify() {
    if (request_.size && received_ != *request_.size) {
      throwWrongSize(fmt::format("{} bytes instead of the {}", received_, *request_.size));
    }
    if (!request_.checksum) {
      return;
    }
    const FileBytes bytes = FileBytes::map(file_.written());
    const bool sha256 = request_.checksum->kind == ChecksumKind::kSha256;
    const std::string found = sha256 ? sha256Hex(bytes.view()) : gitBlobId(bytes.view());
    if (found != lowerCase(request_.checksum->hex)) {
      throw DataError(
          fmt::format("{}: wrong checksum: the {} is {}, expected {}", request_.url,
                      sha256 ? "SHA-256" : "git blob id", found, lowerCase(request_.checksum->hex)),
          "the file may be damaged or have changed at its source; try again later, " +
              byHand(request_));
    }
  }

  [[nodiscard]] std::string progressSoFar() const {
    return announced_ ? fmt::format("{} of {} bytes", received_, *announced_)
                      : fmt::format("{} bytes", received_);
  }

  [[noreturn]] void explain(CURLcode code) {
    switch (code) {
      case CURLE_HTTP_RETURNED_ERROR:
        explainStatus(handle_.get<long>(CURLINFO_RESPONSE_CODE));
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_COULDNT_CONNECT:
        fail<TransientFailure>("the server cannot be reached", code, "check the network");
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_GOT_NOTHING:
      case CURLE_HTTP2_STREAM:
        fail<TransientFailure>("the connection was cut after " + progressSoFar(), code,
                               "try again");
      case CURLE_OPERATION_TIMEDOUT:
        explainTimeout();
      case CURLE_TOO_MANY_REDIRECTS:
        fail<DataError>(fmt::format("more than {} redirects", request_.limits.max_redirects), code,
                        "check the address");
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_URL_MALFORMAT:
        fail<DataError>("not an address that can be fetched (http and https only)", code,
                        "check the address");
      default:
        fail<DataError>("the download failed", code, "check the network and the address");
    }
  }

  [[noreturn]] void explainStatus(long status) {
    constexpr long kNotFound = 404;
    const std::string what = fmt::format("the server answered with status {}{}", status,
                                         status == kNotFound ? " (no such file)" : "");
    // Busy, or a gateway that lost its server: these pass.
    if (status == 429 || status == 502 || status == 503 || status == 504) {
      fail<TransientFailure>(what, CURLE_OK, "try again later");
    }
    fail<DataError>(what, CURLE_OK, "check the address");
  }

  [[noreturn]] void explainTimeout() {
    const DownloadLimits& limits = request_.limits;
    if (handle_.get<curl_off_t>(CURLINFO_CONNECT_TIME_T) == 0) {
      fail<TransientFailure>(
          fmt::format("no connection within {}",
                      readableSeconds(static_cast<double>(limits.connect_timeout.count()) / 1e3)),
          CURLE_OK, "check the network");
    }
    fail<DataError>(fmt::format("the server is too slow: below {}/s for {} s, after {}",
                                readableBytes(limits.slow_bytes_per_second),
                                limits.slow_for.count(), progressSoFar()),
                    CURLE_OK, "try again later");
  }

  template <class Failure>
  [[noreturn]] void fail(const std::string& what, CURLcode code, std::string_view advice) const {
    const std::string detail =
        code == CURLE_OK ? std::string() : fmt::format(" ({})", curl_easy_strerror(code));
    throw Failure(fmt::format("{}: {}{}", request_.url, what, detail),
                  fmt::format("{}, {}", advice, byHand(request_)));
  }

  const DownloadRequest& request_;
  ProgressSink& progress_;
  AtomicFile file_;
  Handle handle_;
  std::optional<ProgressTask> task_;
  std::uint64_t received_ = 0;
  std::optional<std::uint64_t> announced_;
  std::exception_ptr failure_;
};

// Waits in short steps so that Ctrl-C is heard.
void pauseBeforeRetry(std::chrono::milliseconds pause) {
  constexpr std::chrono::milliseconds kStep{50};
  while (pause.count() > 0) {
    throwIfInterrupted();
    std::this_thread::sleep_for(std::min(pause, kStep));
    pause -= kStep;
  }
}

}  // namespace

bool canDownload() noexcept { return true; }

void downloadFile(const DownloadRequest& request, ProgressSink& progress) {
  for (int attempt = 0;; ++attempt) {
    throwIfInterrupted();
    try {
      Transfer(request, progress).run();
      return;
    } catch (const TransientFailure& failure) {
      if (attempt >= request.limits.retries) {
        throw DataError(failure.what(), failure.hint());
      }
    }
    pauseBeforeRetry(request.limits.retry_pause);
  }
}

#endif

}  // namespace edgewise
