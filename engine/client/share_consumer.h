#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "records/record.h"

namespace tidemark::client {

/// What a member says of a record that it was given, with the numbers of the wire (KIP-932).
enum class AcknowledgeType : int8_t {
  Gap = 0,      ///< there is no record; said by the consumer itself
  Accept = 1,   ///< done
  Release = 2,  ///< somebody else shall try
  Reject = 3,   ///< nobody can
};

struct ShareOptions {
  std::string groupId;
  std::vector<std::string> topics;
  platform::Duration maxWait = std::chrono::milliseconds(500);
  int32_t minBytes = 1;
  int32_t maxBytes = 50 << 20;
  /// Of one answer; whole batches are given, so it may be more.
  int32_t maxRecords = 500;
};

/// Which record of which delivery: to be acknowledged until its lock runs out, at the leader that gave it and within
/// the share session in which it did.
struct Delivery {
  TopicPartition where;
  Offset offset;
  NodeId leader;
  /// One number for each session of this consumer.
  uint64_t session = 0;
  /// How often the record was delivered, this time included.
  int16_t count = 0;
  /// When the fetch that brought it left.
  platform::MonotonicTime asked;
};

/// Views are valid inside the handler.
struct AcquiredRecord {
  const Delivery& delivery;
  const records::RecordView& record;
};

/// What became of an acknowledgement. None: it counts, whatever happens to the leader. InvalidRecordState,
/// ShareSessionNotFound and the like: it does not. An error of the network: nobody knows.
struct Acknowledged {
  Delivery delivery;
  AcknowledgeType type;
  ErrorCode error = ErrorCode::None;
};

/// A member of a share group (KIP-932): its coordinator assigns by heartbeats; it fetches what it may from the leaders,
/// in share sessions, and says with the next fetch what became of it. A member that was fenced joins again; a session
/// that is gone begins anew, and what was held in it may be given to anybody. Executor as the Client's.
class ShareConsumer {
 public:
  using RecordHandler = std::function<void(const AcquiredRecord&)>;
  using AcknowledgeHandler = std::function<void(const Acknowledged&)>;
  /// A fetch was answered, or not: by whom, in which session, when it had left; told before its records are.
  struct Answer {
    NodeId leader;
    uint64_t session = 0;
    platform::MonotonicTime asked;
    ErrorCode error = ErrorCode::None;
  };
  using AnswerHandler = std::function<void(const Answer&)>;
  /// Records, the first to the last, that came for a partition which is not its own any more: nobody is given them,
  /// they are released at once. Each was delivered `count` times with this.
  struct PassedOn {
    const TopicPartition& where;
    Offset first;
    Offset last;
    int16_t count = 0;
  };
  using PassOnHandler = std::function<void(const PassedOn&)>;
  /// Only errors that do not pass.
  using ErrorHandler = std::function<void(const Error&)>;

  struct Handlers {
    RecordHandler onRecord;
    AcknowledgeHandler onAcknowledged = {};
    AnswerHandler onAnswer = {};
    PassOnHandler onPassedOn = {};
    ErrorHandler onError = {};
  };

  ShareConsumer(Client& client, ShareOptions options, Handlers handlers);
  ~ShareConsumer();
  ShareConsumer(const ShareConsumer&) = delete;
  ShareConsumer& operator=(const ShareConsumer&) = delete;

  /// Goes to the leader with the next fetch, or with commit(). The last word on a delivery counts, until it is sent.
  void acknowledge(const Delivery& delivery, AcknowledgeType type);
  /// Sends what was acknowledged without waiting for the next fetch to be due (ShareAcknowledge).
  void commit();
  /// Ends the sessions, with what was acknowledged, then leaves the group. What is held and not acknowledged goes to
  /// others.
  void leave(platform::Task done);

  /// Made by itself, for as long as it lives.
  std::string memberId() const;
  /// 0 while it joins.
  int32_t epoch() const noexcept;
  /// In order.
  std::vector<TopicPartition> assignment() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
