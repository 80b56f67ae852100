#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/transaction_admin.h"
#include "tidemark/clusters/cluster_command.h"

namespace tidemark::app {

class ClusterSession;

/// The command `transactions`: what is open on any cluster, who hangs, and how to end it.
class TransactionCommands : public ClusterCommand {
 public:
  explicit TransactionCommands(CLI::App& app);

  int run();

 private:
  Result<void> act(ClusterSession& session);
  Result<void> list(ClusterSession& session);
  Result<void> describe(ClusterSession& session);
  Result<void> abort(ClusterSession& session);
  Result<void> findHanging(ClusterSession& session);
  /// Which partitions the line means: one, those of a topic, or all.
  Result<std::vector<TopicPartition>> partitions(ClusterSession& session);

  std::string id_;
  std::vector<std::string> states_;
  std::string topic_;
  int32_t partition_ = -1;
  int64_t startOffset_ = -1;
  int64_t producer_ = -1;
  int32_t maxTransactionMinutes_ = 15;
  /// Somebody did not answer, the others did.
  bool partial_ = false;
};

}  // namespace tidemark::app
