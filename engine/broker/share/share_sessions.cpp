#include "broker/share/share_sessions.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

namespace tidemark::broker {

Result<ShareSessions::Session*> ShareSessions::find(const Request& request) {
  const auto found = sessions_.find(request.member);
  if (found == sessions_.end())
    return fail(ErrorCode::ShareSessionNotFound,
                fmt::format("member {} has no share session", request.member.memberId));
  Session& session = found->second;
  if (request.epoch != kFinalEpoch && request.epoch != session.epoch)
    return fail(ErrorCode::InvalidShareSessionEpoch,
                fmt::format("share session epoch {} of member {} is not {}", request.epoch, request.member.memberId,
                            session.epoch));
  return &session;
}

Result<ShareSessions::Turn> ShareSessions::fetch(const Request& request) {
  if (request.epoch == kFirstEpoch) {
    if (request.acknowledges)
      return fail(ErrorCode::InvalidRequest,
                  std::string("nothing can be acknowledged in the first request of a share session"));
    const auto known = sessions_.find(request.member);
    if (known == sessions_.end() && sessions_.size() >= limit_)
      return fail(ErrorCode::ShareSessionLimitReached,
                  fmt::format("there are {} share sessions already", sessions_.size()));
    Session& session = sessions_[request.member];
    byConnection_.erase({session.connection, request.member});
    byConnection_.emplace(request.connection, request.member);
    session = {.epoch = 1, .partitions = {}, .connection = request.connection, .number = ++lastNumber_};
    for (const TopicIdPartition& partition : request.wanted)
      if (std::ranges::find(session.partitions, partition) == session.partitions.end())
        session.partitions.push_back(partition);
    return Turn{.partitions = session.partitions, .session = session.number, .isFinal = false, .isFirst = true};
  }
  TIDEMARK_ASSIGN(Session * session, find(request));
  if (request.epoch == kFinalEpoch) return Turn{.partitions = {}, .session = 0, .isFinal = true, .isFirst = false};
  for (const TopicIdPartition& partition : request.wanted)
    if (std::ranges::find(session->partitions, partition) == session->partitions.end())
      session->partitions.push_back(partition);
  for (const TopicIdPartition& partition : request.forgotten) std::erase(session->partitions, partition);
  if (!session->partitions.empty())
    std::rotate(session->partitions.begin(), session->partitions.begin() + 1, session->partitions.end());
  session->epoch = session->epoch == INT_MAX ? 1 : session->epoch + 1;
  return Turn{.partitions = session->partitions, .session = session->number, .isFinal = false, .isFirst = false};
}

Result<ShareSessions::Turn> ShareSessions::acknowledge(const Request& request) {
  if (request.epoch == kFirstEpoch)
    return fail(ErrorCode::InvalidShareSessionEpoch, std::string("a share session begins with a fetch"));
  TIDEMARK_ASSIGN(Session * session, find(request));
  if (request.epoch == kFinalEpoch) return Turn{.partitions = {}, .session = 0, .isFinal = true, .isFirst = false};
  session->epoch = session->epoch == INT_MAX ? 1 : session->epoch + 1;
  return Turn{};
}

bool ShareSessions::isCurrent(const ShareMember& member, uint64_t session) const {
  const auto found = sessions_.find(member);
  return found != sessions_.end() && found->second.number == session;
}

bool ShareSessions::hasGroup(const std::string& groupId) const {
  const auto first = sessions_.lower_bound({groupId, ""});
  return first != sessions_.end() && first->first.groupId == groupId;
}

std::vector<TopicIdPartition> ShareSessions::end(const ShareMember& member) {
  auto node = sessions_.extract(member);
  if (node.empty()) return {};
  byConnection_.erase({node.mapped().connection, member});
  return std::move(node.mapped().partitions);
}

std::vector<ShareMember> ShareSessions::membersOn(const std::string& connection) const {
  std::vector<ShareMember> members;
  for (auto at = byConnection_.lower_bound({connection, {}}); at != byConnection_.end() && at->first == connection;
       ++at)
    members.push_back(at->second);
  return members;
}

}  // namespace tidemark::broker
