#include "broker/share/share_persister.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

namespace tidemark::broker {
namespace {

using coordinator::Reply;
using coordinator::ShareKey;
using coordinator::ShareStateAnswer;
using coordinator::ShareStateCoordinator;
using coordinator::ShareStateInitialization;
using coordinator::ShareStateRead;
using coordinator::ShareStateReading;
using coordinator::ShareStateSummary;
using coordinator::ShareStateWrite;

/// A coordinator that moves or loads is asked so many times, with growing pauses: about eight seconds in all.
constexpr int kMostAttempts = 12;
constexpr platform::Duration kFirstPause = std::chrono::milliseconds(50);
constexpr platform::Duration kLongestPause = std::chrono::seconds(1);

bool isWorthAnotherTry(ErrorCode code) {
  switch (code) {
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::CoordinatorLoadInProgress:
    case ErrorCode::NotCoordinator:
    case ErrorCode::NetworkException:
    case ErrorCode::RequestTimedOut:
    case ErrorCode::BrokerNotAvailable:
      return true;
    default:
      return false;
  }
}

// Each operation: its request, how it is written into one and read out of the answer, who serves it here.

struct InitializeOperation {
  using What = ShareStateInitialization;
  using Answer = ShareStateAnswer;
  using Request = protocol::InitializeShareGroupStateRequest;
  static constexpr auto kServe = &ShareStateCoordinator::initialize;
  static const ShareKey& keyOf(const What& what) { return what.key; }
  template <class Partition>
  static void fill(const What& what, Partition& into) {
    into.stateEpoch = what.stateEpoch;
    into.startOffset = what.startOffset.value();
  }
  template <class Result>
  static void take(const Result&, Answer&) {}
};

struct ReadOperation {
  using What = ShareStateReading;
  using Answer = ShareStateRead;
  using Request = protocol::ReadShareGroupStateRequest;
  static constexpr auto kServe = &ShareStateCoordinator::read;
  static const ShareKey& keyOf(const What& what) { return what.key; }
  template <class Partition>
  static void fill(const What& what, Partition& into) {
    into.leaderEpoch = what.leaderEpoch.value();
  }
  template <class Result>
  static void take(const Result& result, Answer& answer) {
    answer.stateEpoch = result.stateEpoch;
    answer.startOffset = Offset(result.startOffset);
    for (const auto& batch : result.stateBatches)
      answer.batches.push_back({Offset(batch.firstOffset), Offset(batch.lastOffset),
                                static_cast<coordinator::DeliveryState>(batch.deliveryState), batch.deliveryCount});
  }
};

struct WriteOperation {
  using What = ShareStateWrite;
  using Answer = ShareStateAnswer;
  using Request = protocol::WriteShareGroupStateRequest;
  static constexpr auto kServe = &ShareStateCoordinator::write;
  static const ShareKey& keyOf(const What& what) { return what.key; }
  template <class Partition>
  static void fill(const What& what, Partition& into) {
    into.stateEpoch = what.stateEpoch;
    into.leaderEpoch = what.leaderEpoch.value();
    into.startOffset = what.startOffset.value();
    into.deliveryCompleteCount = what.deliveryCompleteCount;
    for (const coordinator::StateBatch& batch : what.batches)
      into.stateBatches.push_back({.firstOffset = batch.first.value(),
                                   .lastOffset = batch.last.value(),
                                   .deliveryState = static_cast<int8_t>(batch.state),
                                   .deliveryCount = batch.deliveryCount});
  }
  template <class Result>
  static void take(const Result&, Answer&) {}
};

struct RemoveOperation {
  using What = ShareKey;
  using Answer = ShareStateAnswer;
  using Request = protocol::DeleteShareGroupStateRequest;
  static constexpr auto kServe = &ShareStateCoordinator::remove;
  // Of what the caller holds, as in the others. NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter)
  static const ShareKey& keyOf(const What& what) { return what; }
  template <class Partition>
  static void fill(const What&, Partition&) {}
  template <class Result>
  static void take(const Result&, Answer&) {}
};

struct SummarizeOperation {
  using What = ShareStateReading;
  using Answer = ShareStateSummary;
  using Request = protocol::ReadShareGroupStateSummaryRequest;
  static constexpr auto kServe = &ShareStateCoordinator::summarize;
  static const ShareKey& keyOf(const What& what) { return what.key; }
  template <class Partition>
  static void fill(const What& what, Partition& into) {
    into.leaderEpoch = what.leaderEpoch.value();
  }
  template <class Result>
  static void take(const Result& result, Answer& answer) {
    answer.stateEpoch = result.stateEpoch;
    answer.leaderEpoch = LeaderEpoch(result.leaderEpoch);
    answer.startOffset = Offset(result.startOffset);
    answer.deliveryCompleteCount = result.deliveryCompleteCount;
  }
};

template <class Operation>
struct Waiting {
  typename Operation::What what;
  Reply<typename Operation::Answer> reply;
  int attempts = 0;
};

}  // namespace

/// Nothing that it waits for keeps it: a broker that dies lets go of it in the middle of anything.
struct SharePersister::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(Dependencies given)
      : dependencies(std::move(given)),
        channels(*dependencies.process, dependencies.executor, dependencies.image, dependencies.listener,
                 fmt::format("broker-{}-share-persister", dependencies.self)) {}

