#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/group_admin.h"
#include "client/streams_member.h"
#include "sim/applications.h"
#include "sim/streams_history.h"

namespace tidemark::sim {

/// What a seed says of streams groups (KIP-1071).
struct StreamsPlan {
  /// 0: there is none.
  int members = 0;
  /// Copies of each task with state, besides the active one.
  int standbys = 0;
  /// The first of them keeps its place for a while when it leaves.
  bool hasStatic = false;
  /// How long a group that was empty waits for more members, and how long one does between two assignments.
  platform::milliseconds initialDelay{0};
  platform::milliseconds assignmentInterval{0};

  bool any() const noexcept { return members > 0; }
  /// What brokers are to be told.
  std::vector<std::pair<std::string, std::string>> settings() const;
  /// The names of each member's processes, one after the other.
  std::vector<std::vector<std::string>> clients() const;
};

StreamsPlan drawStreams(uint64_t seed);

/// An instance of a Kafka Streams application with one thread, of which there are only its tasks: it closes those that
/// it is to give up, some of them slowly, and commits offsets for those that it runs.
class StreamsApplication final : public Application {
 public:
  struct Options {
    std::string topic;
    /// Of each topic that it needs for itself.
    int copies = 1;
    std::string group;
    /// A static member's; empty: a dynamic one.
    std::string instanceId;
    uint64_t seed = 0;
  };
  StreamsApplication(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
                     Options options, StreamsHistory& history);
  ~StreamsApplication() override;

  /// What its history knows it by.
  const std::string& identity() const noexcept { return options_.instanceId.empty() ? name_ : options_.instanceId; }
  /// Says so; its tasks are closed.
  void leave();
  const std::string& error() const noexcept { return error_; }
  /// Asks what its group has committed, until it is known.
  void askForOffsets();
  const std::optional<StreamsHistory::Offsets>& offsets() const noexcept { return offsets_; }
  /// What was known to be committed when it asked: more may have been since.
  const StreamsHistory::Offsets& knownBefore() const noexcept { return knownBefore_; }

 private:
  void start();
  void given(int32_t epoch, const client::StreamsTasks& tasks);
  void commit();

  const Options options_;
  platform::Generator choices_;
  StreamsHistory& history_;
  std::unique_ptr<client::GroupAdmin> admin_;
  std::unique_ptr<client::StreamsMember> member_;
  /// Behind what it has processed, of the partitions that its tasks read.
  std::map<client::StreamsTask, Offset> positions_;
  /// What became of a commit for them is not known, and it may still come to pass: until they are given anew.
  std::set<client::StreamsTask> inDoubt_;
  bool committing_ = false;
  bool left_ = false;
  platform::Timer timer_;
  platform::Timer closing_;
  platform::Timer asking_;
  std::string error_;
  StreamsHistory::Offsets knownBefore_;
  std::optional<StreamsHistory::Offsets> offsets_;
};

/// The streams group of a scenario, if it has one: its members die without a word and come back, or leave.
class StreamsLoad final : public Checker {
 public:
  struct Setup {
    platform::World& world;
    Judge& judge;
    Tally& tally;
    uint64_t seed;
    std::string topic;
    int partitions;
    int copies;
    /// Offsets of a group without members are kept for a minute only, which a clock can jump over.
    bool offsetsExpire;
  };
  StreamsLoad(Setup setup, StreamsPlan plan);

  const StreamsPlan& plan() const noexcept { return plan_; }
  void begin(const std::vector<platform::Endpoint>& bootstrap);
  /// The next third of the faults begins: members go, and those that went before are back; after the last all are.
  void third(int number);
  /// Records are lost by Kafka's rules: what the group remembers may be among them.
  void lost() noexcept { history_.lost(); }
  /// "L4: …"; empty if everybody is a member and each task is where it shall be.
  std::string whatIsNotWhole() const;
  /// Once it is whole: asks what is committed.
  void askForOffsets();
  /// What is not known of that yet; empty if all is.
  std::string whatIsNotTold() const;
  /// G4 and G5, once all is told.
  void judgeAtRest() const;
  void on(const Seen& seen) override;

 private:
  void come(size_t place);

  const Setup setup_;
  const StreamsPlan plan_;
  platform::Generator dice_;
  std::vector<platform::Endpoint> bootstrap_;
  StreamsHistory history_;
  std::vector<std::unique_ptr<StreamsApplication>> members_;
  /// How many processes each place had.
  std::vector<size_t> lives_;
  /// They have said that they leave.
  std::vector<std::unique_ptr<StreamsApplication>> leaving_;
};

}  // namespace tidemark::sim
