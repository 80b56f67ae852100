#include "segments/recorded_log.h"

#include <algorithm>
#include <ranges>

#include <QCoreApplication>

#include "text/event_words.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct RecordedWords {
  Q_DECLARE_TR_FUNCTIONS(RecordedLog)
};

bool isDeed(const events::Payload& payload) {
  return std::visit(
      []<class Kind>(const Kind&) {
        return std::is_same_v<Kind, events::SegmentRolled> || std::is_same_v<Kind, events::SegmentDeleted> ||
               std::is_same_v<Kind, events::LogStartAdvanced> || std::is_same_v<Kind, events::LogTruncated> ||
               std::is_same_v<Kind, events::LogRecovered> || std::is_same_v<Kind, events::LogCut> ||
               std::is_same_v<Kind, events::CleanerPassStarted> || std::is_same_v<Kind, events::CleanerPassFinished> ||
               std::is_same_v<Kind, events::CleanerSetAside>;
      },
      payload);
}

const observe::ReplicaSnapshot* copyOf(const observe::ClusterSnapshot& cluster, const observe::LookPlace& place) {
  const observe::PartitionSnapshot* partition = observe::findPartition(cluster, place.partition);
  return partition == nullptr ? nullptr : observe::findReplica(*partition, place.broker);
}

BatchPoint pointOf(const observe::BatchSnapshot& batch) {
  return {.base = batch.baseOffset.value(),
          .last = batch.lastOffset.value(),
          .position = batch.position,
          .bytes = batch.sizeInBytes,
          .records = batch.recordCount,
          .epoch = batch.epoch};
}

}  // namespace

RecordedLog recordedLog(const observe::ClusterSnapshot& cluster, const observe::LookPlace& place, Offset segment) {
  const observe::ReplicaSnapshot* copy = copyOf(cluster, place);
  if (copy == nullptr)
    return {{}, RecordedWords::tr("Broker %1 had no copy of this partition then.").arg(place.broker.value())};
  if (copy->segments.empty() && copy->logEnd.value() > 0)
    return {{}, RecordedWords::tr("The recording tells nothing of this log's segments.")};
  auto picture = std::make_shared<PartitionPicture>();
  picture->name = partitionText(place.partition);
  picture->logStart = copy->logStart;
  picture->segmentCount = copy->segmentCount;
  auto segments = std::make_shared<std::vector<SegmentEntry>>();
  for (const observe::SegmentSnapshot& one : copy->segments)
    segments->push_back({.base = one.baseOffset, .bytes = one.sizeInBytes, .epoch = {}});
  if (segments->empty()) segments->push_back({.base = std::max(copy->logStart, Offset(0)), .epoch = {}});
  segments->back().state = SegmentEntry::State::Active;
  // The newest epoch that is known of it.
  for (const observe::BatchSnapshot& batch : copy->batches) {
    const auto after = std::ranges::upper_bound(*segments, batch.baseOffset, {}, &SegmentEntry::base);
    if (after != segments->begin()) std::prev(after)->epoch = batch.epoch;
  }

  auto shown = std::ranges::find(*segments, segment, &SegmentEntry::base);
  if (shown == segments->end()) shown = std::prev(segments->end());
  auto opened = std::make_shared<SegmentPicture>();
  opened->base = shown->base;
  opened->bytes = shown->bytes;
  opened->active = shown->state == SegmentEntry::State::Active;
  const Offset end = std::next(shown) == segments->end() ? Offset(INT64_MAX) : std::next(shown)->base;
  for (const observe::BatchSnapshot& batch : copy->batches) {
    if (batch.baseOffset < shown->base || batch.baseOffset >= end) continue;
    opened->batches.push_back(pointOf(batch));
    opened->batchesEnd = batch.position + batch.sizeInBytes;
  }
  for (const observe::IndexEntrySnapshot& entry : copy->indexEntries)
    if (entry.offset >= shown->base && entry.offset < end)
      opened->offsets.push_back({entry.offset, static_cast<int32_t>(entry.position)});
  picture->segments = segments;
  return {{.partition = picture, .segment = opened}, {}};
}

std::optional<BatchPoint> recordedBatch(const SegmentPicture& segment, int64_t offset) {
  const auto after = std::ranges::upper_bound(segment.batches, offset, {}, &BatchPoint::base);
  if (after == segment.batches.begin() || std::prev(after)->last < offset) return std::nullopt;
  return *std::prev(after);
}

std::vector<LogDeed> recordedDeeds(const observe::Recording& recording,
                                   const std::optional<observe::Recording::Moment>& until,
                                   const observe::LookPlace& place) {
  std::vector<LogDeed> deeds;
  for (const observe::ObservedEvent& event : std::views::reverse(recording.events())) {
    if (until && event.number > until->event) continue;
    if (event.event.broker != place.broker || event.partition != place.partition.partition ||
        !isDeed(event.event.payload) || event.topic != place.partition.topic)
      continue;
    const events::Payload& payload = event.event.payload;
    deeds.push_back({event.number, event.event.wall, fromUtf8(events::nameOf(payload)), detailOf(payload)});
    if (deeds.size() == kMostDeeds) break;
  }
  return deeds;
}

std::vector<std::pair<QString, QString>> recordedFacts(const observe::ClusterSnapshot& cluster,
                                                       const observe::LookPlace& place) {
  std::vector<std::pair<QString, QString>> facts;
  const observe::ReplicaSnapshot* copy = copyOf(cluster, place);
  if (copy == nullptr) return facts;
  facts.emplace_back(RecordedWords::tr("high watermark"), offsetText(copy->highWatermark));
  facts.emplace_back(RecordedWords::tr("last stable offset"), offsetText(copy->lastStable));
  facts.emplace_back(RecordedWords::tr("log start … end"),
                     QStringLiteral("%1 … %2").arg(offsetText(copy->logStart), offsetText(copy->logEnd)));
  facts.emplace_back(RecordedWords::tr("bytes"), grouped(copy->sizeInBytes));
  facts.emplace_back(RecordedWords::tr("segments"), grouped(copy->segmentCount));
  const auto log = std::ranges::find_if(cluster.cleaners, [&place](const observe::CleanerSnapshot& one) {
    return one.broker == place.broker && one.partition == place.partition;
  });
  if (log == cluster.cleaners.end()) return facts;
  facts.emplace_back(RecordedWords::tr("last clean"),
                     log->lastPass ? timeText(log->lastPass->startedAt) : RecordedWords::tr("not yet"));
  facts.emplace_back(RecordedWords::tr("clean up to"), offsetText(log->firstDirty));
  return facts;
}

}  // namespace tidemark::widgets
