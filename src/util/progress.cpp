#include "edgewise/util/progress.h"

namespace edgewise {
namespace {

class SilentSink final : public ProgressSink {
 public:
  void begin(std::string_view, std::uint64_t) override {}
  void update(std::uint64_t) override {}
  void end() override {}
};

}  // namespace

ProgressSink& silentProgress() {
  static SilentSink sink;  // stateless
  return sink;
}

}  // namespace edgewise
