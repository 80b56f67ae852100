#include "coordinator/share/share_group_coordinator.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/mutex.h"
#include "coordinator/group/group_shard.h"
#include "protocol/generated/alter_share_group_offsets_request.h"
#include "protocol/generated/alter_share_group_offsets_response.h"
#include "protocol/generated/delete_share_group_offsets_request.h"
#include "protocol/generated/delete_share_group_offsets_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/share_group_describe_request.h"

namespace tidemark::coordinator {

using protocol::AlterShareGroupOffsetsRequest;
using protocol::AlterShareGroupOffsetsResponse;
using protocol::DeleteShareGroupOffsetsRequest;
using protocol::DeleteShareGroupOffsetsResponse;
using protocol::DescribeShareGroupOffsetsRequest;
using protocol::DescribeShareGroupOffsetsResponse;

namespace {

/// Runs a task once the last who holds it has let go, on whatever thread that is; not if an answer that was expected
/// has not come (its question was forgotten: the broker goes down).
class WhenAllLetGo {
 public:
  explicit WhenAllLetGo(std::move_only_function<void()> task) : task_(std::move(task)) {}
  ~WhenAllLetGo() {
    if (open_ == 0) task_();
  }
  void expect(size_t count = 1) { open_ += static_cast<int64_t>(count); }
  void answered() { --open_; }
  WhenAllLetGo(const WhenAllLetGo&) = delete;
  WhenAllLetGo& operator=(const WhenAllLetGo&) = delete;

 private:
  std::move_only_function<void()> task_;
  std::atomic<int64_t> open_{0};
};

/// What several answers, on any threads, are put into.
template <class Value>
struct Gathered {
  Mutex mutex;
  Value value GUARDED_BY(mutex);
};

template <class Response>
std::shared_ptr<Reply<Response>> sharedReply(Reply<Response> reply) {
  return std::make_shared<Reply<Response>>(std::move(reply));
}

std::vector<ShareKey> keysOf(std::string_view groupId, const std::map<Uuid, ShareTopicState>& states) {
  std::vector<ShareKey> keys;
  for (const auto& [topic, state] : states)
    for (const int32_t partition : state.partitions)
      keys.push_back({std::string(groupId), topic, PartitionIndex(partition)});
  return keys;
}

template <class Partition>
void tellShareError(const ShareStateAnswer& answer, Partition& into) {
  into.errorCode = static_cast<int16_t>(answer.error);
  if (answer.error != ErrorCode::None) into.errorMessage = protocol::Text(answer.message);
}

}  // namespace

struct ShareGroupCoordinator::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(Dependencies given) : dependencies(std::move(given)) {}

  /// `handler(shares)` where the group is; `unavailable(code)` if it is not here, or is no share group.
  void run(const std::string& groupId, bool mustExist, std::move_only_function<Effects(ShareGroups&)> handler,
           std::function<void(ErrorCode)> unavailable) {
    dependencies.groups->run(
        groupId,
        [groupId, mustExist, handler = std::move(handler), unavailable](GroupShard& shard) mutable {
          if (shard.isOfAnotherKind(groupId) || (mustExist && shard.shares().find(groupId) == nullptr)) {
            Effects out;
            out.replies.emplace_back([unavailable] { unavailable(ErrorCode::GroupIdNotFound); });
            return out;
          }
          return handler(shard.shares());
        },
        unavailable);
  }

  /// Sets up the state of partitions that the group's members subscribe to and that have none.
  void initialize(const std::string& groupId) {
    run(
        groupId, true,
        [self = shared_from_this(), groupId](ShareGroups& shares) {
          return shares.initializations(groupId, [self, groupId](std::vector<ShareStateInitialization> wanted) {
            self->initializeAll(groupId, std::move(wanted), [](const auto&) {});
          });
        },
        [](ErrorCode) {});
  }

