#include "coordinator/share_state/share_state_coordinator.h"

#include <atomic>
#include <utility>

#include "coordinator/key_partition.h"
#include "protocol/generated/delete_share_group_state_request.h"
#include "protocol/generated/delete_share_group_state_response.h"
#include "protocol/generated/initialize_share_group_state_request.h"
#include "protocol/generated/initialize_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_request.h"
#include "protocol/generated/read_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_summary_request.h"
#include "protocol/generated/read_share_group_state_summary_response.h"
#include "protocol/generated/write_share_group_state_request.h"
#include "protocol/generated/write_share_group_state_response.h"

namespace tidemark::coordinator {
namespace {

/// One answer out of those for its share-partitions, which come in any order; sent when the last has let go of it.
template <class Response>
struct ShareGather {
  explicit ShareGather(Reply<Response> to) : reply(std::move(to)) {}
  ~ShareGather() {
    // Dropped without its answers if the coordinator is being torn down.
    if (left == 0) reply(std::move(response));
  }
  Reply<Response> reply;
  Response response;
  size_t left = 0;
};

template <class Result>
void tellOutcome(const ShareStateAnswer& answer, Result& into) {
  into.errorCode = static_cast<int16_t>(answer.error);
  if (answer.error != ErrorCode::None) into.errorMessage = protocol::Text(answer.message);
}

}  // namespace

struct ShareStateCoordinator::Impl : std::enable_shared_from_this<Impl> {
  Impl(Dependencies given, ShareStateConfig settings) : dependencies(std::move(given)), config(settings) {
    runtime = std::make_shared<CoordinatorRuntime>(
        CoordinatorRuntime::Dependencies{dependencies.executor, dependencies.clock, dependencies.log,
                                         dependencies.partitions},
        CoordinatorRuntime::Options{.name = "share-coordinator",
                                    .commitTimeout = config.writeTimeout,
                                    .loadBufferSize = config.loadBufferSize,
                                    .codec = config.codec},
        [this](PartitionIndex partition) {
          return std::make_unique<ShareStateShard>(
              config,
              ShareStateShard::Dependencies{dependencies.clock, dependencies.exists,
                                            [this, partition](Offset upTo) { dependencies.prune(partition, upTo); }});
        });
  }

  template <class Task>
  void post(Task task) {
    dependencies.executor->post([weak = weak_from_this(), task = std::move(task)]() mutable {
      if (const std::shared_ptr<Impl> self = weak.lock()) task(*self);
    });
  }

  std::optional<PartitionIndex> partitionFor(const ShareKey& key) const {
    const int32_t partitions = partitionCount.load(std::memory_order_relaxed);
    if (partitions <= 0) return std::nullopt;
    return partitionForKey(key.text(), partitions);
  }

  /// `handler(shard, reply)` on the shard of the key; `take(answer)` once, with its answer or why there is none.
  template <class Answer, class Handler, class Take>
  void ask(const ShareKey& key, Handler handler, Take take) {
    const auto to = std::make_shared<Reply<Answer>>(std::move(take));
    const auto unavailable = [to](ErrorCode code) {
      Answer answer;
      answer.error = code;
      answer.message = std::string(errorName(code));
      (*to)(std::move(answer));
    };
    const std::optional<PartitionIndex> partition = partitionFor(key);
    if (!partition) return unavailable(ErrorCode::CoordinatorNotAvailable);
    runtime->run(
        *partition, CoordinatorRuntime::Sees::All,
        [&](Shard& shard) {
          return handler(static_cast<ShareStateShard&>(shard), [to](Answer answer) { (*to)(std::move(answer)); });
        },
        unavailable);
  }

  /// Takes a request apart, asks for each share-partition, puts the answer together. `ask(impl, key, partition, take)`
  /// asks for one of them; `tell(answer, result)` writes what came.
  template <class Answer, class Response, class Request, class Ask, class Tell>
  static void each(Impl& impl, const Request& request, Reply<Response> reply, const Ask& handle, Tell tell) {
    const auto gather = std::make_shared<ShareGather<Response>>(std::move(reply));
    auto& results = gather->response.results;
    for (const auto& topic : request.topics) {
      auto& result = results.emplace_back();
      result.topicId = topic.topicId;
      for (const auto& partition : topic.partitions) result.partitions.emplace_back().partition = partition.partition;
      gather->left += topic.partitions.size();
    }
    for (size_t t = 0; t < request.topics.size(); ++t)
      for (size_t p = 0; p < request.topics[t].partitions.size(); ++p) {
        const auto& partition = request.topics[t].partitions[p];
        const ShareKey key{request.groupId.str(), request.topics[t].topicId, PartitionIndex(partition.partition)};
        impl.ask<Answer>(
            key, [&](ShareStateShard& shard, Reply<Answer> to) { return handle(shard, key, partition, std::move(to)); },
            [gather, t, p, tell](Answer answer) {
              auto& into = gather->response.results[t].partitions[p];
              tellOutcome(answer, into);
              if (answer.error == ErrorCode::None) tell(answer, into);
              --gather->left;
            });
      }
  }

  const Dependencies dependencies;
  const ShareStateConfig config;
  std::shared_ptr<CoordinatorRuntime> runtime;
  std::atomic<int32_t> partitionCount{0};
};

ShareStateCoordinator::ShareStateCoordinator(Dependencies dependencies, ShareStateConfig config)
    : impl_(std::make_shared<Impl>(std::move(dependencies), config)) {}

ShareStateCoordinator::~ShareStateCoordinator() = default;

void ShareStateCoordinator::setPartitionCount(int32_t partitions) {
  impl_->partitionCount.store(partitions, std::memory_order_relaxed);
}

std::optional<PartitionIndex> ShareStateCoordinator::partitionFor(const ShareKey& key) const {
  return impl_->partitionFor(key);
}

void ShareStateCoordinator::onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch) {
  impl_->post([partition, epoch](Impl& impl) { impl.runtime->load(partition, epoch); });
}

