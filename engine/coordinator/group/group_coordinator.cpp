#include "coordinator/group/group_coordinator.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "coordinator/group/group_shard.h"
#include "coordinator/key_partition.h"
#include "coordinator/offsets/offset_requests.h"
#include "coordinator/runtime.h"
#include "coordinator/turns.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/delete_groups_request.h"
#include "protocol/generated/describe_groups_request.h"
#include "protocol/generated/streams_group_describe_request.h"

namespace tidemark::coordinator {

using protocol::DeleteGroupsRequest;
using protocol::DeleteGroupsResponse;
using protocol::DescribeGroupsRequest;
using protocol::DescribeGroupsResponse;
using protocol::HeartbeatRequest;
using protocol::HeartbeatResponse;
using protocol::JoinGroupRequest;
using protocol::JoinGroupResponse;
using protocol::LeaveGroupRequest;
using protocol::LeaveGroupResponse;
using protocol::ListGroupsRequest;
using protocol::ListGroupsResponse;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;
using protocol::StreamsGroupDescribeRequest;
using protocol::StreamsGroupDescribeResponse;
using protocol::StreamsGroupHeartbeatRequest;
using protocol::SyncGroupRequest;
using protocol::SyncGroupResponse;
using protocol::TxnOffsetCommitRequest;
using protocol::TxnOffsetCommitResponse;

namespace {

using Sees = CoordinatorRuntime::Sees;

constexpr std::string_view kName = "group-coordinator";
/// Before it the name of the protocol may not be null.
constexpr int16_t kFirstJoinVersionWithNullProtocol = 7;
/// Before it LeaveGroup names one member and gets one error.
constexpr int16_t kFirstLeaveVersionWithMembers = 3;

int16_t number(ErrorCode code) {
  return static_cast<int16_t>(code);
}

/// Answers once the last of several groups has been answered for, each in its place of the response's list.
template <class Response, class One>
class GroupGather : public std::enable_shared_from_this<GroupGather<Response, One>> {
 public:
  GroupGather(Reply<Response> reply, std::vector<One> Response::* list, size_t count)
      : reply_(std::move(reply)), list_(list), left_(count) {
    (response_.*list_).resize(count);
  }
  GroupGather(const GroupGather&) = delete;
  GroupGather& operator=(const GroupGather&) = delete;
  ~GroupGather() {
    if (left_ == 0) reply_(std::move(response_));
  }

  auto answerOf(size_t i) {
    return [self = this->shared_from_this(), i](One one) {
      (self->response_.*self->list_)[i] = std::move(one);
      --self->left_;
    };
  }

 private:
  Reply<Response> reply_;
  std::vector<One> Response::* const list_;
  Response response_;
  size_t left_;
};

}  // namespace

struct GroupCoordinator::Impl : std::enable_shared_from_this<Impl> {
  Impl(Dependencies given, GroupConfig settings)
      : dependencies(std::move(given)), config(settings), hashes(*dependencies.topics) {
    const CoordinatorRuntime::Options options{.name = std::string(kName),
                                              .commitTimeout = config.commitTimeout,
                                              .loadBufferSize = config.loadBufferSize,
                                              .codec = config.codec};
    runtime = std::make_shared<CoordinatorRuntime>(
        CoordinatorRuntime::Dependencies{dependencies.executor, dependencies.clock, dependencies.log,
                                         dependencies.partitions},
        options, [this](PartitionIndex partition) {
          return std::make_unique<GroupShard>(
              partition,
              GroupShard::Surroundings{config, dependencies.streamsConfigOf, *dependencies.clock, *dependencies.random,
                                       *dependencies.log, *dependencies.topics, hashes});
        });
  }

  /// Runs `task(impl)` on the executor, unless the coordinator is gone by then.
  template <class Task>
  void post(Task task) {
    dependencies.executor->post(bound(std::move(task)));
  }
  /// The same, inside the call if that is allowed: for what members ask again and again. `caller` as of Turns::run().
  template <class Task>
  void runFor(platform::Executor* caller, Task&& task) {
    if (dependencies.turns == nullptr || dependencies.turns->isCurrent()) return post(std::forward<Task>(task));
    dependencies.turns->run([&] { task(*this); }, caller);
  }
  template <class Task>
  platform::Task bound(Task task) {
    return [weak = weak_from_this(), task = std::move(task)]() mutable {
      if (const std::shared_ptr<Impl> self = weak.lock()) task(*self);
    };
  }

