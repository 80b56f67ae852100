#include "replication/fetch_session.h"

#include <algorithm>

namespace tidemark::replication {
namespace {

constexpr int32_t kNoSession = 0;
constexpr int32_t kInitialEpoch = 0;
constexpr int32_t kFinalEpoch = -1;
/// min.incremental.fetch.session.eviction.ms
constexpr platform::Duration kEvictable = std::chrono::minutes(2);

}  // namespace

size_t FetchSessionCache::KeyHash::operator()(const FetchKey& key) const noexcept {
  const size_t topic = key.topicId.isZero() ? std::hash<std::string>{}(key.topic) : std::hash<Uuid>{}(key.topicId);
  return topic * 31 + static_cast<size_t>(key.partition.value());
}

bool FetchSessionCache::KeyEqual::operator()(const FetchKey& a, const FetchKey& b) const noexcept {
  return a.partition == b.partition && a.topicId == b.topicId && (!a.topicId.isZero() || a.topic == b.topic);
}

Result<FetchContext> FetchSessionCache::begin(Request request, platform::MonotonicTime now) {
  FetchContext context;
  context.cache_ = this;
  Lock lock(mutex_);
  if (request.sessionEpoch == kFinalEpoch || request.sessionEpoch == kInitialEpoch) {
    if (request.sessionId != kNoSession) sessions_.erase(request.sessionId);
    if (request.sessionEpoch == kInitialEpoch && !request.items.empty()) context.sessionId_ = create(request, now);
    context.items_ = std::move(request.items);
    return context;
  }
  const auto found = sessions_.find(request.sessionId);
  if (found == sessions_.end())
    return fail(ErrorCode::FetchSessionIdNotFound, "no fetch session " + std::to_string(request.sessionId));
  Session& session = *found->second;
  if (session.nextEpoch != request.sessionEpoch)
    return fail(ErrorCode::InvalidFetchSessionEpoch, "fetch session " + std::to_string(session.id) + " expects epoch " +
                                                         std::to_string(session.nextEpoch) + ", not " +
                                                         std::to_string(request.sessionEpoch));
  if (session.usesTopicIds != request.usesTopicIds)
    return fail(ErrorCode::FetchSessionTopicIdError, "a fetch session keeps to topic ids or to topic names");
  session.nextEpoch = session.nextEpoch == INT32_MAX ? 1 : session.nextEpoch + 1;
  session.lastUsed = now;
  update(session, request);
  context.incremental_ = true;
  if (session.partitions.empty()) {
    // A session without partitions is over; its id is not told again.
    sessions_.erase(found);
    return context;
  }
  context.sessionId_ = session.id;
  context.namesNothing_ = request.items.empty() && request.forgotten.empty();
  context.items_.reserve(session.partitions.size());
  for (const Cached& cached : session.partitions) context.items_.push_back(cached.item);
  return context;
}

void FetchSessionCache::update(Session& session, const Request& request) {
  for (const FetchKey& key : request.forgotten) {
    const auto known = session.places.find(key);
    if (known == session.places.end()) continue;
    session.partitions.erase(known->second);
    session.places.erase(known);
  }
  for (const FetchItem& item : request.items) {
    const auto [known, isNew] = session.places.try_emplace(item.key);
    if (isNew) {
      known->second = session.partitions.insert(
          session.partitions.end(), Cached{.item = item, .toldHighWatermark = {}, .toldLogStartOffset = {}});
    } else {
      known->second->item.ask = item.ask;
      if (!item.key.topic.empty()) known->second->item.key.topic = item.key.topic;
    }
  }
}

bool FetchSessionCache::makeRoom(bool privileged, platform::MonotonicTime now) {
  if (sessions_.size() < slots_) return true;
  auto victim = sessions_.end();
  for (auto candidate = sessions_.begin(); candidate != sessions_.end(); ++candidate) {
    const Session& session = *candidate->second;
    const bool evictable = now - session.lastUsed > kEvictable || (privileged && !session.privileged);
    if (evictable && (victim == sessions_.end() || session.lastUsed < victim->second->lastUsed)) victim = candidate;
  }
  if (victim == sessions_.end()) return false;
  sessions_.erase(victim);
  return true;
}

int32_t FetchSessionCache::create(const Request& request, platform::MonotonicTime now) {
  if (!makeRoom(request.fromFollower, now)) return kNoSession;
  int32_t id = 0;
  do {
    id = static_cast<int32_t>(1 + random_.below(INT32_MAX - 1));
  } while (sessions_.contains(id));
  auto session = std::make_unique<Session>();
  session->id = id;
  session->privileged = request.fromFollower;
  session->usesTopicIds = request.usesTopicIds;
  session->lastUsed = now;
  update(*session, request);
  sessions_.emplace(id, std::move(session));
  return id;
}

size_t FetchSessionCache::size() const {
  Lock lock(mutex_);
  return sessions_.size();
}

std::vector<bool> FetchContext::select(const std::vector<FetchFacts>& facts) {
  std::vector<bool> carried(items_.size(), true);
  if (sessionId_ == kNoSession) return carried;
  Lock lock(cache_->mutex_);
  const auto found = cache_->sessions_.find(sessionId_);
  if (found == cache_->sessions_.end()) return carried;
  FetchSessionCache::Session& session = *found->second;
  std::list<FetchSessionCache::Cached> served;
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto known = session.places.find(items_[i].key);
    // A later request forgot it.
    if (known == session.places.end()) continue;
    const auto match = known->second;
    const FetchFacts& fact = facts[i];
    const bool failed = fact.error != ErrorCode::None;
    carried[i] = !incremental_ || fact.hasRecords || failed || fact.hasDivergingEpoch || fact.hasPreferredReplica ||
                 match->toldHighWatermark != fact.highWatermark || match->toldLogStartOffset != fact.logStartOffset;
    match->toldHighWatermark = failed ? kNoOffset : fact.highWatermark;
    match->toldLogStartOffset = failed ? kNoOffset : fact.logStartOffset;
    // Those that got data go to the end, so that a small max.bytes does not starve the others.
    if (fact.hasRecords) served.splice(served.end(), session.partitions, match);
  }
  session.partitions.splice(session.partitions.end(), served);
  return carried;
}

}  // namespace tidemark::replication
