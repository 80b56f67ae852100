#include "replication/fetch_session_client.h"

namespace tidemark::replication {

FetchSessionClient::Plan FetchSessionClient::next(const std::vector<FetchItem>& wanted) {
  Plan plan{.sessionId = id_, .sessionEpoch = epoch_, .items = {}, .forgotten = {}};
  if (epoch_ == 0) {
    told_.clear();
    plan.items = wanted;
    for (const FetchItem& item : wanted) told_[{item.key.topicId, item.key.partition}] = item;
    return plan;
  }
  std::map<Key, FetchItem> before = std::exchange(told_, {});
  for (const FetchItem& item : wanted) {
    const Key key{item.key.topicId, item.key.partition};
    const auto known = before.find(key);
    if (known == before.end() || !(known->second.ask == item.ask)) plan.items.push_back(item);
    if (known != before.end()) before.erase(known);
    told_[key] = item;
  }
  for (auto& [key, item] : before) plan.forgotten.push_back(std::move(item.key));
  return plan;
}

void FetchSessionClient::answered(ErrorCode error, int32_t sessionId) {
  if (error != ErrorCode::None) {
    // The leader does not know the session (then there is nothing to close) or is out of step with it.
    if (error == ErrorCode::FetchSessionIdNotFound) id_ = 0;
    epoch_ = 0;
    return;
  }
  if (sessionId == 0 || (epoch_ != 0 && sessionId != id_)) {
    id_ = 0;
    epoch_ = 0;
    return;
  }
  id_ = sessionId;
  epoch_ = epoch_ == INT32_MAX ? 1 : epoch_ + 1;
}

void FetchSessionClient::failed() {
  epoch_ = 0;
}

}  // namespace tidemark::replication
