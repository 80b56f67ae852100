#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/streams_member.h"
#include "sim/group_history.h"
#include "sim/tally.h"

namespace tidemark::sim {

/// What the members of one streams group were told and did, as it happens. Members are known by name, static ones by
/// their instance, each is a process of its own.
///
/// Active tasks are to it what partitions are to a group by the consumer protocol, and are asked the same (G1, G3, G4,
/// G5 of GroupHistory): no epoch in which two members own one, for a member that misses its session is told later than
/// others are, but of an earlier epoch. G11: no process has two copies of a task's state. L4, while nothing breaks:
/// everybody is in one epoch, each task is active at one member, and has as many standbys as there shall be.
class StreamsHistory {
 public:
  using Offsets = std::map<client::StreamsTask, Offset>;
  /// How many tasks there are of each subtopology, and whether they have state.
  struct Part {
    std::string subtopology;
    int32_t tasks = 0;
    bool isStateful = false;
  };
  struct Settings {
    std::vector<Part> topology;
    /// `streams.num.standby.replicas`
    int standbys = 0;
  };

  StreamsHistory(Judge& judge, Tally& tally, std::string group, Settings settings)
      : judge_(judge),
        tally_(tally),
        group_(std::move(group)),
        settings_(std::move(settings)),
        active_(judge, group_) {}

  /// Records that the coordinator goes by are lost: nothing is asked any more, but L4.
  void lost() noexcept {
    whole_ = false;
    active_.lost();
  }
  /// The group had no members for a moment, and what it has committed may expire; and it with them.
  void emptied() { active_.emptied(); }
  void removed() { active_.removed(); }

  /// What a member owns in an epoch, from now on. Epoch 0: it is no member any more.
  void owns(const std::string& member, int32_t epoch, const client::StreamsTasks& tasks);
  /// Its process is no more, or it has said that it leaves: it does not come back as what it was.
  void gone(const std::string& member);

  /// What was sent to be committed, of the partition that a task reads.
  struct Commit {
    Offset offset;
    /// Whether the member may commit for the task, as far as anybody was told.
    bool wasOwner = false;
    uint64_t timesEmptied = 0;
  };
  Commit commits(const std::string& member, int32_t epoch, const client::StreamsTask& task, Offset offset) const;
  /// It was confirmed. `isCertain`: no older commit of that member can come after it.
  void committed(const std::string& member, const client::StreamsTask& task, const Commit& commit, bool isCertain);
  /// What is known to be committed.
  Offset offset(const client::StreamsTask& task) const;
  Offsets offsets() const;
  /// What the group has committed, as its coordinator says while nothing breaks; `knownBefore`: offsets() as it was
  /// asked.
  void atRest(const Offsets& knownBefore, const Offsets& committed) const;

  /// "L4: …"; empty if these are the members, and they have all there is.
  std::string whatIsNotWhole(const std::vector<std::string>& members) const;

 private:
  struct Owned {
    int32_t epoch = 0;
    client::StreamsTasks tasks;
  };

  Judge& judge_;
  Tally& tally_;
  const std::string group_;
  const Settings settings_;
  bool whole_ = true;
  GroupHistory active_;
  std::map<std::string, Owned> now_;
  /// Whose each active task was last.
  std::map<client::StreamsTask, std::string> last_;
};

}  // namespace tidemark::sim
