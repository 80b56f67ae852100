#include "observe/recorded_cluster.h"

#include <algorithm>

namespace tidemark::observe {
namespace {

using namespace std::chrono_literals;

/// Long ones come up in steps so wide that there are this many.
constexpr int kSteps = 1500;
constexpr auto kLeastStep = 100ms;

Error refusal() {
  return {ErrorCode::InvalidRequest, "this is a recording: what has happened cannot be changed"};
}

}  // namespace

RecordedCluster::RecordedCluster(Recording recording) : recording_(std::move(recording)) {
  shown_ = std::make_shared<ClusterSnapshot>();
  const WallTime begin = recording_.begin();
  end_ = begin;
  if (!recording_.events().empty())
    if (const auto last = recording_.after(recording_.events().back().number)) end_ = std::max(end_, last->wall);
  step_ = std::max<platform::WallClock::duration>(kLeastStep, (end_ - begin) / kSteps);
  now_ = {0, begin - step_};
}

SnapshotPtr RecordedCluster::snapshot() {
  for (auto& answer : std::exchange(answers_, {})) answer();
  if (over_) return shown_;
  now_ = recording_.at(std::min(end_, now_.wall + step_));
  if (now_.wall >= end_) {
    over_ = true;
    if (!recording_.events().empty()) now_.event = recording_.events().back().number;
  }
  // Details are for whoever looks at a moment of it.
  shown_ = recording_.show(now_, over_ ? watched_ : std::nullopt);
  if (!over_ && wake_) wake_();
  return shown_;
}

EventBatch RecordedCluster::drainEvents(uint64_t since, size_t limit) {
  EventBatch batch;
  batch.last = since;
  const auto& events = recording_.events();
  for (auto next = std::ranges::upper_bound(events, since, {}, &ObservedEvent::number);
       next != events.end() && next->number <= now_.event && batch.events.size() < limit; ++next) {
    batch.events.push_back(*next);
    batch.last = next->number;
  }
  if (batch.last < now_.event && wake_) wake_();
  return batch;
}

void RecordedCluster::later(std::move_only_function<void()> answer) {
  answers_.push_back(std::move(answer));
  if (wake_) wake_();
}

void RecordedCluster::refuse(Done done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}

void RecordedCluster::launch(LaunchOptions /*options*/, Done done) {
  refuse(std::move(done));
}
/// Nothing runs.
void RecordedCluster::shutdown(Done done) {
  later([done = std::move(done)]() mutable { done({}); });
}
void RecordedCluster::killBroker(NodeId /*broker*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::pauseBroker(NodeId /*broker*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::resumeBroker(NodeId /*broker*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::restartBroker(NodeId /*broker*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::stopBroker(NodeId /*broker*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::createTopic(TopicOptions /*topic*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::planOffsets(OffsetResetRequest /*request*/, OffsetsPlanned done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}
void RecordedCluster::editOffsets(std::string /*group*/, events::GroupKind /*kind*/, std::vector<OffsetEdit> /*edits*/,
                                  Done done) {
  refuse(std::move(done));
}
void RecordedCluster::deleteGroup(std::string /*group*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::abortTransaction(std::string /*transactionalId*/, Done done) {
  refuse(std::move(done));
}
void RecordedCluster::healFault(int /*id*/, FaultsHealed done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}
void RecordedCluster::healAll(FaultsHealed done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}
void RecordedCluster::setFault(faults::Fault /*fault*/, std::move_only_function<void(Result<int>)> done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}
void RecordedCluster::stepFault(int /*id*/, size_t /*count*/, std::move_only_function<void(Result<size_t>)> done) {
  later([done = std::move(done)]() mutable { done(fail(refusal())); });
}
void RecordedCluster::look(LookPlace /*place*/, Look look) {
  later([look = std::move(look)]() mutable { look(fail(ErrorCode::InvalidRequest, "a recording holds no files")); });
}

}  // namespace tidemark::observe
