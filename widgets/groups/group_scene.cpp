#include "groups/group_scene.h"

#include <algorithm>
#include <map>
#include <set>

#include <QCoreApplication>
#include <QStringList>

#include "groups/group_words.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct SceneTexts {
  Q_DECLARE_TR_FUNCTIONS(Groups)
};

using events::GroupKind;

/// A lag of less than that is no news: records come, commits follow.
constexpr auto kLagNoticed = std::chrono::seconds(1);

QString secondsText(platform::Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return seconds < 60 ? QString::number(std::max(0.0, seconds), 'f', 1) : shortDurationText(duration);
}

/// A stretch of a sequence, in seconds.
QString spanText(double seconds) {
  return durationText(std::chrono::duration_cast<platform::Duration>(std::chrono::duration<double>(seconds)));
}

QString ownersOf(const observe::GroupSnapshot& group, const TopicPartition& partition) {
  QStringList owners;
  for (const observe::GroupMemberSnapshot& member : group.members) {
    const bool has = std::ranges::find(member.assigned, partition) != member.assigned.end();
    const bool gives = std::ranges::find(member.revoking, partition) != member.revoking.end();
    if (gives)
      owners << SceneTexts::tr("%1, revoking").arg(memberName(member, group.members));
    else if (has)
      owners << memberName(member, group.members);
  }
  return owners.isEmpty() ? SceneTexts::tr("nobody") : owners.join(QStringLiteral(", "));
}