  using Outcomes = std::vector<std::pair<ShareKey, ShareStateAnswer>>;
  /// `done` once that is in the group's records as well.
  void initializeAll(const std::string& groupId, std::vector<ShareStateInitialization> wanted,
                     std::move_only_function<void(const Outcomes&)> done) {
    const auto gathered = std::make_shared<Gathered<Outcomes>>();
    const auto all = std::make_shared<WhenAllLetGo>(
        [self = shared_from_this(), groupId, gathered, done = std::move(done)]() mutable {
          Outcomes outcomes;
          {
            Lock lock(gathered->mutex);
            outcomes = gathered->value;
          }
          std::vector<ShareKey> ready;
          for (const auto& [key, answer] : outcomes)
            if (answer.error == ErrorCode::None) ready.push_back(key);
          const auto told = std::make_shared<std::pair<std::move_only_function<void(const Outcomes&)>, Outcomes>>(
              std::move(done), std::move(outcomes));
          self->run(
              groupId, true,
              [groupId, ready = std::move(ready), told](ShareGroups& shares) {
                Effects out = shares.initialized(groupId, ready);
                out.whenCommitted = [told](ErrorCode) {
                  told->first(told->second);
                  return Effects();
                };
                return out;
              },
              [told](ErrorCode) { told->first(told->second); });
        });
    all->expect(wanted.size());
    for (ShareStateInitialization& one : wanted) {
      const ShareKey key = one.key;
      dependencies.persister->initialize(std::move(one), [gathered, all, key](ShareStateAnswer answer) {
        Lock lock(gathered->mutex);
        gathered->value.emplace_back(key, std::move(answer));
        all->answered();
      });
    }
  }

  void removeStates(const std::vector<ShareKey>& keys, std::move_only_function<void(ErrorCode)> done) {
    const auto gathered = std::make_shared<Gathered<ErrorCode>>();
    {
      Lock lock(gathered->mutex);
      gathered->value = ErrorCode::None;
    }
    const auto all = std::make_shared<WhenAllLetGo>([gathered, done = std::move(done)]() mutable {
      ErrorCode error = ErrorCode::None;
      {
        Lock lock(gathered->mutex);
        error = gathered->value;
      }
      done(error);
    });
    all->expect(keys.size());
    for (const ShareKey& key : keys)
      dependencies.persister->remove(key, [gathered, all](const ShareStateAnswer& answer) {
        all->answered();
        Lock lock(gathered->mutex);
        if (answer.error != ErrorCode::None) gathered->value = answer.error;
      });
  }

  using OffsetsGroup = DescribeShareGroupOffsetsResponse::DescribeShareGroupOffsetsResponseGroup;
  using OffsetsAnswer = Gathered<DescribeShareGroupOffsetsResponse>;
  void describeGroup(const DescribeShareGroupOffsetsRequest::DescribeShareGroupOffsetsRequestGroup& asked, size_t index,
                     const std::shared_ptr<OffsetsAnswer>& answer, const std::shared_ptr<WhenAllLetGo>& all);
  void describePartition(const ShareKey& key, const TopicPartition& name, size_t group, size_t topic, size_t partition,
                         const std::shared_ptr<OffsetsAnswer>& answer, const std::shared_ptr<WhenAllLetGo>& all);

  const Dependencies dependencies;
};

ShareGroupCoordinator::ShareGroupCoordinator(Dependencies dependencies)
    : impl_(std::make_shared<Impl>(std::move(dependencies))) {}

ShareGroupCoordinator::~ShareGroupCoordinator() = default;

// ---- membership

void ShareGroupCoordinator::heartbeat(const RequestInfo& info, const protocol::ShareGroupHeartbeatRequest& request,
                                      Reply<protocol::ShareGroupHeartbeatResponse> reply) {
  const std::string groupId = request.groupId.str();
  const auto to = sharedReply<protocol::ShareGroupHeartbeatResponse>(
      [impl = impl_, groupId, reply = std::move(reply)](protocol::ShareGroupHeartbeatResponse response) mutable {
        const bool joined = response.errorCode == 0 && response.memberEpoch >= 0;
        reply(std::move(response));
        if (joined) impl->initialize(groupId);
      });
  const auto refuse = [to](ErrorCode code) {
    protocol::ShareGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(code);
    (*to)(std::move(response));
  };
  if (groupId.empty()) return refuse(ErrorCode::InvalidRequest);
  impl_->run(
      groupId, false,
      [info, request = protocol::ShareGroupHeartbeatRequest(request), to](ShareGroups& shares) {
        return shares.heartbeat(info, request,
                                [to](protocol::ShareGroupHeartbeatResponse response) { (*to)(std::move(response)); });
      },
      refuse);
}

