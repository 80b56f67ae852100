#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "base/ids.h"
#include "base/result.h"
#include "broker/controller_channel.h"

namespace tidemark::broker {

/// Hands out producer ids from blocks that the controller allocates (KIP-730); asks for the next block when one runs
/// low. Lives on its serial executor; next() may be called on any thread, answers come on the executor.
class ProducerIds {
 public:
  using Answer = std::move_only_function<void(Result<ProducerId>)>;

  ProducerIds(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
              NodeId self, std::function<BrokerEpoch()> brokerEpoch);
  ~ProducerIds();

  /// CoordinatorLoadInProgress if the controller gave none: the producer asks again.
  void next(Answer answer);
  void wake();
  void close();

 private:
  void serve();
  void allocate();

  const std::shared_ptr<platform::Executor> executor_;
  const NodeId self_;
  const std::function<BrokerEpoch()> brokerEpoch_;
  // Of the executor.
  ControllerChannel channel_;
  int64_t nextId_ = 0;
  int64_t endId_ = 0;
  bool underWay_ = false;
  std::deque<Answer> waiting_;
};

}  // namespace tidemark::broker