void ShareStateCoordinator::onResign(PartitionIndex partition) {
  impl_->post([partition](Impl& impl) { impl.runtime->unload(partition); });
}

void ShareStateCoordinator::onHighWatermark(PartitionIndex partition, Offset highWatermark) {
  impl_->runtime->onHighWatermark(partition, highWatermark);
}

void ShareStateCoordinator::onTopicsDeleted(std::set<Uuid> topics) {
  impl_->post([topics = std::move(topics)](Impl& impl) {
    impl.runtime->runOnAll([&](Shard& shard) { return static_cast<ShareStateShard&>(shard).onTopicsDeleted(topics); });
  });
}

void ShareStateCoordinator::stop() {
  impl_->post([](Impl& impl) { impl.runtime->unloadAll(); });
}

void ShareStateCoordinator::initialize(const protocol::InitializeShareGroupStateRequest& request,
                                       Reply<protocol::InitializeShareGroupStateResponse> reply) {
  impl_->post(
      [request = protocol::InitializeShareGroupStateRequest(request), reply = std::move(reply)](Impl& impl) mutable {
        Impl::each<ShareStateAnswer>(
            impl, request, std::move(reply),
            [](ShareStateShard& shard, const ShareKey& key, const auto& partition, Reply<ShareStateAnswer> to) {
              return shard.initialize({key, partition.stateEpoch, Offset(partition.startOffset)}, std::move(to));
            },
            [](const auto&, auto&) {});
      });
}

void ShareStateCoordinator::read(const protocol::ReadShareGroupStateRequest& request,
                                 Reply<protocol::ReadShareGroupStateResponse> reply) {
  impl_->post([request = protocol::ReadShareGroupStateRequest(request), reply = std::move(reply)](Impl& impl) mutable {
    Impl::each<ShareStateRead>(
        impl, request, std::move(reply),
        [](ShareStateShard& shard, const ShareKey& key, const auto& partition, Reply<ShareStateRead> to) {
          return shard.read({key, LeaderEpoch(partition.leaderEpoch)}, std::move(to));
        },
        [](const ShareStateRead& answer, auto& into) {
          into.stateEpoch = answer.stateEpoch;
          into.startOffset = answer.startOffset.value();
          for (const StateBatch& batch : answer.batches)
            into.stateBatches.push_back({.firstOffset = batch.first.value(),
                                         .lastOffset = batch.last.value(),
                                         .deliveryState = static_cast<int8_t>(batch.state),
                                         .deliveryCount = batch.deliveryCount});
        });
  });
}

void ShareStateCoordinator::write(const protocol::WriteShareGroupStateRequest& request,
                                  Reply<protocol::WriteShareGroupStateResponse> reply) {
  impl_->post([request = protocol::WriteShareGroupStateRequest(request), reply = std::move(reply)](Impl& impl) mutable {
    Impl::each<ShareStateAnswer>(
        impl, request, std::move(reply),
        [](ShareStateShard& shard, const ShareKey& key, const auto& partition, Reply<ShareStateAnswer> to) {
          ShareStateWrite write{.key = key,
                                .stateEpoch = partition.stateEpoch,
                                .leaderEpoch = LeaderEpoch(partition.leaderEpoch),
                                .startOffset = Offset(partition.startOffset),
                                .deliveryCompleteCount = partition.deliveryCompleteCount,
                                .batches = {}};
          for (const auto& batch : partition.stateBatches)
            write.batches.push_back({Offset(batch.firstOffset), Offset(batch.lastOffset),
                                     static_cast<DeliveryState>(batch.deliveryState), batch.deliveryCount});
          return shard.write(write, std::move(to));
        },
        [](const auto&, auto&) {});
  });
}

void ShareStateCoordinator::remove(const protocol::DeleteShareGroupStateRequest& request,
                                   Reply<protocol::DeleteShareGroupStateResponse> reply) {
  impl_->post(
      [request = protocol::DeleteShareGroupStateRequest(request), reply = std::move(reply)](Impl& impl) mutable {
        Impl::each<ShareStateAnswer>(
            impl, request, std::move(reply),
            [](ShareStateShard& shard, const ShareKey& key, const auto&, Reply<ShareStateAnswer> to) {
              return shard.remove(key, std::move(to));
            },
            [](const auto&, auto&) {});
      });
}

void ShareStateCoordinator::summarize(const protocol::ReadShareGroupStateSummaryRequest& request,
                                      Reply<protocol::ReadShareGroupStateSummaryResponse> reply) {
  impl_->post(
      [request = protocol::ReadShareGroupStateSummaryRequest(request), reply = std::move(reply)](Impl& impl) mutable {
        Impl::each<ShareStateSummary>(
            impl, request, std::move(reply),
            [](ShareStateShard& shard, const ShareKey& key, const auto& partition, Reply<ShareStateSummary> to) {
              return shard.summarize({key, LeaderEpoch(partition.leaderEpoch)}, std::move(to));
            },
            [](const ShareStateSummary& answer, auto& into) {
              into.stateEpoch = answer.stateEpoch;
              into.leaderEpoch = answer.leaderEpoch.value();
              into.startOffset = answer.startOffset.value();
              into.deliveryCompleteCount = answer.deliveryCompleteCount;
            });
      });
}

}  // namespace tidemark::coordinator
