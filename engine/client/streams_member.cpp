#include "client/streams_member.h"

#include <algorithm>
#include <iterator>

#include "client/group_membership.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_response.h"

namespace tidemark::client {

using protocol::StreamsGroupHeartbeatRequest;
using protocol::StreamsGroupHeartbeatResponse;

namespace {

using TaskList = std::set<StreamsTask>;

/// Of applications that do not change.
constexpr int32_t kTopologyEpoch = 0;

std::vector<StreamsGroupHeartbeatRequest::TaskIds> listOf(const TaskList& tasks) {
  std::vector<StreamsGroupHeartbeatRequest::TaskIds> lists;
  for (const StreamsTask& task : tasks) {
    if (lists.empty() || lists.back().subtopologyId != task.subtopology)
      lists.emplace_back().subtopologyId = task.subtopology;
    lists.back().partitions.push_back(task.partition);
  }
  return lists;
}

TaskList tasksOf(const std::vector<StreamsGroupHeartbeatResponse::TaskIds>& lists) {
  TaskList tasks;
  for (const auto& list : lists)
    for (const int32_t partition : list.partitions) tasks.insert({list.subtopologyId.str(), partition});
  return tasks;
}

TaskList without(const TaskList& tasks, const TaskList& others) {
  TaskList left;
  std::ranges::set_difference(tasks, others, std::inserter(left, left.end()));
  return left;
}

StreamsTasks without(const StreamsTasks& tasks, const StreamsTasks& others) {
  return {.active = without(tasks.active, others.active),
          .standby = without(tasks.standby, others.standby),
          .warmup = without(tasks.warmup, others.warmup)};
}

std::vector<StreamsGroupHeartbeatRequest::TopicInfo> listOf(const std::vector<StreamsTopic>& topics) {
  std::vector<StreamsGroupHeartbeatRequest::TopicInfo> list;
  for (const StreamsTopic& topic : topics) {
    auto& info = list.emplace_back();
    info.name = topic.name;
    info.replicationFactor = topic.replicationFactor;
    for (const auto& [key, value] : topic.configs) info.topicConfigs.push_back({.key = key, .value = value});
  }
  return list;
}

}  // namespace

class StreamsMember::Core final : public GroupMembership {
 public:
  Core(Client& client, StreamsOptions options, Handlers handlers)
      : GroupMembership(client, options.groupId, handlers.onError),
        options_(std::move(options)),
        handlers_(std::move(handlers)),
        processId_(client.process().random().uuid().toString()) {
    memberId_ = client.process().random().uuid().toString();
    epoch_ = kJoinsGroup;
  }

  void commit(const std::map<TopicPartition, LogPosition>& positions, Done done) {
    commitOffsets(positions, instanceId(), std::move(done));
  }
  void leave(platform::Task done) override;
  const StreamsTasks& tasks() const noexcept { return tasks_; }

 private:
  friend class GroupMembership;

  void proceed() override { beat(); }
  void beat() { exchangeHeartbeats(*this); }
  StreamsGroupHeartbeatRequest heartbeat() const;
  void answered(const StreamsGroupHeartbeatResponse& response);
  void giveUpAll();
  /// Goes one step towards what it is to own: first gives up, then takes.
  void reconcile();
  void closed(const StreamsTasks& lost);
  std::optional<protocol::Text> instanceId() const {
    return options_.instanceId.empty() ? std::nullopt : std::optional<protocol::Text>(options_.instanceId);
  }
  /// Whoever listens may stop it.
  void tellTasks() const {
    if (handlers_.onTasks) handlers_.onTasks(epoch_, tasks_);
  }

