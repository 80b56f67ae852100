#include "broker/traffic.h"

#include <algorithm>

namespace tidemark::broker {

void Traffic::reads(const network::RequestContext& context, const TopicPartition& partition, Offset fetchOffset) {
  const std::string& software = context.client->softwareName;
  Reader reader{.client = context.clientId(),
                .software = software == "unknown" ? std::string() : software,
                .partition = partition,
                .fetchOffset = fetchOffset,
                .at = context.arrival};
  const Lock lock(mutex_);
  const auto key = std::pair(context.peer.get(), partition);
  if (places_.size() >= kMaxReaders && !places_.contains(key)) return;
  Place& place = places_[key];
  if (place.number == 0) place.number = ++numbered_;
  place.peer = context.peer;
  place.reader = std::move(reader);
}

std::vector<Traffic::Reader> Traffic::readers(platform::MonotonicTime now) {
  std::vector<Reader> readers;
  const Lock lock(mutex_);
  std::erase_if(places_, [now](const auto& entry) {
    return entry.second.peer.expired() || now - entry.second.reader.at > kForgotten;
  });
  std::vector<const Place*> inOrder;
  inOrder.reserve(places_.size());
  for (const auto& [key, place] : places_) inOrder.push_back(&place);
  std::ranges::sort(inOrder, {}, &Place::number);
  readers.reserve(inOrder.size());
  for (const Place* place : inOrder) readers.push_back(place->reader);
  return readers;
}

}  // namespace tidemark::broker
