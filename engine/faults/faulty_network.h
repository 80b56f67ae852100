#pragma once

#include <memory>

#include "faults/fault_book.h"
#include "platform/process.h"

namespace tidemark::faults {

/// Sockets whose links may be cut, slow, held or reset. What a node opens to another node is faulted at its side, both
/// directions; what it accepts from a client at the accepting side, once the first header was read: it says who the
/// client is.
///
/// A cut link loses nothing, as TCP repeats: what was sent arrives after it is healed, unless somebody gave up. A
/// sender may have 256 KiB under way; then its writes wait.
class FaultyNetwork final : public platform::Network {
 public:
  FaultyNetwork(platform::Process& below, std::shared_ptr<FaultBook> book, std::shared_ptr<const Site> site)
      : below_(below), book_(std::move(book)), site_(std::move(site)) {}

  Result<std::unique_ptr<platform::Acceptor>> listen(platform::Executor& owner, const platform::Endpoint& at,
                                                     const platform::ListenOptions& options) override;
  void connect(platform::Executor& owner, const platform::Endpoint& to, platform::Duration timeout,
               ConnectHandler handler) override;

 private:
  platform::Process& below_;
  const std::shared_ptr<FaultBook> book_;
  const std::shared_ptr<const Site> site_;
};

}  // namespace tidemark::faults