void ShareGroupCoordinator::describe(const RequestInfo&, const protocol::ShareGroupDescribeRequest& request,
                                     Reply<protocol::ShareGroupDescribeResponse> reply) {
  const auto gathered = std::make_shared<Gathered<protocol::ShareGroupDescribeResponse>>();
  {
    Lock lock(gathered->mutex);
    gathered->value.groups.resize(request.groupIds.size());
  }
  const auto all = std::make_shared<WhenAllLetGo>([gathered, reply = std::move(reply)]() mutable {
    protocol::ShareGroupDescribeResponse response;
    {
      Lock lock(gathered->mutex);
      response = std::move(gathered->value);
    }
    reply(std::move(response));
  });
  for (size_t i = 0; i < request.groupIds.size(); ++i) {
    const std::string groupId = request.groupIds[i].str();
    using Described = protocol::ShareGroupDescribeResponse::DescribedGroup;
    all->expect();
    const auto put = [gathered, all, i](Described described) {
      all->answered();
      Lock lock(gathered->mutex);
      gathered->value.groups[i] = std::move(described);
    };
    impl_->run(
        groupId, false,
        [groupId, put](ShareGroups& shares) {
          put(shares.describe(groupId));
          return Effects();
        },
        [groupId, put](ErrorCode code) {
          Described described;
          described.groupId = protocol::Text(groupId);
          described.errorCode = static_cast<int16_t>(code);
          if (code == ErrorCode::GroupIdNotFound)
            described.errorMessage = protocol::Text(fmt::format("Group {} not found.", groupId));
          put(std::move(described));
        });
  }
}

void ShareGroupCoordinator::remove(const std::string& groupId, std::move_only_function<void(ErrorCode)> done) {
  const auto to = std::make_shared<std::move_only_function<void(ErrorCode)>>(std::move(done));
  const auto tell = [to](ErrorCode code) { (*to)(code); };
  impl_->run(
      groupId, true,
      [impl = impl_, groupId, tell](ShareGroups& shares) {
        const ShareGroup& group = *shares.find(groupId);
        Effects out;
        if (!group.members.empty()) {
          out.replies.emplace_back([tell] { tell(ErrorCode::NonEmptyGroup); });
          return out;
        }
        std::vector<ShareKey> keys = keysOf(groupId, group.initialized);
        for (ShareKey& key : keysOf(groupId, group.initializing)) keys.push_back(std::move(key));
        // What is answered now may be known to the log alone once it is committed.
        out.whenCommitted = [impl, groupId, keys = std::move(keys), tell](ErrorCode code) {
          if (code != ErrorCode::None) {
            tell(clientErrorOfWrite(code));
            return Effects();
          }
          impl->removeStates(keys, [impl, groupId, tell](ErrorCode error) {
            if (error != ErrorCode::None) return tell(error);
            impl->run(groupId, true, [groupId, tell](ShareGroups& found) { return found.remove(groupId, tell); }, tell);
          });
          return Effects();
        };
        return out;
      },
      tell);
}

// ---- offsets

void ShareGroupCoordinator::Impl::describePartition(const ShareKey& key, const TopicPartition& name, size_t group,
                                                    size_t topic, size_t partition,
                                                    const std::shared_ptr<OffsetsAnswer>& answer,
                                                    const std::shared_ptr<WhenAllLetGo>& all) {
  all->expect();
  dependencies.persister->summarize({key, LeaderEpoch()}, [self = shared_from_this(), name, group, topic, partition,
                                                           answer, all](const ShareStateSummary& summary) {
    all->answered();
    {
      Lock lock(answer->mutex);
      auto& into = answer->value.groups[group].topics[topic].partitions[partition];
      tellShareError(summary, into);
      into.startOffset = summary.startOffset.value();
      into.leaderEpoch = summary.leaderEpoch.value();
    }
    if (summary.error != ErrorCode::None || summary.startOffset == kUndecidedStart ||
        summary.deliveryCompleteCount == kUnknownDeliveryCount)
      return;
    all->expect();
    self->dependencies.latestOffset(name, [summary, group, topic, partition, answer, all](std::optional<Offset> end) {
      all->answered();
      if (!end) return;
      Lock lock(answer->mutex);
      answer->value.groups[group].topics[topic].partitions[partition].lag =
          std::max<int64_t>(0, *end - summary.startOffset - summary.deliveryCompleteCount);
    });
  });
}

