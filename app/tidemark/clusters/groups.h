#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/group_admin.h"
#include "client/offset_reset.h"
#include "tidemark/clusters/cluster_command.h"

namespace tidemark::app {

class ClusterSession;

/// The command `groups`: who consumes what together, on any cluster, and where their offsets stand.
class GroupCommands : public ClusterCommand {
 public:
  explicit GroupCommands(CLI::App& app);

  int run();

 private:
  struct Found {
    client::GroupDescription group;
    NodeId coordinator;
  };

  /// A command whose line is right; prints what it found, or fails with what is to be complained of.
  Result<void> act(ClusterSession& session);
  Result<client::Gathered<client::ListedGroup>> all(ClusterSession& session);
  Result<void> list(ClusterSession& session);
  Result<void> describe(ClusterSession& session);
  Result<void> describeOne(ClusterSession& session, const client::ListedGroup& group);
  Result<void> resetOffsets(ClusterSession& session);
  Result<void> deleteOffsets(ClusterSession& session);
  Result<void> remove(ClusterSession& session);
  Result<client::ListedGroup> find(ClusterSession& session, const std::string& name);
  /// Where the line says a reset goes to.
  Result<client::ResetTo> resetTo() const;
  Result<client::ResetScope> scope() const;

  std::vector<std::string> names_;
  std::string state_;
  std::string type_;
  bool members_ = false;
  bool stateOnly_ = false;
  bool verbose_ = false;
  std::vector<std::string> topics_;
  bool allTopics_ = false;
  bool toEarliest_ = false;
  bool toLatest_ = false;
  bool toCurrent_ = false;
  int64_t toOffset_ = INT64_MIN;
  int64_t shiftBy_ = INT64_MIN;
  std::string toDatetime_;
  std::string byDuration_;
  bool execute_ = false;
  bool dryRun_ = false;
  /// Somebody did not answer, the others did.
  bool partial_ = false;
};

}  // namespace tidemark::app
