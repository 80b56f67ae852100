#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/checker.h"

namespace tidemark::sim {

/// How often what occurred: a run without these was worth little.
class Tally final : public Checker {
 public:
  void on(const Seen& seen) override;
  void count(std::string_view what, uint64_t times = 1) { rows_[std::string(what)] += times; }
  uint64_t times(std::string_view what) const;
  /// Split votes are known at the end only.
  void finish();
  void add(const Tally& other);
  /// What must have occurred and did not.
  std::vector<std::string> missing() const;
  std::string table() const;

 private:
  std::map<std::string, uint64_t> rows_;
  std::set<TopicPartition> led_;
  std::map<LeaderEpoch, std::set<NodeId>> candidates_;
};

}  // namespace tidemark::sim
