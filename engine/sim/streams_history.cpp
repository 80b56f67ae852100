#include "sim/streams_history.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

/// As GroupHistory knows it, and as Kafka writes it but for the hyphen: "0-2".
TopicPartition asPartition(const client::StreamsTask& task) {
  return {task.subtopology, PartitionIndex(task.partition)};
}

client::StreamsTask asTask(const TopicPartition& key) {
  return {key.topic, key.partition.value()};
}

GroupHistory::Offsets asPartitions(const StreamsHistory::Offsets& offsets) {
  GroupHistory::Offsets keys;
  for (const auto& [task, offset] : offsets) keys.emplace(asPartition(task), offset);
  return keys;
}

}  // namespace

void StreamsHistory::owns(const std::string& member, int32_t epoch, const client::StreamsTasks& tasks) {
  std::vector<TopicPartition> active;
  for (const client::StreamsTask& task : tasks.active) active.push_back(asPartition(task));
  active_.owns(member, epoch, active);
  Owned& owned = now_[member];
  if (epoch <= 0 && owned.epoch > 0) tally_.count("streams member told that it is fenced");
  for (const client::StreamsTask& task : tasks.active) {
    if (tasks.standby.contains(task) || tasks.warmup.contains(task)) {
      if (whole_)
        judge_.breach("G11", fmt::format("{} of {} runs {} and keeps a copy of it", member, group_, asPartition(task)));
    }
    const auto [whose, first] = last_.try_emplace(task, member);
    if (!first && whose->second != member) tally_.count("streams task moved to another member");
    whose->second = member;
  }
  for (const client::StreamsTask& task : tasks.standby) {
    if (tasks.warmup.contains(task) && whole_)
      judge_.breach("G11", fmt::format("{} of {} keeps two copies of {}", member, group_, asPartition(task)));
    if (!owned.tasks.standby.contains(task)) tally_.count("standby task owned");
  }
  owned = {.epoch = epoch, .tasks = tasks};
}

void StreamsHistory::gone(const std::string& member) {
  active_.owns(member, 0, {});
  now_.erase(member);
}

StreamsHistory::Commit StreamsHistory::commits(const std::string& member, int32_t epoch,
                                               const client::StreamsTask& task, Offset offset) const {
  return {.offset = offset,
          .wasOwner = active_.isOwner(member, epoch, asPartition(task)),
          .timesEmptied = active_.timesEmptied()};
}

void StreamsHistory::committed(const std::string& member, const client::StreamsTask& task, const Commit& commit,
                               bool isCertain) {
  active_.committed(member, asPartition(task), commit.offset, commit.wasOwner,
                    isCertain && commit.timesEmptied == active_.timesEmptied());
}

Offset StreamsHistory::offset(const client::StreamsTask& task) const {
  return active_.offset(asPartition(task));
}

StreamsHistory::Offsets StreamsHistory::offsets() const {
  Offsets offsets;
  for (const auto& [key, offset] : active_.offsets()) offsets.emplace(asTask(key), offset);
  return offsets;
}

void StreamsHistory::atRest(const Offsets& knownBefore, const Offsets& committed) const {
  active_.atRest(asPartitions(knownBefore), asPartitions(committed));
}

std::string StreamsHistory::whatIsNotWhole(const std::vector<std::string>& members) const {
  std::map<client::StreamsTask, int> active;
  std::map<client::StreamsTask, int> standby;
  int32_t epoch = 0;
  for (const std::string& member : members) {
    const auto found = now_.find(member);
    if (found == now_.end() || found->second.epoch <= 0)
      return fmt::format("L4: {} is no member of {}", member, group_);
    const Owned& owned = found->second;
    if (epoch != 0 && owned.epoch != epoch)
      return fmt::format("L4: {} is in epoch {} of {}, {} in {}", member, owned.epoch, group_, members.front(), epoch);
    epoch = owned.epoch;
    for (const client::StreamsTask& task : owned.tasks.active) ++active[task];
    for (const client::StreamsTask& task : owned.tasks.standby) ++standby[task];
    if (!owned.tasks.warmup.empty())
      return fmt::format("L4: {} warms up {} for ever", member, asPartition(*owned.tasks.warmup.begin()));
  }
  for (const Part& part : settings_.topology) {
    const int copies = part.isStateful ? std::min(settings_.standbys, static_cast<int>(members.size()) - 1) : 0;
    for (int32_t i = 0; i < part.tasks; ++i) {
      const client::StreamsTask task{part.subtopology, i};
      if (active[task] != 1)
        return fmt::format("L4: task {} of {} is active at {} members", asPartition(task), group_, active[task]);
      if (standby[task] != copies)
        return fmt::format("L4: task {} of {} has {} standbys instead of {}", asPartition(task), group_, standby[task],
                           copies);
    }
  }
  return {};
}

}  // namespace tidemark::sim
