#include "sim/shrink.h"

#include <algorithm>
#include <utility>

namespace tidemark::sim {
namespace {

class Shrinking {
 public:
  Shrinking(const ScenarioOptions& options, const ScenarioResult& failing, int mostRuns)
      : best_{.options = options, .result = failing}, left_(mostRuns) {}

  Shrunk run() {
    for (int brokers = 1; brokers < best_.result.brokers; ++brokers) {
      ScenarioOptions fewer = best_.options;
      fewer.brokers = brokers;
      // Its faults have other numbers.
      fewer.faults.reset();
      if (accepts(std::move(fewer))) break;
    }
    std::vector<size_t> all = best_.result.faults;
    for (size_t length = std::max<size_t>(all.size() / 2, 1); !all.empty(); length /= 2) {
      for (size_t from = 0; from < all.size();) {
        const size_t count = std::min(length, all.size() - from);
        std::vector<size_t> rest = all;
        const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(from);
        rest.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
        ScenarioOptions fewer = best_.options;
        fewer.faults = std::set<size_t>(rest.begin(), rest.end());
        if (accepts(std::move(fewer))) {
          // Those that did not come to pass any more are not needed either.
          all = best_.result.faults;
        } else {
          from += count;
        }
        if (left_ == 0) return std::move(best_);
      }
      if (length == 1) break;
    }
    return std::move(best_);
  }

 private:
  bool accepts(ScenarioOptions options) {
    if (left_ == 0) return false;
    --left_;
    ++best_.runs;
    ScenarioResult result = runScenario(options);
    if (!result.breach || result.breach->invariant != best_.result.breach->invariant) return false;
    best_.options = std::move(options);
    best_.result = std::move(result);
    return true;
  }

  Shrunk best_;
  int left_;
};

}  // namespace

Shrunk shrink(const ScenarioOptions& options, const ScenarioResult& failing, int mostRuns) {
  return Shrinking(options, failing, mostRuns).run();
}

}  // namespace tidemark::sim
