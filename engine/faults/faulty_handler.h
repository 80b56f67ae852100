#pragma once

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "faults/fault_book.h"
#include "faults/named.h"
#include "network/request.h"
#include "platform/process.h"

namespace tidemark::faults {

/// Between a broker's listeners and whoever handles their requests: some are refused, come late, get lost or end their
/// connection. Any thread. As with any RequestHandler, destroyed only when no request comes any more.
class FaultyHandler final : public network::RequestHandler {
 public:
  FaultyHandler(network::RequestHandler& below, platform::Process& process, std::shared_ptr<FaultBook> book,
                NodeId node, TopicName topicName);
  ~FaultyHandler() override;

  void handle(network::RequestPtr request) override {
    if (site_->any(kRequestFaults)) [[unlikely]]
      return judge(std::move(request));
    below_.handle(std::move(request));
  }
  bool isQuick(protocol::ApiKey key) const override { return below_.isQuick(key); }

 private:
  class Waiting;
  void judge(network::RequestPtr request);
  Waiting& waiting() EXCLUDES(mutex_);

  network::RequestHandler& below_;
  platform::Process& process_;
  const std::shared_ptr<FaultBook> book_;
  const std::shared_ptr<const Site> site_;
  const TopicName topicName_;
  Mutex mutex_;
  /// Made when first something has to wait.
  std::shared_ptr<Waiting> waiting_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::faults