std::vector<LagRow> lagRows(const observe::GroupSnapshot& group, const GroupRecord* record, GroupTime now) {
  std::vector<LagRow> rows;
  for (const observe::GroupPartitionSnapshot& one : group.partitions) {
    LagRow row{.partition = partitionText(one.partition), .owner = ownersOf(group, one.partition)};
    row.committed = one.committed ? offsetText(*one.committed) : QStringLiteral("–");
    row.highWatermark = one.highWatermark ? offsetText(*one.highWatermark) : QStringLiteral("–");
    const auto lag = one.lag();
    row.lag = lag ? grouped(*lag) : QStringLiteral("–");
    if (lag && *lag == 0) row.seconds = QStringLiteral("0");
    if (lag && *lag > 0) {
      const auto age = one.firstPending ? now - *one.firstPending : platform::Duration(-1);
      row.seconds = one.firstPending ? secondsText(age) : QStringLiteral("?");
      row.behind = !one.firstPending || age > kLagNoticed;
    }
    if (!lag) row.seconds = QStringLiteral("–");
    if (record != nullptr)
      if (const auto past = record->lag.find(one.partition); past != record->lag.end())
        for (const GroupLagSample& sample : past->second) row.history.push_back(static_cast<double>(sample.lag));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What a member has, is to have and gives back: partitions, or tasks as if a subtopology were a topic.
struct Pieces {
  std::vector<TopicPartition> assigned, target, revoking;
  /// Of tasks that do not do the work themselves, but stand by for it.
  std::map<TopicPartition, observe::TaskRole> roles, targetRoles;
};

Pieces piecesOf(const observe::GroupMemberSnapshot& member, bool tasks) {
  if (!tasks) return {member.assigned, member.target, member.revoking, {}, {}};
  Pieces pieces;
  const auto add = [](const std::vector<observe::GroupTaskSnapshot>& from, std::vector<TopicPartition>& into,
                      std::map<TopicPartition, observe::TaskRole>* roles) {
    for (const observe::GroupTaskSnapshot& task : from) {
      into.push_back({task.subtopology, PartitionIndex(task.partition)});
      if (roles != nullptr) roles->emplace(into.back(), task.role);
    }
  };
  add(member.tasks, pieces.assigned, &pieces.roles);
  add(member.targetTasks, pieces.target, &pieces.targetRoles);
  add(member.revokingTasks, pieces.revoking, nullptr);
  return pieces;
}

/// How a piece is called in a sentence: the partition's number, of a task Kafka's name for it.
QString pieceText(const TopicPartition& piece, bool task) {
  return task ? QStringLiteral("%1_%2").arg(fromUtf8(piece.topic)).arg(piece.partition.value())
              : QString::number(piece.partition.value());
}

QString topicsText(const std::vector<std::string>& topics) {
  QStringList names;
  for (const std::string& topic : topics) names << fromUtf8(topic);
  return names.join(QStringLiteral(", "));
}

std::vector<TopologyPart> topologyParts(const observe::GroupSnapshot& group) {
  std::vector<TopologyPart> parts;
  for (size_t i = 0; i < group.subtopologies.size(); ++i) {
    const observe::GroupSubtopologySnapshot& one = group.subtopologies[i];
    std::set<int32_t> tasks;
    for (const observe::GroupMemberSnapshot& member : group.members)
      for (const observe::GroupTaskSnapshot& task : member.targetTasks)
        if (task.subtopology == one.id) tasks.insert(task.partition);
    TopologyPart part{.id = fromUtf8(one.id)};
    part.title = SceneTexts::tr("subtopology %1 · %n task(s)", nullptr, static_cast<int>(tasks.size())).arg(part.id);
    std::vector<std::string> reads = one.sources;
    reads.insert(reads.end(), one.repartitionSources.begin(), one.repartitionSources.end());
    part.lines.emplace_back(SceneTexts::tr("reads"), topicsText(reads));
    part.lines.emplace_back(SceneTexts::tr("keeps"),
                            one.changelogs.empty() ? SceneTexts::tr("nothing") : topicsText(one.changelogs));
    if (!one.repartitionSinks.empty())
      part.lines.emplace_back(SceneTexts::tr("writes"), topicsText(one.repartitionSinks));
    if (i + 1 < group.subtopologies.size())
      part.feedsNext = std::ranges::any_of(one.repartitionSinks, [&](const std::string& topic) {
        const auto& next = group.subtopologies[i + 1].repartitionSources;
        return std::ranges::find(next, topic) != next.end();
      });
    parts.push_back(std::move(part));
  }
  return parts;
}

/// All partitions that somebody has or is to have, by topic; of a streams group its tasks.
AssignmentScene assignmentScene(const observe::GroupSnapshot& group) {
  AssignmentScene scene;
  scene.ofTasks = group.kind == GroupKind::Streams;
  std::vector<Pieces> pieces;
  for (const observe::GroupMemberSnapshot& member : group.members) pieces.push_back(piecesOf(member, scene.ofTasks));
  scene.hasTarget = group.kind == GroupKind::Consumer || group.kind == GroupKind::Streams;
  scene.epoch = QString::number(group.assignmentEpoch);
  std::set<TopicPartition> all;
  for (const Pieces& each : pieces)
    for (const auto* list : {&each.assigned, &each.target, &each.revoking}) all.insert(list->begin(), list->end());
  for (const observe::GroupPartitionSnapshot& one : group.partitions)
    if (!group.members.empty() && !scene.ofTasks) all.insert(one.partition);
  std::vector<TopicPartition> columns;
  for (const TopicPartition& one : all) {
    if (static_cast<int>(columns.size()) == kMostColumns) {
      scene.hidden = static_cast<int>(all.size()) - kMostColumns;
      break;
    }
    columns.push_back(one);
    if (scene.topics.empty() || scene.topics.back().first != fromUtf8(one.topic))
      scene.topics.emplace_back(fromUtf8(one.topic), 0);
    ++scene.topics.back().second;
    scene.columns.push_back(pieceText(one, scene.ofTasks));
  }
  const auto has = [](const std::vector<TopicPartition>& list, const TopicPartition& one) {
    return std::ranges::find(list, one) != list.end();
  };
  const auto roleOf = [](const std::map<TopicPartition, observe::TaskRole>& roles, const TopicPartition& one) {
    const auto found = roles.find(one);
    return found == roles.end() ? observe::TaskRole::Active : found->second;
  };
  for (size_t m = 0; m < group.members.size(); ++m) {
    const observe::GroupMemberSnapshot& member = group.members[m];
    const Pieces& mine = pieces[m];
    AssignmentRow row{.name = memberName(member, group.members),
                      .epoch = QString::number(member.epoch),
                      .state = fromUtf8(member.state)};
    QStringList notes;
    // What tells it from the others first: the end may not find room.
    if (member.leader) notes << SceneTexts::tr("leader");
    if (!member.instanceId.empty()) notes << SceneTexts::tr("static");
    if (scene.hasTarget && member.classic) notes << QStringLiteral("classic");
    if (!member.software.empty()) notes << fromUtf8(member.software);
    notes << fromUtf8(member.host).remove(QLatin1Char('/'));
    row.note = notes.join(QStringLiteral(" · "));
    row.behind = scene.hasTarget && member.epoch < group.generation;
    QStringList gives, waits;
    for (const TopicPartition& one : columns) {
      AssignmentCell cell{
          .target = has(mine.target, one), .owned = has(mine.assigned, one), .revoking = has(mine.revoking, one)};
      cell.role = roleOf(mine.roles, one);
      cell.targetRole = roleOf(mine.targetRoles, one);
      cell.waits = scene.hasTarget && cell.target && !cell.owned;
      if (cell.revoking) gives << pieceText(one, scene.ofTasks);
      // A copy that stands by is made beside whoever works.
      if (cell.waits && cell.targetRole == observe::TaskRole::Active)
        for (size_t o = 0; o < group.members.size(); ++o)
          if (o != m && ((has(pieces[o].assigned, one) && roleOf(pieces[o].roles, one) == observe::TaskRole::Active) ||
                         has(pieces[o].revoking, one)))
            waits << SceneTexts::tr("%1 of %2")
                         .arg(pieceText(one, scene.ofTasks), memberName(group.members[o], group.members));
      row.cells.push_back(cell);
    }
    if (!gives.isEmpty())
      row.says = SceneTexts::tr("is asked to revoke %1").arg(gives.join(QStringLiteral(", ")));
    else if (!waits.isEmpty())
      row.says = SceneTexts::tr("waits for %1").arg(waits.join(QStringLiteral(", ")));
    else if (member.sessionTimeout > platform::Duration::zero())
      row.says = SceneTexts::tr("session %1").arg(durationText(member.sessionTimeout));
    row.shape = !gives.isEmpty()                                                             ? StateShape::HalfDisc
                : !waits.isEmpty() || member.state == "Joining" || member.state == "Syncing" ? StateShape::Ring
                : member.state == "Away" || member.state == "LEFT"                           ? StateShape::Cross
                                                                                             : StateShape::Disc;
    scene.rows.push_back(std::move(row));
  }
  return scene;
}

std::vector<ShareLane> shareLanes(const observe::GroupSnapshot& group) {
  std::vector<ShareLane> lanes;
  for (const observe::SharePartitionSnapshot& shared : group.shared) {
    ShareLane lane{.partition = partitionText(shared.partition)};
    lane.note = SceneTexts::tr("start %1 · %2 in flight").arg(offsetText(shared.start), grouped(shared.inFlight));
    const double count = static_cast<double>(std::max<int64_t>(1, shared.end - shared.start));
    for (const observe::ShareBatchSnapshot& batch : shared.batches) {
      ShareBatch shown{.state = fromUtf8(batch.state), .deliveries = batch.deliveryCount};
      shown.offsets = batch.first == batch.last
                          ? offsetText(batch.first)
                          : QStringLiteral("%1 … %2").arg(offsetText(batch.first), offsetText(batch.last));
      shown.member = memberName(batch.member, &group);
      if (batch.lockLeft > platform::Duration::zero()) shown.lock = durationText(batch.lockLeft);
      shown.from = static_cast<double>(std::max<int64_t>(0, batch.first - shared.start)) / count;
      shown.to = std::clamp(static_cast<double>(batch.last - shared.start + 1) / count, 0.0, 1.0);
      lane.batches.push_back(std::move(shown));
    }
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

QString factsOf(const observe::GroupSnapshot& group) {
  QStringList facts;
  if (!group.protocol.empty())
    facts << (group.kind == GroupKind::Classic ? fromUtf8(group.protocol)
                                               : SceneTexts::tr("%1, server side").arg(fromUtf8(group.protocol)));
  if (group.kind == GroupKind::Classic)
    facts << SceneTexts::tr("generation %1").arg(group.generation);
  else
    facts << SceneTexts::tr("group epoch %1").arg(group.generation)
          << SceneTexts::tr("target epoch %1").arg(group.assignmentEpoch);
  if (group.coordinator != kNoNode)
    facts << SceneTexts::tr("coordinator broker %1, __consumer_offsets-%2")
                 .arg(group.coordinator.value())
                 .arg(group.coordinatorPartition.value());
  return facts.join(QStringLiteral(" · "));
}

/// What the state is waiting for.
QString stateNoteOf(const observe::GroupSnapshot& group, const GroupRecord* record, GroupTime now) {
  QStringList notes;
  if (record != nullptr && record->inState) notes << SceneTexts::tr("for %1").arg(durationText(now - *record->inState));
  QStringList away;
  for (const observe::GroupMemberSnapshot& member : group.members)
    if (member.state == "Away" || (group.kind == GroupKind::Consumer && member.epoch < group.generation))
      away << memberName(member, group.members);
  const bool waits = group.state != "Stable" && group.state != "Empty" && group.state != "Dead";
  if (waits && !away.isEmpty())
    notes << SceneTexts::tr("waits for %1")
                 .arg(away.mid(0, 3).join(QStringLiteral(", ")) + (away.size() > 3 ? QStringLiteral(" …") : QString()));
  if (group.kind == GroupKind::Consumer && waits)
    notes << SceneTexts::tr("%1 of %2 at epoch %3")
                 .arg(group.members.size() - static_cast<size_t>(away.size()))
                 .arg(group.members.size())
                 .arg(group.generation);
  if (!group.problem.empty()) notes << fromUtf8(group.problem);
  return notes.join(QStringLiteral(" · "));
}

}  // namespace

SequenceScene sequenceScene(const Rebalance& rebalance, const observe::GroupSnapshot* group, GroupTime now) {
  SequenceScene scene{.shown = true};
  const auto at = [&](GroupTime time) { return std::chrono::duration<double>(time - rebalance.began).count(); };
  const GroupTime last = rebalance.completed.value_or(std::max(now, rebalance.began));
  double end = std::max(0.05, at(last));
  for (const RebalanceMember& member : rebalance.members)
    for (const auto& time : {member.synced, member.reconciled, member.left})
      if (time) end = std::max(end, at(*time));
  if (!rebalance.completed) scene.now = end;
  const double room = end * 0.16;
  scene.begin = -room;
  scene.end = end + room;
  const bool classic = rebalance.kind == GroupKind::Classic;
  const QString by = memberName(rebalance.by, group);
  scene.title = classic ? SceneTexts::tr("what happened, in seconds since the rebalance began")
                        : SceneTexts::tr("what happened, in seconds since the group epoch rose");
  // Of a member that was told to join again and did not come nothing is heard.
  std::vector<RebalanceMember> all = rebalance.members;
  if (classic && !rebalance.completed && group != nullptr)
    for (const observe::GroupMemberSnapshot& one : group->members)
      if (std::ranges::none_of(all,
                               [&one](const RebalanceMember& known) { return one.memberId.starts_with(known.id); }))
        all.push_back({.id = one.memberId});
  // Who was there before stands first.
  std::vector<const RebalanceMember*> members;
  for (const RebalanceMember& member : all) members.push_back(&member);
  std::ranges::stable_sort(members, {}, [](const RebalanceMember* one) { return one->isNew; });
  for (const RebalanceMember* member : members) {
    SequenceLane lane{.name = memberName(member->id, group)};
    if (group != nullptr)
      for (const observe::GroupMemberSnapshot& one : group->members)
        if (one.memberId.starts_with(member->id)) {
          lane.note = fromUtf8(one.software);
          if (one.leader)
            lane.note += (lane.note.isEmpty() ? QString() : QStringLiteral(" · ")) + SceneTexts::tr("leader");
        }
    if (member->isNew) lane.note += (lane.note.isEmpty() ? QString() : QStringLiteral(" · ")) + SceneTexts::tr("new");
    const QString got = SceneTexts::tr("%n partition(s)", nullptr, member->partitions);
    const auto add = [&](SequenceBar::Kind kind, double from, double to, const QString& text = {}) {
      if (to > from) lane.bars.push_back({kind, from, to, text});
    };
    using Kind = SequenceBar::Kind;
    const double gone = member->left ? at(*member->left) : scene.end;
    if (classic) {
      const double joined = member->rejoined ? at(*member->rejoined) : member->left ? gone : end;
      if (!member->isNew) add(Kind::Owns, scene.begin, std::min(joined, gone), SceneTexts::tr("works on"));
      if (!rebalance.completed && !member->rejoined && !member->left)
        lane.says = SceneTexts::tr("is told REBALANCE_IN_PROGRESS, no JoinGroup yet");
      if (member->rejoined) {
        const double until = member->synced ? at(*member->synced) : member->left && gone > joined ? gone : end;
        add(Kind::Waits, joined, until, SceneTexts::tr("joined, waits %1").arg(spanText(until - joined)));
      }
      if (member->synced)
        add(Kind::Synced, at(*member->synced), std::min(scene.end, std::max(gone, at(*member->synced))),
            SceneTexts::tr("got %1").arg(got));
    } else {
      const double revokes = member->revoking ? at(*member->revoking) : scene.end;
      const double done = member->reconciled ? at(*member->reconciled) : scene.end;
      if (!member->isNew) add(Kind::Owns, scene.begin, std::min({revokes, done, gone}), SceneTexts::tr("works on"));
      const double gave = std::min({done, gone, end});
      if (member->revoking)
        add(Kind::Revokes, revokes, gave, SceneTexts::tr("gives back %1").arg(spanText(gave - revokes)));
      const double had = std::min({done, gone, end});
      if (member->isNew) add(Kind::Waits, 0, had, SceneTexts::tr("waits %1").arg(spanText(had)));
      if (member->reconciled) add(Kind::Synced, done, scene.end, SceneTexts::tr("owns %1").arg(got));
    }
    if (member->left) {
      add(Kind::Lost, gone, scene.end, SceneTexts::tr("not a member"));
      lane.says = causeText(
          member->leftBecause == events::GroupCause::Unknown ? events::GroupCause::MemberLeft : member->leftBecause,
          lane.name);
      if (member->late > platform::Duration::zero())
        lane.says = SceneTexts::tr("%1 by %2").arg(lane.says, durationText(member->late));
    }
    scene.lanes.push_back(std::move(lane));
  }
  SequenceLane coordinator{.name = SceneTexts::tr("Coordinator"),
                           .note = group != nullptr && group->coordinator != kNoNode
                                       ? SceneTexts::tr("broker %1").arg(group->coordinator.value())
                                       : QString(),
                           .coordinator = true};
  const auto state = [&](SequenceBar::Kind kind, double from, double to, const QString& text) {
    if (to > from) coordinator.bars.push_back({kind, from, to, text});
  };
  using Kind = SequenceBar::Kind;
  if (classic) {
    const double gathered = rebalance.gathered ? at(*rebalance.gathered) : end;
    const double completed = rebalance.completed ? at(*rebalance.completed) : end;
    const double joined = std::min(gathered, completed);
    state(Kind::Coordinator, 0, joined, QStringLiteral("PreparingRebalance · ") + spanText(joined));
    state(Kind::Coordinator, joined, completed,
          QStringLiteral("CompletingRebalance · ") + spanText(completed - joined));
    if (rebalance.completed)
      state(Kind::CoordinatorStable, completed, scene.end,
            SceneTexts::tr("generation %1").arg(rebalance.completedGeneration));
  } else {
    const double reconciled = rebalance.completed ? at(*rebalance.completed) : end;
    state(Kind::Coordinator, 0, reconciled, QStringLiteral("Reconciling · ") + spanText(reconciled));
    if (rebalance.completed)
      state(Kind::CoordinatorStable, at(*rebalance.completed), scene.end,
            SceneTexts::tr("epoch %1").arg(rebalance.completedGeneration));
  }
  scene.lanes.push_back(std::move(coordinator));

  scene.facts.emplace_back(SceneTexts::tr("began"),
                           SceneTexts::tr("%1: %2").arg(timeText(rebalance.began), causeText(rebalance.cause, by)));
  QStringList waitsFor;
  for (const RebalanceMember& member : all)
    if (!rebalance.completed && !member.left && (classic ? !member.rejoined : !member.reconciled))
      waitsFor << memberName(member.id, group);
  if (rebalance.completed)
    scene.facts.emplace_back(SceneTexts::tr("took"), durationText(*rebalance.completed - rebalance.began));
  else
    scene.facts.emplace_back(SceneTexts::tr("waits for"), waitsFor.isEmpty() ? SceneTexts::tr("its coordinator")
                                                                             : waitsFor.join(QStringLiteral(", ")));
  scene.facts.emplace_back(SceneTexts::tr("stood still"),
                           SceneTexts::tr("%1, summed over members").arg(durationText(rebalance.idle(last))));
  return scene;
}

GroupScene groupScene(const observe::GroupSnapshot& group, const GroupRecord* record, size_t picked, GroupTime now) {
  GroupScene scene{.id = fromUtf8(group.id),
                   .kind = kindText(group.kind),
                   .facts = factsOf(group),
                   .states = statesOf(group.kind),
                   .state = fromUtf8(group.state)};
  scene.stateNote = stateNoteOf(group, record, now);
  scene.topology = topologyParts(group);
  scene.assignment = assignmentScene(group);
  scene.shared = shareLanes(group);
  scene.lag = lagRows(group, record, now);
  scene.lagSum = grouped(group.lag());
  if (record == nullptr) return scene;
  const size_t count = record->rebalances.size();
  if (count > 0) {
    const size_t shown = std::min(picked, count - 1);
    scene.sequence = sequenceScene(record->rebalances[count - 1 - shown], &group, now);
    for (size_t i = 0; i < std::min<size_t>(count, 6); ++i) {
      const Rebalance& one = record->rebalances[count - 1 - i];
      RebalanceRow row{.current = i == shown};
      row.generation = one.completed ? QStringLiteral("%1 → %2").arg(one.generation).arg(one.completedGeneration)
                                     : QStringLiteral("%1 → …").arg(one.generation);
      row.cause = causeText(one.cause, memberName(one.by, &group));
      row.took = one.completed ? durationText(*one.completed - one.began) : SceneTexts::tr("runs");
      row.idle = durationText(one.idle(one.completed.value_or(now)));
      scene.rebalances.push_back(std::move(row));
    }
  }
  for (auto one = record->happenings.rbegin();
       one != record->happenings.rend() && scene.happened.size() < kMostHappened; ++one)
    if (QString text = happeningText(*one, *record); !text.isEmpty())
      scene.happened.push_back({timeText(one->at), std::move(text), one->event});
  return scene;
}

}  // namespace tidemark::widgets
