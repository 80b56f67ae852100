#include "observe/collector.h"

#include <algorithm>
#include <utility>

namespace tidemark::observe {

Collector::~Collector() {
  const Lock lock(mutex_);
  for (const Source& source : sources_) source.recorder->want({});
}

void Collector::prepare(events::Recorder& recorder) {
  recorder.onFirstEvent([this] {
    if (wake_) wake_();
  });
}

void Collector::listen(const std::shared_ptr<events::Recorder>& recorder, const events::Kinds& kinds) {
  const Lock lock(mutex_);
  const auto found = std::ranges::find(sources_, recorder, &Source::recorder);
  if (found == sources_.end() && kinds.empty()) return;
  recorder->want(kinds);
  if (found == sources_.end()) {
    sources_.push_back({recorder, {}});
  } else if (kinds.empty()) {
    std::vector<ObservedEvent> batch;
    drain(*found, batch);
    keep(batch);
    sources_.erase(found);
  }
}

void Collector::collect() {
  const Lock lock(mutex_);
  std::vector<ObservedEvent> batch;
  for (Source& source : sources_) drain(source, batch);
  keep(batch);
}

void Collector::append(const events::Event& event, const std::string& topic) {
  const Lock lock(mutex_);
  history_.append({0, event, topic, events::partitionOf(event.payload).partition});
}

EventBatch Collector::eventsAfter(uint64_t since, size_t limit) const {
  const Lock lock(mutex_);
  EventBatch batch = history_.after(since, limit);
  batch.lost = lost_;
  return batch;
}

uint64_t Collector::lost() const {
  const Lock lock(mutex_);
  return lost_;
}

void Collector::drain(Source& source, std::vector<ObservedEvent>& into) {
  scratch_.clear();
  lost_ += source.recorder->drain(scratch_);
  for (const events::Event& event : scratch_) {
    const events::PartitionTag tag = events::partitionOf(event.payload);
    ObservedEvent observed{0, event, {}, tag.partition};
    if (tag.topic != events::kNoTopicTag) {
      auto [known, isNew] = source.topics.try_emplace(tag.topic.value());
      if (isNew) known->second = source.recorder->topicName(tag.topic);
      observed.topic = known->second;
    }
    into.push_back(std::move(observed));
  }
}

void Collector::keep(std::vector<ObservedEvent>& batch) {
  // Each source came in order of sequence, but two threads of a broker may read the clock in another order than they
  // drew their numbers: so each broker's times are first made to rise. Equal times keep their order by the index.
  std::unordered_map<int32_t, platform::MonotonicTime> newest;
  std::vector<std::pair<platform::MonotonicTime, size_t>> order;
  order.reserve(batch.size());
  for (size_t index = 0; index < batch.size(); ++index) {
    platform::MonotonicTime& latest = newest[batch[index].event.broker.value()];
    latest = std::max(latest, batch[index].event.at);
    order.emplace_back(latest, index);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [at, index] : order) history_.append(std::move(batch[index]));
}

}  // namespace tidemark::observe
