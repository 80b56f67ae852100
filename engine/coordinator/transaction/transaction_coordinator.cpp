#include "coordinator/transaction/transaction_coordinator.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include <re2/re2.h>

#include "coordinator/key_partition.h"
#include "coordinator/runtime.h"
#include "coordinator/transaction/transaction_shard.h"
#include "protocol/generated/describe_transactions_request.h"

namespace tidemark::coordinator {

using protocol::DescribeTransactionsRequest;
using protocol::DescribeTransactionsResponse;
using protocol::ListTransactionsRequest;
using protocol::ListTransactionsResponse;

struct TransactionCoordinator::Impl : std::enable_shared_from_this<Impl> {
  Impl(Dependencies given, TransactionConfig settings) : dependencies(std::move(given)), config(std::move(settings)) {
    CoordinatorRuntime::Options options{"transaction-coordinator", config.commitTimeout, config.loadBufferSize};
    options.baseSequence = -1;
    runtime = std::make_shared<CoordinatorRuntime>(
        CoordinatorRuntime::Dependencies{dependencies.executor, dependencies.clock, dependencies.log,
                                         dependencies.partitions},
        options, [this](PartitionIndex partition) {
          return std::make_unique<TransactionShard>(
              partition, config, *dependencies.clock, [this](MarkerOrder order) { send(std::move(order)); },
              [this, partition] { dependencies.markers->forget(partition); });
        });
  }

  /// Runs `task(impl)` on the executor, unless the coordinator is gone by then.
  template <class Task>
  void post(Task task) {
    dependencies.executor->post([weak = weak_from_this(), task = std::move(task)]() mutable {
      if (const std::shared_ptr<Impl> self = weak.lock()) task(*self);
    });
  }

  std::optional<PartitionIndex> partitionFor(std::string_view transactionalId) const {
    const int32_t partitions = partitionCount.load(std::memory_order_relaxed);
    if (partitions <= 0) return std::nullopt;
    return partitionForKey(transactionalId, partitions);
  }

  /// Runs `handler(shard)` on the shard of the id; `unavailable(code)` if that is not here.
  template <class Handler, class Unavailable>
  void run(std::string_view transactionalId, Handler handler, Unavailable unavailable) {
    if (transactionalId.empty()) return unavailable(ErrorCode::InvalidRequest);
    const std::optional<PartitionIndex> partition = partitionFor(transactionalId);
    if (!partition) return unavailable(ErrorCode::CoordinatorNotAvailable);
    runtime->run(
        *partition, CoordinatorRuntime::Sees::All,
        [&handler](Shard& shard) { return handler(static_cast<TransactionShard&>(shard)); }, unavailable);
  }

  std::vector<TransactionSnapshot> snapshot() {
    std::vector<TransactionSnapshot> all;
    runtime->forEach([&](PartitionIndex, Shard& shard) { static_cast<TransactionShard&>(shard).snapshot(all); });
    std::ranges::sort(all, {}, &TransactionSnapshot::transactionalId);
    return all;
  }

  void send(MarkerOrder order) {
    order.coordinatorEpoch = epochs[order.coordinatorPartition];
    dependencies.markers->send(std::move(order));
  }

  using Answer = std::shared_ptr<Reply<ProducerAnswer>>;
  /// Handles a request that may need a producer id: first without, then, if it does, with one from the controller.
  template <class Request>
  void runWithProducerId(std::shared_ptr<const Request> request, std::optional<ProducerId> fresh, Answer answer,
                         Effects (TransactionShard::*handle)(const Request&, std::optional<ProducerId>, NeedProducerId,
                                                             Reply<ProducerAnswer>)) {
    NeedProducerId need = [this, request, answer, handle] {
      dependencies.producerIds->next([weak = weak_from_this(), request, answer, handle](Result<ProducerId> id) {
        const std::shared_ptr<Impl> self = weak.lock();
        if (!self) return;
        self->post([request, answer, handle, id = std::move(id)](Impl& impl) {
          if (!id) return (*answer)({id.error().code, {}});
          impl.runWithProducerId(request, *id, answer, handle);
        });
      });
    };
    run(
        request->transactionalId,
        [&](TransactionShard& shard) {
          return (shard.*handle)(*request, fresh, std::move(need),
                                 [answer](const ProducerAnswer& given) { (*answer)(given); });
        },
        [&](ErrorCode code) { (*answer)({code, {}}); });
  }

  const Dependencies dependencies;
  const TransactionConfig config;
  std::shared_ptr<CoordinatorRuntime> runtime;
  std::atomic<int32_t> partitionCount{0};
  /// Of the executor: in which epoch each partition is led here.
  std::map<PartitionIndex, LeaderEpoch> epochs;
};

TransactionCoordinator::TransactionCoordinator(Dependencies dependencies, TransactionConfig config)
    : impl_(std::make_shared<Impl>(std::move(dependencies), std::move(config))) {}

TransactionCoordinator::~TransactionCoordinator() = default;

void TransactionCoordinator::setPartitionCount(int32_t partitions) {
  impl_->partitionCount.store(partitions, std::memory_order_relaxed);
}

std::optional<PartitionIndex> TransactionCoordinator::partitionFor(std::string_view transactionalId) const {
  return impl_->partitionFor(transactionalId);
}

void TransactionCoordinator::onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch) {
  impl_->post([partition, epoch](Impl& impl) {
    impl.epochs[partition] = std::max(impl.epochs[partition], epoch);
    impl.runtime->load(partition, epoch);
  });
}