  const StreamsOptions options_;
  const Handlers handlers_;
  const std::string processId_;
  platform::Duration interval_ = std::chrono::seconds(1);
  /// What it owns; and as it was told last.
  StreamsTasks tasks_;
  StreamsTasks target_;
  bool closing_ = false;
  /// Rises when it is fenced: what was being closed then is not its own any more.
  uint64_t lives_ = 0;
};

StreamsGroupHeartbeatRequest StreamsMember::Core::heartbeat() const {
  StreamsGroupHeartbeatRequest request;
  request.groupId = groupId_;
  request.memberId = memberId_;
  request.memberEpoch = epoch_;
  request.instanceId = instanceId();
  request.activeTasks = listOf(tasks_.active);
  request.standbyTasks = listOf(tasks_.standby);
  request.warmupTasks = listOf(tasks_.warmup);
  if (epoch_ != kJoinsGroup) return request;
  request.rebalanceTimeoutMs = millis(options_.rebalanceTimeout);
  request.processId = processId_;
  auto& topology = request.topology.emplace();
  topology.epoch = kTopologyEpoch;
  for (const StreamsSubtopology& part : options_.topology) {
    auto& described = topology.subtopologies.emplace_back();
    described.subtopologyId = part.id;
    for (const std::string& topic : part.sourceTopics) described.sourceTopics.emplace_back(topic);
    for (const std::string& topic : part.repartitionSinks) described.repartitionSinkTopics.emplace_back(topic);
    described.stateChangelogTopics = listOf(part.changelogs);
    described.repartitionSourceTopics = listOf(part.repartitionSources);
  }
  return request;
}

void StreamsMember::Core::answered(const StreamsGroupHeartbeatResponse& response) {
  attempts_ = 0;
  const bool moved = epoch_ != response.memberEpoch;
  epoch_ = response.memberEpoch;
  interval_ = std::chrono::milliseconds(response.heartbeatIntervalMs);
  if (response.activeTasks && response.standbyTasks && response.warmupTasks) {
    target_ = {.active = tasksOf(*response.activeTasks),
               .standby = tasksOf(*response.standbyTasks),
               .warmup = tasksOf(*response.warmupTasks)};
  }
  later(interval_, &Core::beat);
  if (moved) tellTasks();
  if (!stopped_) reconcile();
}

void StreamsMember::Core::reconcile() {
  if (closing_) return;
  const StreamsTasks lost = without(tasks_, target_);
  if (!lost.empty()) {
    closing_ = true;
    auto whenClosed = whileRunning([this, lost, life = lives_] {
      if (life == lives_) closed(lost);
    });
    if (!handlers_.onRevoked) return client_.executor().post(std::move(whenClosed));
    return handlers_.onRevoked(lost, std::move(whenClosed));
  }
  if (tasks_ == target_) return;
  tasks_ = target_;
  tellTasks();
}

void StreamsMember::Core::closed(const StreamsTasks& lost) {
  closing_ = false;
  tasks_ = without(tasks_, lost);
  tellTasks();
  if (stopped_) return;
  reconcile();
  if (stopped_) return;
  // Others wait for what it has given up.
  later({}, &Core::beat);
}

void StreamsMember::Core::giveUpAll() {
  epoch_ = kJoinsGroup;
  tasks_ = {};
  target_ = {};
  closing_ = false;
  ++lives_;
  tellTasks();
}

void StreamsMember::Core::leave(platform::Task done) {
  StreamsGroupHeartbeatRequest request;
  request.groupId = groupId_;
  request.memberId = memberId_;
  request.memberEpoch = options_.instanceId.empty() ? kLeavesGroup : kLeavesGroupForAWhile;
  request.instanceId = instanceId();
  left_ = true;
  giveUpAll();
  if (stopped_) return;
  step_.cancel();
  send(std::move(request), {.timeout = client_.options().requestTimeout / 10},
       [done = std::move(done)](const Result<network::Received<StreamsGroupHeartbeatResponse>>&) mutable { done(); });
}

StreamsMember::StreamsMember(Client& client, StreamsOptions options, Handlers handlers)
    : core_(std::make_shared<Core>(client, std::move(options), std::move(handlers))) {
  core_->begin();
}

StreamsMember::~StreamsMember() {
  core_->stop();
}

void StreamsMember::commit(const std::map<TopicPartition, LogPosition>& positions, Done done) {
  core_->commit(positions, std::move(done));
}

void StreamsMember::leave(platform::Task done) {
  core_->leave(std::move(done));
}

std::string StreamsMember::memberId() const {
  return core_->memberId();
}

int32_t StreamsMember::epoch() const noexcept {
  return core_->epoch();
}

const StreamsTasks& StreamsMember::tasks() const noexcept {
  return core_->tasks();
}

}  // namespace tidemark::client