  std::optional<PartitionIndex> partitionFor(std::string_view groupId) const {
    const int32_t partitions = partitionCount.load(std::memory_order_relaxed);
    if (partitions <= 0) return std::nullopt;
    return partitionForKey(groupId, partitions);
  }

  /// Runs `handler(shard)` on the shard of the group; `unavailable(code)` if that is not here.
  template <class Handler, class Unavailable>
  void run(std::string_view groupId, Handler&& handler, Unavailable&& unavailable, Sees sees = Sees::All) {
    const std::optional<PartitionIndex> partition = partitionFor(groupId);
    if (!partition) return unavailable(ErrorCode::CoordinatorNotAvailable);
    runtime->run(
        *partition, sees, [&handler](Shard& shard) { return handler(static_cast<GroupShard&>(shard)); }, unavailable);
  }

  void fetchGroup(std::shared_ptr<OffsetFetchGather> gather, size_t index);

  std::vector<GroupSnapshot> snapshot() {
    std::vector<GroupSnapshot> groups;
    runtime->forEach([&](PartitionIndex, Shard& shard) { static_cast<GroupShard&>(shard).snapshot(groups); });
    std::ranges::sort(groups, {}, &GroupSnapshot::groupId);
    return groups;
  }

  const Dependencies dependencies;
  const GroupConfig config;
  TopicHashes hashes;
  std::shared_ptr<CoordinatorRuntime> runtime;
  std::atomic<int32_t> partitionCount{0};
};

GroupCoordinator::GroupCoordinator(Dependencies dependencies, GroupConfig config)
    : impl_(std::make_shared<Impl>(std::move(dependencies), config)) {}

GroupCoordinator::~GroupCoordinator() = default;

void GroupCoordinator::setPartitionCount(int32_t partitions) {
  impl_->partitionCount.store(partitions, std::memory_order_relaxed);
}

std::optional<PartitionIndex> GroupCoordinator::partitionFor(std::string_view groupId) const {
  return impl_->partitionFor(groupId);
}

void GroupCoordinator::onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch) {
  impl_->post([partition, epoch](Impl& impl) { impl.runtime->load(partition, epoch); });
}

void GroupCoordinator::onResign(PartitionIndex partition) {
  impl_->post([partition](Impl& impl) { impl.runtime->unload(partition); });
}

void GroupCoordinator::onHighWatermark(PartitionIndex partition, Offset highWatermark) {
  impl_->runtime->onHighWatermark(partition, highWatermark);
}

void GroupCoordinator::onTopicsDeleted(std::vector<DeletedTopic> topics) {
  impl_->post([topics = std::move(topics)](Impl& impl) {
    impl.runtime->runOnAll([&](Shard& shard) { return static_cast<GroupShard&>(shard).onTopicsDeleted(topics); });
  });
}

void GroupCoordinator::onTopicsChanged(std::set<std::string, std::less<>> topics) {
  impl_->post([topics = std::move(topics)](Impl& impl) {
    for (const std::string& topic : topics) impl.hashes.forget(topic);
    impl.runtime->forEach(
        [&](PartitionIndex, Shard& shard) { static_cast<GroupShard&>(shard).onTopicsChanged(topics); });
  });
}

void GroupCoordinator::stop() {
  impl_->post([](Impl& impl) { impl.runtime->unloadAll(); });
}

// ---- membership

void GroupCoordinator::joinGroup(RequestInfo info, JoinGroupRequest request, Reply<JoinGroupResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(caller, [info = std::move(info), request = std::move(request),
                         reply = std::move(reply)](Impl& impl) mutable {
    if (info.apiVersion < kFirstJoinVersionWithNullProtocol) {
      reply = [told = std::move(reply)](JoinGroupResponse response) mutable {
        if (!response.protocolName) response.protocolName = "";
        told(std::move(response));
      };
    }
    const auto refuse = [&](ErrorCode code) {
      JoinGroupResponse response;
      response.memberId = request.memberId;
      response.protocolName.reset();
      response.errorCode = number(code);
      reply(std::move(response));
    };
    if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
    const platform::milliseconds session(request.sessionTimeoutMs);
    if (session < impl.config.minSessionTimeout || session > impl.config.maxSessionTimeout) {
      return refuse(ErrorCode::InvalidSessionTimeout);
    }
    impl.run(request.groupId, [&](GroupShard& shard) { return shard.join(info, request, std::move(reply)); }, refuse);
  });
}