  template <class Operation>
  using Ready = std::vector<Waiting<Operation>>;

  template <class Operation>
  void add(typename Operation::What what, Reply<typename Operation::Answer> reply) {
    dependencies.executor->post([weak = weak_from_this(), what = std::move(what), reply = std::move(reply)]() mutable {
      if (const auto self = weak.lock()) self->template enqueue<Operation>({std::move(what), std::move(reply)});
    });
  }

  template <class Operation>
  void enqueue(Waiting<Operation> waiting) {
    auto& gathered = std::get<Ready<Operation>>(ready);
    gathered.push_back(std::move(waiting));
    // Behind what has been posted already: that goes along.
    if (gathered.size() != 1) return;
    dependencies.executor->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->template flush<Operation>();
    });
  }

  NodeId coordinatorOf(const ShareKey& key) const {
    const std::optional<PartitionIndex> partition = dependencies.local->partitionFor(key);
    if (!partition) {
      dependencies.createTopic();
      return kNoNode;
    }
    const metadata::ImagePtr image = dependencies.image();
    const metadata::PartitionRegistration* registration = image->topics.partition(kShareStateTopic, *partition);
    return registration != nullptr ? registration->leader : kNoNode;
  }

  template <class Operation>
  void flush() {
    if (closed) return;
    std::map<std::pair<NodeId, std::string>, Ready<Operation>> bundles;
    for (Waiting<Operation>& waiting : std::exchange(std::get<Ready<Operation>>(ready), {})) {
      const ShareKey& key = Operation::keyOf(waiting.what);
      const NodeId node = coordinatorOf(key);
      if (node == kNoNode) {
        again(std::move(waiting), {ErrorCode::CoordinatorNotAvailable, "there is no share coordinator"});
      } else {
        bundles[{node, key.groupId}].push_back(std::move(waiting));
      }
    }
    for (auto& [to, bundle] : bundles) send(to.first, to.second, std::move(bundle));
  }

  template <class Operation>
  void send(NodeId node, const std::string& group, Ready<Operation> bundle) {
    using Response = typename Operation::Request::Response;
    typename Operation::Request request;
    request.groupId = group;
    for (const Waiting<Operation>& waiting : bundle) {
      const ShareKey& key = Operation::keyOf(waiting.what);
      auto& topic = request.topics.emplace_back();
      topic.topicId = key.topicId;
      auto& partition = topic.partitions.emplace_back();
      partition.partition = key.partition.value();
      Operation::fill(waiting.what, partition);
    }
    auto done = [weak = weak_from_this(), bundle = std::move(bundle)](Result<Response> response) mutable {
      if (const auto self = weak.lock()) self->answered(std::move(bundle), std::move(response));
    };
    if (node != dependencies.self) {
      channels.send(node, std::move(request), std::move(done));
      return;
    }
    (dependencies.local->*Operation::kServe)(request, [executor = dependencies.executor,
                                                       done = std::move(done)](Response response) mutable {
      executor->post([done = std::move(done), response = std::move(response)]() mutable { done(std::move(response)); });
    });
  }

  template <class Operation, class Response>
  void answered(Ready<Operation> bundle, Result<Response> response) {
    if (closed) return;
    for (Waiting<Operation>& waiting : bundle) {
      const ShareKey key = Operation::keyOf(waiting.what);
      if (!response) {
        again(std::move(waiting), {response.error().code, response.error().message});
        continue;
      }
      typename Operation::Answer answer;
      answer.error = ErrorCode::UnknownServerError;
      answer.message = "the share coordinator did not answer for the partition";
      for (const auto& topic : response->results) {
        if (topic.topicId != key.topicId) continue;
        for (const auto& partition : topic.partitions) {
          if (partition.partition != key.partition.value()) continue;
          answer.error = static_cast<ErrorCode>(partition.errorCode);
          answer.message = partition.errorMessage ? partition.errorMessage->str() : std::string();
          if (answer.error == ErrorCode::None) Operation::take(partition, answer);
        }
      }
      if (isWorthAnotherTry(answer.error)) {
        again(std::move(waiting), answer);
      } else {
        waiting.reply(std::move(answer));
      }
    }
  }

  template <class Operation>
  void again(Waiting<Operation> waiting, const ShareStateAnswer& why) {
    if (++waiting.attempts >= kMostAttempts) {
      typename Operation::Answer answer;
      // Whoever waits looks for the coordinator again.
      answer.error = ErrorCode::CoordinatorNotAvailable;
      answer.message = why.message;
      waiting.reply(std::move(answer));
      return;
    }
    const platform::Duration pause =
        std::min<platform::Duration>(kLongestPause, kFirstPause * (int64_t{1} << (waiting.attempts - 1)));
    const uint64_t number = ++lastTimer;
    timers.emplace(number, dependencies.executor->schedule(
                               pause, [weak = weak_from_this(), number,
                                       waiting = std::make_shared<Waiting<Operation>>(std::move(waiting))] {
                                 const auto self = weak.lock();
                                 if (!self) return;
                                 const auto own = self->timers.extract(number);
                                 if (!self->closed) self->enqueue(std::move(*waiting));
                               }));
  }

  const Dependencies dependencies;
  BrokerChannels channels;
  std::tuple<Ready<InitializeOperation>, Ready<ReadOperation>, Ready<WriteOperation>, Ready<RemoveOperation>,
             Ready<SummarizeOperation>>
      ready;
  std::map<uint64_t, platform::Timer> timers;
  uint64_t lastTimer = 0;
  bool closed = false;
};

SharePersister::SharePersister(Dependencies dependencies) : impl_(std::make_shared<Impl>(std::move(dependencies))) {}

SharePersister::~SharePersister() = default;

void SharePersister::initialize(ShareStateInitialization what, Reply<ShareStateAnswer> reply) {
  impl_->add<InitializeOperation>(std::move(what), std::move(reply));
}

void SharePersister::read(ShareStateReading what, Reply<ShareStateRead> reply) {
  impl_->add<ReadOperation>(std::move(what), std::move(reply));
}

void SharePersister::write(ShareStateWrite what, Reply<ShareStateAnswer> reply) {
  impl_->add<WriteOperation>(std::move(what), std::move(reply));
}

void SharePersister::remove(ShareKey key, Reply<ShareStateAnswer> reply) {
  impl_->add<RemoveOperation>(std::move(key), std::move(reply));
}

void SharePersister::summarize(ShareStateReading what, Reply<ShareStateSummary> reply) {
  impl_->add<SummarizeOperation>(std::move(what), std::move(reply));
}

void SharePersister::close() {
  impl_->dependencies.executor->post([impl = impl_] {
    impl->closed = true;
    impl->channels.close();
    impl->timers.clear();
    impl->ready = {};
  });
}

}  // namespace tidemark::broker