void ShareGroupCoordinator::Impl::describeGroup(
    const DescribeShareGroupOffsetsRequest::DescribeShareGroupOffsetsRequestGroup& asked, size_t index,
    const std::shared_ptr<OffsetsAnswer>& answer, const std::shared_ptr<WhenAllLetGo>& all) {
  const std::string groupId = asked.groupId.str();
  all->expect();
  run(
      groupId, true,
      [self = shared_from_this(), asked, groupId, index, answer, all](ShareGroups& shares) {
        all->answered();
        const ShareGroup& group = *shares.find(groupId);
        // Topics by name, with the partitions to tell of.
        std::vector<std::pair<std::string, std::vector<int32_t>>> wanted;
        if (asked.topics) {
          for (const auto& topic : *asked.topics) wanted.emplace_back(topic.topicName.str(), topic.partitions);
        } else {
          for (const auto& [topic, state] : group.initialized)
            wanted.emplace_back(state.name, std::vector(state.partitions.begin(), state.partitions.end()));
        }
        Effects out;
        std::vector<std::tuple<ShareKey, TopicPartition, size_t, size_t>> questions;
        {
          Lock lock(answer->mutex);
          OffsetsGroup& into = answer->value.groups[index];
          for (const auto& [name, partitions] : wanted) {
            const std::optional<Uuid> id = self->dependencies.topics->topicId(name);
            auto& topic = into.topics.emplace_back();
            topic.topicName = protocol::Text(name);
            topic.topicId = id.value_or(Uuid());
            for (const int32_t partition : partitions) {
              auto& one = topic.partitions.emplace_back();
              one.partitionIndex = partition;
              one.startOffset = kUndecidedStart.value();
              if (!id) {
                one.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition);
              } else if (group.isInitialized(*id, partition)) {
                questions.emplace_back(ShareKey{groupId, *id, PartitionIndex(partition)},
                                       TopicPartition{name, PartitionIndex(partition)}, into.topics.size() - 1,
                                       topic.partitions.size() - 1);
              }
            }
          }
        }
        for (const auto& [key, name, topic, partition] : questions)
          self->describePartition(key, name, index, topic, partition, answer, all);
        return out;
      },
      [index, answer, all](ErrorCode code) {
        all->answered();
        Lock lock(answer->mutex);
        answer->value.groups[index].errorCode = static_cast<int16_t>(code);
      });
}

void ShareGroupCoordinator::describeOffsets(const RequestInfo&, const DescribeShareGroupOffsetsRequest& request,
                                            Reply<DescribeShareGroupOffsetsResponse> reply) {
  const auto answer = std::make_shared<Impl::OffsetsAnswer>();
  {
    Lock lock(answer->mutex);
    for (const auto& group : request.groups) answer->value.groups.emplace_back().groupId = group.groupId;
  }
  const auto all = std::make_shared<WhenAllLetGo>([answer, reply = std::move(reply)]() mutable {
    DescribeShareGroupOffsetsResponse response;
    {
      Lock lock(answer->mutex);
      response = std::move(answer->value);
    }
    reply(std::move(response));
  });
  for (size_t i = 0; i < request.groups.size(); ++i) impl_->describeGroup(request.groups[i], i, answer, all);
}