void GroupCoordinator::syncGroup(RequestInfo info, SyncGroupRequest request, Reply<SyncGroupResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(
      caller, [info = std::move(info), request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
        const auto refuse = [&](ErrorCode code) {
          SyncGroupResponse response;
          response.errorCode = number(code);
          reply(std::move(response));
        };
        if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
        impl.run(request.groupId, [&](GroupShard& shard) { return shard.sync(request, std::move(reply)); }, refuse);
      });
}

void GroupCoordinator::heartbeat(RequestInfo info, HeartbeatRequest request, Reply<HeartbeatResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(caller,
                [info = std::move(info), request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
                  const auto refuse = [&](ErrorCode code) {
                    HeartbeatResponse response;
                    // Nobody is thrown out while the group is being read.
                    if (code != ErrorCode::CoordinatorLoadInProgress) response.errorCode = number(code);
                    reply(response);
                  };
                  if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
                  impl.run(
                      request.groupId, [&](GroupShard& shard) { return shard.heartbeat(request, std::move(reply)); },
                      refuse, Sees::AllButGathered);
                });
}

void GroupCoordinator::leaveGroup(RequestInfo info, LeaveGroupRequest request, Reply<LeaveGroupResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(
      caller, [info = std::move(info), request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
        const bool single = info.apiVersion < kFirstLeaveVersionWithMembers;
        if (single) {
          auto& member = request.members.emplace_back();
          member.memberId = request.memberId;
          reply = [told = std::move(reply)](LeaveGroupResponse response) mutable {
            if (response.errorCode == 0 && !response.members.empty())
              response.errorCode = response.members.front().errorCode;
            response.members.clear();
            told(std::move(response));
          };
        }
        const auto refuse = [&](ErrorCode code) {
          LeaveGroupResponse response;
          response.errorCode = number(code);
          reply(std::move(response));
        };
        if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
        impl.run(request.groupId, [&](GroupShard& shard) { return shard.leave(request, std::move(reply)); }, refuse);
      });
}

void GroupCoordinator::consumerHeartbeat(RequestInfo info, protocol::ConsumerGroupHeartbeatRequest request,
                                         Reply<protocol::ConsumerGroupHeartbeatResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(caller, [info = std::move(info), request = std::move(request),
                         reply = std::move(reply)](Impl& impl) mutable {
    using Response = protocol::ConsumerGroupHeartbeatResponse;
    const auto refuse = [&](ErrorCode code) {
      Response response;
      response.errorCode = number(code);
      response.memberId.reset();
      response.assignment.reset();
      reply(std::move(response));
    };
    if (request.groupId.empty()) return refuse(ErrorCode::InvalidRequest);
    impl.run(
        request.groupId, [&](GroupShard& shard) { return shard.consumerHeartbeat(info, request, std::move(reply)); },
        // Who joins may find a group that is made by a commit.
        refuse, request.memberEpoch > 0 ? Sees::AllButGathered : Sees::All);
  });
}

void GroupCoordinator::describeConsumerGroups(const RequestInfo&, const protocol::ConsumerGroupDescribeRequest& request,
                                              Reply<protocol::ConsumerGroupDescribeResponse> reply) {
  impl_->post(
      [request = protocol::ConsumerGroupDescribeRequest(request), reply = std::move(reply)](Impl& impl) mutable {
        protocol::ConsumerGroupDescribeResponse response;
        const auto refuse = [&](const protocol::Text& id, ErrorCode code) {
          auto& described = response.groups.emplace_back();
          described.groupId = id;
          described.errorCode = number(code);
        };
        for (const protocol::Text& id : request.groupIds) {
          if (id.empty()) {
            refuse(id, ErrorCode::InvalidGroupId);
            continue;
          }
          impl.run(
              id,
              [&](GroupShard& shard) {
                response.groups.push_back(shard.describeConsumers(id));
                return Effects();
              },
              [&](ErrorCode code) { refuse(id, code); });
        }
        reply(std::move(response));
      });
}

