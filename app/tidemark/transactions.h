#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/transaction_admin.h"

namespace CLI {
class App;
}

namespace tidemark::app {

class ClusterSession;

/// The command `transactions`: what is open on any cluster, who hangs, and how to end it.
class TransactionCommands {
 public:
  explicit TransactionCommands(CLI::App& app);

  bool parsed() const;
  CLI::App& command() noexcept { return *command_; }
  int run();

 private:
  Result<void> act(ClusterSession& session);
  Result<void> list(ClusterSession& session);
  Result<void> describe(ClusterSession& session);
  Result<void> abort(ClusterSession& session);
  Result<void> findHanging(ClusterSession& session);
  /// Which partitions the line means: one, those of a topic, or all.
  Result<std::vector<TopicPartition>> partitions(ClusterSession& session);

  CLI::App* command_;
  std::string action_;
  std::string bootstrap_ = "127.0.0.1:19092";
  bool json_ = false;
  std::string id_;
  std::vector<std::string> states_;
  std::string topic_;
  int32_t partition_ = -1;
  int64_t startOffset_ = -1;
  int64_t producer_ = -1;
  int32_t maxTransactionMinutes_ = 15;
};

}  // namespace tidemark::app
