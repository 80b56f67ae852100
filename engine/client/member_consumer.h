#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"

namespace tidemark::client {

/// What consumers that share topics with the other members of their group have in common, whichever protocol their
/// group speaks. Executor as the Client's.
class MemberConsumer {
 public:
  using Done = Client::Done;
  /// What it owns from now on, told before the first record of it, and in which generation or member epoch.
  using AssignmentHandler = std::function<void(int32_t epoch, const std::vector<TopicPartition>&)>;
  /// Only errors that do not pass.
  using ErrorHandler = std::function<void(const Error&)>;

  MemberConsumer(const MemberConsumer&) = delete;
  MemberConsumer& operator=(const MemberConsumer&) = delete;

  /// Commits the positions behind the records that were given so far.
  void commit(Done done);
  /// Leaves and reads no more.
  void leave(platform::Task done);

  std::string memberId() const;
  /// In order.
  std::vector<TopicPartition> assignment() const;

 protected:
  class Core;

  explicit MemberConsumer(std::shared_ptr<Core> core);
  ~MemberConsumer();

  /// The generation or the member epoch.
  int32_t epoch() const noexcept;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