void TransactionCoordinator::onResign(PartitionIndex partition) {
  impl_->post([partition](Impl& impl) { impl.runtime->unload(partition); });
}

void TransactionCoordinator::onHighWatermark(PartitionIndex partition, Offset highWatermark) {
  impl_->runtime->onHighWatermark(partition, highWatermark);
}

void TransactionCoordinator::stop() {
  impl_->post([](Impl& impl) { impl.runtime->unloadAll(); });
}

// ---- producers

void TransactionCoordinator::beginProducer(BeginProducer request, Reply<ProducerAnswer> reply) {
  impl_->post([request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
    if (request.transactionalId.empty()) return reply({ErrorCode::InvalidRequest, {}});
    if (request.timeout.count() <= 0 || request.timeout > impl.config.maxTimeout)
      return reply({ErrorCode::InvalidTransactionTimeout, {}});
    impl.runWithProducerId(std::make_shared<const BeginProducer>(std::move(request)), std::nullopt,
                           std::make_shared<Reply<ProducerAnswer>>(std::move(reply)), &TransactionShard::beginProducer);
  });
}

void TransactionCoordinator::end(EndTransaction request, Reply<ProducerAnswer> reply) {
  impl_->post([request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
    impl.runWithProducerId(std::make_shared<const EndTransaction>(std::move(request)), std::nullopt,
                           std::make_shared<Reply<ProducerAnswer>>(std::move(reply)), &TransactionShard::end);
  });
}

void TransactionCoordinator::addPartitions(AddPartitions request, Reply<PartitionErrors> reply) {
  impl_->post([request = std::move(request), reply = std::move(reply)](Impl& impl) mutable {
    const auto to = std::make_shared<Reply<PartitionErrors>>(std::move(reply));
    const auto forAll = [partitions = request.partitions, to](ErrorCode code) {
      PartitionErrors errors;
      for (const TopicPartition& partition : partitions) errors.emplace_back(partition, code);
      (*to)(std::move(errors));
    };
    impl.run(
        request.transactionalId,
        [&](TransactionShard& shard) {
          if (!request.verifyOnly) return shard.addPartitions(request, forAll);
          Effects out;
          out.replies.emplace_back([errors = shard.verify(request), to]() mutable { (*to)(std::move(errors)); });
          return out;
        },
        forAll);
  });
}

void TransactionCoordinator::markersWritten(const MarkerOrder& order, const std::vector<TopicPartition>& partitions) {
  impl_->runtime->run(
      order.coordinatorPartition, CoordinatorRuntime::Sees::All,
      [&](Shard& shard) {
        return static_cast<TransactionShard&>(shard).markersWritten(
            order.transactionalId, {order.producerId, order.producerEpoch}, partitions);
      },
      [](ErrorCode) {});
}

// ---- looking

void TransactionCoordinator::describe(const DescribeTransactionsRequest& request,
                                      Reply<DescribeTransactionsResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    DescribeTransactionsResponse response;
    for (const protocol::Text& id : request.transactionalIds) {
      impl.run(
          id,
          [&](TransactionShard& shard) {
            response.transactionStates.push_back(shard.describe(id));
            return Effects();
          },
          [&](ErrorCode code) {
            auto& described = response.transactionStates.emplace_back();
            described.transactionalId = id;
            described.errorCode = static_cast<int16_t>(code);
          });
    }
    reply(std::move(response));
  });
}

void TransactionCoordinator::list(const ListTransactionsRequest& request, Reply<ListTransactionsResponse> reply) {
  impl_->post([request, reply = std::move(reply)](Impl& impl) mutable {
    ListTransactionsResponse response;
    const auto refuse = [&](ErrorCode code) {
      response.errorCode = static_cast<int16_t>(code);
      reply(std::move(response));
    };
    if (impl.runtime->isLoading()) return refuse(ErrorCode::CoordinatorLoadInProgress);
    TransactionShard::Filter filter;
    filter.byState = !request.stateFilters.empty();
    for (const protocol::Text& name : request.stateFilters) {
      if (const auto state = transactionStateOf(name)) {
        filter.states.insert(*state);
      } else {
        response.unknownStateFilters.push_back(name);
      }
    }
    filter.producerIds.insert(request.producerIdFilters.begin(), request.producerIdFilters.end());
    filter.longerThanMs = request.durationFilter;
    if (request.transactionalIdPattern && !request.transactionalIdPattern->empty()) {
      // In Kafka's own dialect, and in time that is linear in the id.
      const auto pattern = std::make_shared<const re2::RE2>(request.transactionalIdPattern->str(), re2::RE2::Quiet);
      if (!pattern->ok()) return refuse(ErrorCode::InvalidRegularExpression);
      filter.id = [pattern](std::string_view id) {
        return re2::RE2::FullMatch(re2::StringPiece(id.data(), id.size()), *pattern);
      };
    }
    impl.runtime->forEach([&](PartitionIndex, Shard& shard) {
      static_cast<TransactionShard&>(shard).list(filter, response.transactionStates);
    });
    reply(std::move(response));
  });
}

void TransactionCoordinator::snapshot(Reply<std::vector<TransactionSnapshot>> reply) {
  impl_->post([reply = std::move(reply)](Impl& impl) mutable { reply(impl.snapshot()); });
}

std::vector<TransactionSnapshot> TransactionCoordinator::snapshotNow() const {
  return impl_->snapshot();
}

}  // namespace tidemark::coordinator
