#include "network/pending_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark::network {

std::deque<PendingRequest> PendingRequests::takeAll() {
  std::deque<PendingRequest> all = std::exchange(sent, {});
  for (auto* queue : {&unanswered, &waiting}) {
    std::move(queue->begin(), queue->end(), std::back_inserter(all));
    queue->clear();
  }
  return all;
}

PendingRequests::Expired PendingRequests::takeExpired(platform::MonotonicTime now) {
  Expired expired;
  const auto takeFrom = [&](std::deque<PendingRequest>& from) {
    std::deque<PendingRequest> left;
    for (PendingRequest& pending : from) {
      const bool isLate = pending.deadline <= now;
      if (!isLate) expired.next = std::min(expired.next.value_or(pending.deadline), pending.deadline);
      (isLate ? expired.requests : left).push_back(std::move(pending));
    }
    from.swap(left);
  };
  takeFrom(sent);
  takeFrom(unanswered);
  expired.onConnection = !expired.requests.empty();
  takeFrom(waiting);
  return expired;
}

}  // namespace tidemark::network