void ShareGroupCoordinator::alterOffsets(const RequestInfo&, const AlterShareGroupOffsetsRequest& request,
                                         Reply<AlterShareGroupOffsetsResponse> reply) {
  const std::string groupId = request.groupId.str();
  const auto to = sharedReply(std::move(reply));
  const auto refuse = [to](ErrorCode code) {
    AlterShareGroupOffsetsResponse response;
    response.errorCode = static_cast<int16_t>(code);
    (*to)(std::move(response));
  };
  if (groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
  AlterShareGroupOffsetsResponse response;
  std::vector<ShareGroups::Alteration> alterations;
  for (const auto& topic : request.topics) {
    const std::optional<ShareTopic> known = impl_->dependencies.topic(topic.topicName.view());
    auto& answered = response.responses.emplace_back();
    answered.topicName = topic.topicName;
    answered.topicId = known ? known->id : Uuid();
    for (const auto& partition : topic.partitions) {
      auto& one = answered.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      if (!known || partition.partitionIndex < 0 || partition.partitionIndex >= known->partitions) {
        one.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition);
      } else {
        alterations.push_back({topic.topicName.str(), partition.partitionIndex, Offset(partition.startOffset)});
      }
    }
  }
  impl_->run(
      groupId, true,
      [impl = impl_, groupId, alterations = std::move(alterations), response = std::move(response), to,
       refuse](ShareGroups& shares) mutable {
        return shares.alter(
            groupId, alterations,
            [impl, groupId, response = std::move(response), to, refuse](
                ErrorCode code, std::vector<ShareStateInitialization> wanted) mutable {
              if (code != ErrorCode::None) return refuse(code);
              impl->initializeAll(
                  groupId, std::move(wanted),
                  [response = std::move(response), to](const Impl::Outcomes& outcomes) mutable {
                    for (const auto& [key, outcome] : outcomes)
                      for (auto& topic : response.responses)
                        for (auto& partition : topic.partitions)
                          if (topic.topicId == key.topicId && partition.partitionIndex == key.partition.value())
                            tellShareError(outcome, partition);
                    (*to)(std::move(response));
                  });
            });
      },
      refuse);
}

void ShareGroupCoordinator::deleteOffsets(const RequestInfo&, const DeleteShareGroupOffsetsRequest& request,
                                          Reply<DeleteShareGroupOffsetsResponse> reply) {
  const std::string groupId = request.groupId.str();
  const auto to = sharedReply(std::move(reply));
  const auto refuse = [to](ErrorCode code) {
    DeleteShareGroupOffsetsResponse response;
    response.errorCode = static_cast<int16_t>(code);
    (*to)(std::move(response));
  };
  if (groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
  DeleteShareGroupOffsetsResponse response;
  std::set<Uuid> topics;
  for (const auto& topic : request.topics) {
    const std::optional<ShareTopic> known = impl_->dependencies.topic(topic.topicName.view());
    auto& answered = response.responses.emplace_back();
    answered.topicName = topic.topicName;
    if (known) {
      answered.topicId = known->id;
      topics.insert(known->id);
    } else {
      answered.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition);
    }
  }
  impl_->run(
      groupId, true,
      [impl = impl_, groupId, topics = std::move(topics), response = std::move(response), to,
       refuse](ShareGroups& shares) mutable {
        const ShareGroup& group = *shares.find(groupId);
        Effects out;
        if (!group.members.empty()) {
          out.replies.emplace_back([refuse] { refuse(ErrorCode::NonEmptyGroup); });
          return out;
        }
        std::vector<ShareKey> keys;
        for (const auto* states : {&group.initialized, &group.initializing})
          for (ShareKey& key : keysOf(groupId, *states))
            if (topics.contains(key.topicId)) keys.push_back(std::move(key));
        out.replies.emplace_back(
            [impl, groupId, keys = std::move(keys), topics, response = std::move(response), to, refuse]() mutable {
              impl->removeStates(
                  keys, [impl, groupId, topics, response = std::move(response), to, refuse](ErrorCode error) mutable {
                    if (error != ErrorCode::None) return refuse(error);
                    impl->run(
                        groupId, true,
                        [groupId, topics, response = std::move(response), to, refuse](ShareGroups& found) mutable {
                          return found.forget(groupId, topics,
                                              [response = std::move(response), to, refuse](ErrorCode code) mutable {
                                                if (code != ErrorCode::None) return refuse(code);
                                                (*to)(std::move(response));
                                              });
                        },
                        refuse);
                  });
            });
        return out;
      },
      refuse);
}

}  // namespace tidemark::coordinator