void GroupCoordinator::streamsHeartbeat(const RequestInfo& info, const StreamsGroupHeartbeatRequest& request,
                                        Reply<StreamsHeartbeatAnswer> reply) {
  impl_->post([info, request = StreamsGroupHeartbeatRequest(request), reply = std::move(reply)](Impl& impl) mutable {
    const auto refuse = [&](ErrorCode code, std::string_view message) {
      StreamsHeartbeatAnswer answer;
      answer.response.errorCode = number(code);
      if (!message.empty()) answer.response.errorMessage = protocol::Text(message);
      reply(std::move(answer));
    };
    if (const Result<void> valid = validateHeartbeat(request); !valid) {
      return refuse(valid.error().code, valid.error().message);
    }
    impl.run(
        request.groupId, [&](GroupShard& shard) { return shard.streamsHeartbeat(info, request, std::move(reply)); },
        [&](ErrorCode code) { refuse(code, {}); });
  });
}

// ---- offsets

void GroupCoordinator::commitOffsets(RequestInfo info, OffsetCommitRequest request, Reply<OffsetCommitResponse> reply) {
  platform::Executor* const caller = info.thread;
  impl_->runFor(
      caller, [info = std::move(info), request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
        // What names no topic is answered beside the rest.
        OffsetCommitResponse unknown = takeUnknownTopics(request, info.apiVersion, *impl.dependencies.topics);
        if (request.topics.empty()) return reply(std::move(unknown));
        if (!unknown.topics.empty()) {
          reply = [unknown = std::move(unknown), told = std::move(reply)](OffsetCommitResponse response) mutable {
            for (auto& topic : response.topics) unknown.topics.push_back(std::move(topic));
            told(std::move(unknown));
          };
        }
        impl.run(
            request.groupId, [&](GroupShard& shard) { return shard.commitOffsets(info, request, std::move(reply)); },
            [&](ErrorCode code) { reply(refusedCommit(request, code)); }, Sees::AllButGathered);
      });
}

void GroupCoordinator::commitTransactionalOffsets(const RequestInfo& info, const TxnOffsetCommitRequest& request,
                                                  std::optional<uint64_t> verification,
                                                  Reply<TxnOffsetCommitResponse> reply) {
  impl_->post([apiVersion = info.apiVersion, request, verification, reply = std::move(reply)](Impl& impl) mutable {
    const auto refuse = [&](ErrorCode code) {
      TxnOffsetCommitResponse response;
      for (const auto& topic : request.topics) {
        auto& answered = response.topics.emplace_back();
        answered.name = topic.name;
        answered.topicId = topic.topicId;
        for (const auto& partition : topic.partitions)
          answered.partitions.push_back({.partitionIndex = partition.partitionIndex, .errorCode = number(code)});
      }
      reply(std::move(response));
    };
    if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
    impl.run(
        request.groupId,
        [&](GroupShard& shard) {
          return shard.commitTransactionalOffsets(apiVersion, request, verification, std::move(reply));
        },
        refuse);
  });
}

void GroupCoordinator::endTransaction(PartitionIndex partition, const TransactionMarker& marker,
                                      Reply<ErrorCode> reply) {
  impl_->post([partition, marker, reply = std::move(reply)](Impl& impl) mutable {
    impl.runtime->endTransaction(partition, marker, std::move(reply));
  });
}

void GroupCoordinator::fetchOffsets(const RequestInfo& info, const OffsetFetchRequest& request,
                                    Reply<OffsetFetchResponse> reply) {
  impl_->post([info, request = OffsetFetchRequest(request), reply = std::move(reply)](Impl& impl) mutable {
    auto gather = std::make_shared<OffsetFetchGather>(info.apiVersion, std::move(request), *impl.dependencies.topics,
                                                      std::move(reply));
    const size_t count = gather->groupCount();
    for (size_t i = 0; i < count; ++i) impl.fetchGroup(gather, i);
    gather->started();
  });
}

void GroupCoordinator::Impl::fetchGroup(std::shared_ptr<OffsetFetchGather> gather, size_t index) {
  const auto& group = gather->group(index);
  run(
      group.groupId,
      [&](GroupShard& shard) {
        return shard.fetchOffsets(group, gather->requiresStable(),
                                  [gather, index](OffsetFetchResponse::OffsetFetchResponseGroup answer) {
                                    gather->answer(index, std::move(answer));
                                  });
      },
      [&](ErrorCode code) { gather->refuse(index, code); });
}

