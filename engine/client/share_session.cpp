#include "client/share_session.h"

#include <span>
#include <utility>

#include "client/client_codec.h"
#include "client/fetch_reader.h"

namespace tidemark::client {
namespace {

/// The topic's entry, as the last of a request's; partitions come in order.
template <class Topics>
auto& lastTopic(Topics& topics, const Uuid& id) {
  if (topics.empty() || topics.back().topicId != id) topics.emplace_back().topicId = id;
  return topics.back();
}

template <class Batches>
void writeSaid(const SaidOf& said, Batches& into) {
  for (const auto& [first, one] : said) {
    const auto type = static_cast<int8_t>(one.type);
    if (!into.empty() && into.back().lastOffset + 1 == first.value() && into.back().acknowledgeTypes.front() == type) {
      into.back().lastOffset = one.last.value();
    } else {
      into.push_back({.firstOffset = first.value(), .lastOffset = one.last.value(), .acknowledgeTypes = {type}});
    }
  }
}

}  // namespace

SaidAll ShareSession::end() {
  epoch = kFirstSessionEpoch;
  fetched.clear();
  return std::exchange(said, {});
}

protocol::ShareFetchRequest ShareSession::fetchRequest(const ShareOptions& options, const Partitions& wanted,
                                                       const SaidAll& saying, const IdOf& idOf) const {
  protocol::ShareFetchRequest request;
  request.shareSessionEpoch = epoch;
  request.maxWaitMs = millis(options.maxWait);
  request.minBytes = options.minBytes;
  request.maxBytes = options.maxBytes;
  request.maxRecords = options.maxRecords;
  request.batchSize = options.maxRecords;
  Partitions all = wanted;
  all.insert(fetched.begin(), fetched.end());
  for (const auto& [where, of] : saying) all.insert(where);
  for (const TopicPartition& where : all) {
    const Uuid id = idOf(where.topic);
    const auto of = saying.find(where);
    if (of != saying.end() || !fetched.contains(where)) {
      auto& partition = lastTopic(request.topics, id).partitions.emplace_back();
      partition.partitionIndex = where.partition.value();
      if (of != saying.end()) writeSaid(of->second, partition.acknowledgementBatches);
    }
    if (!wanted.contains(where))
      lastTopic(request.forgottenTopicsData, id).partitions.push_back(where.partition.value());
  }
  return request;
}

protocol::ShareAcknowledgeRequest acknowledgeRequest(const SaidAll& saying, const ShareSession::IdOf& idOf) {
  protocol::ShareAcknowledgeRequest request;
  for (const auto& [where, of] : saying) {
    auto& partition = lastTopic(request.topics, idOf(where.topic)).partitions.emplace_back();
    partition.partitionIndex = where.partition.value();
    writeSaid(of, partition.acknowledgementBatches);
  }
  return request;
}

std::optional<std::string> takeAcquired(FetchReader& reader, Delivery delivery,
                                        const protocol::ShareFetchResponse::PartitionData& data, SaidOf& said,
                                        const std::function<bool(const AcquiredRecord&)>& give) {
  const std::span ranges(data.acquiredRecords);
  size_t range = 0;
  /// The next offset of the range that nothing is known of.
  Offset next(ranges.front().firstOffset);
  const auto say = [&](Offset behind, AcknowledgeType type) {
    if (next < behind) said[next] = {.last = behind - 1, .type = type, .delivery = {}};
    next = behind;
  };
  /// Up to `offset`, which is a record, or the end of them all, there is none.
  const auto skipTo = [&](Offset offset, AcknowledgeType type) {
    while (range < ranges.size() && Offset(ranges[range].lastOffset) < offset) {
      say(Offset(ranges[range].lastOffset).next(), type);
      if (++range < ranges.size()) next = Offset(ranges[range].firstOffset);
    }
    if (range < ranges.size() && next < offset) say(offset, type);
  };
  const Offset behindAll = Offset(ranges.back().lastOffset).next();
  reader.begin(data.records.view(), next);
  for (;;) {
    const records::Step step = reader.next();
    if (step == records::Step::Corrupt) {
      skipTo(behindAll, AcknowledgeType::Reject);
      return std::string(reader.reason());
    }
    if (step == records::Step::End) break;
    const Offset offset = reader.record().offset;
    skipTo(offset, AcknowledgeType::Gap);
    if (range == ranges.size()) break;
    if (offset < next) continue;
    next = offset.next();
    delivery.offset = offset;
    delivery.count = ranges[range].deliveryCount;
    if (!give({.delivery = delivery, .record = reader.record()})) return std::nullopt;
  }
  skipTo(behindAll, AcknowledgeType::Gap);
  return std::nullopt;
}

}  // namespace tidemark::client