void GroupCoordinator::deleteOffsets(const RequestInfo&, const OffsetDeleteRequest& request,
                                     Reply<OffsetDeleteResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    const auto refuse = [&](ErrorCode code) {
      OffsetDeleteResponse response;
      response.errorCode = number(code);
      reply(std::move(response));
    };
    if (request.groupId.empty()) return refuse(ErrorCode::InvalidGroupId);
    impl.run(
        request.groupId, [&](GroupShard& shard) { return shard.deleteOffsets(request, std::move(reply)); }, refuse);
  });
}

// ---- administration

void GroupCoordinator::describeGroups(const RequestInfo& info, const DescribeGroupsRequest& request,
                                      Reply<DescribeGroupsResponse> reply) {
  impl_->post([version = info.apiVersion, request, reply = std::move(reply)](Impl& impl) mutable {
    DescribeGroupsResponse response;
    for (const protocol::Text& id : request.groups) {
      impl.run(
          id,
          [&](GroupShard& shard) {
            response.groups.push_back(shard.describe(id, version));
            return Effects();
          },
          [&](ErrorCode code) {
            auto& described = response.groups.emplace_back();
            described.groupId = id;
            described.errorCode = number(code);
          });
    }
    reply(std::move(response));
  });
}

void GroupCoordinator::listGroups(const RequestInfo&, const ListGroupsRequest& request,
                                  Reply<ListGroupsResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    ListGroupsResponse response;
    if (impl.runtime->isLoading()) {
      response.errorCode = number(ErrorCode::CoordinatorLoadInProgress);
    } else {
      impl.runtime->forEach(
          [&](PartitionIndex, Shard& shard) { static_cast<GroupShard&>(shard).list(request, response.groups); });
    }
    reply(std::move(response));
  });
}

void GroupCoordinator::describeStreamsGroups(const RequestInfo&, const StreamsGroupDescribeRequest& request,
                                             Reply<StreamsGroupDescribeResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    const auto gather =
        std::make_shared<GroupGather<StreamsGroupDescribeResponse, StreamsGroupDescribeResponse::DescribedGroup>>(
            std::move(reply), &StreamsGroupDescribeResponse::groups, request.groupIds.size());
    for (size_t i = 0; i < request.groupIds.size(); ++i) {
      const protocol::Text& id = request.groupIds[i];
      const auto answer = gather->answerOf(i);
      const auto refuse = [&](ErrorCode code) {
        StreamsGroupDescribeResponse::DescribedGroup described;
        described.groupId = id;
        described.errorCode = number(code);
        answer(std::move(described));
      };
      if (id.empty()) {
        refuse(ErrorCode::InvalidGroupId);
        continue;
      }
      impl.run(id, [&](GroupShard& shard) { return shard.describeStreams(id, answer); }, refuse);
    }
  });
}

void GroupCoordinator::deleteGroups(const RequestInfo&, const DeleteGroupsRequest& request,
                                    Reply<DeleteGroupsResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    const auto gather = std::make_shared<GroupGather<DeleteGroupsResponse, DeleteGroupsResponse::DeletableGroupResult>>(
        std::move(reply), &DeleteGroupsResponse::results, request.groupsNames.size());
    for (size_t i = 0; i < request.groupsNames.size(); ++i) {
      const protocol::Text& id = request.groupsNames[i];
      const auto answer = gather->answerOf(i);
      impl.run(
          id, [&](GroupShard& shard) { return shard.deleteGroup(id, answer); },
          [&](ErrorCode code) {
            DeleteGroupsResponse::DeletableGroupResult result;
            result.groupId = id;
            result.errorCode = number(code);
            answer(std::move(result));
          });
    }
  });
}

void GroupCoordinator::run(std::string groupId, std::move_only_function<Effects(GroupShard&)> handler,
                           std::move_only_function<void(ErrorCode)> unavailable) {
  impl_->post([groupId = std::move(groupId), handler = std::move(handler), unavailable = std::move(unavailable)](
                  Impl& impl) mutable { impl.run(groupId, std::move(handler), std::move(unavailable)); });
}

void GroupCoordinator::snapshot(Reply<std::vector<GroupSnapshot>> reply) {
  impl_->post([reply = std::move(reply)](Impl& impl) mutable { reply(impl.snapshot()); });
}

std::vector<GroupSnapshot> GroupCoordinator::snapshotNow() const {
  return impl_->snapshot();
}

}  // namespace tidemark::coordinator
