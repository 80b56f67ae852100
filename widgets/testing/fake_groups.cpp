#include <algorithm>
#include <utility>

#include "testing/fake_cluster.h"

// What a window asks of groups and transactions, answered from the snapshot that is shown.

namespace tidemark::widgets::fake {

void FakeCluster::planOffsets(observe::OffsetResetRequest request, OffsetsPlanned done) {
  commands.push_back("plan " + request.group);
  auto planned = std::make_shared<std::vector<observe::OffsetEdit>>();
  answer(
      [planned, done = std::move(done)](Result<void> result) mutable {
        done(result ? Result<std::vector<observe::OffsetEdit>>(*planned) : fail(std::move(result).error()));
      },
      [this, planned, request = std::move(request)]() -> Result<void> {
        if (m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
        const auto& groups = m_snapshot->groups;
        const auto group = std::ranges::find(groups, request.group, &observe::GroupSnapshot::id);
        if (group == groups.end()) return fail(ErrorCode::GroupIdNotFound, "there is no such group");
        for (const observe::GroupPartitionSnapshot& one : group->partitions) {
          if (!request.partitions.empty() &&
              std::ranges::find(request.partitions, one.partition) == request.partitions.end())
            continue;
          using Kind = observe::OffsetResetRequest::Kind;
          const Offset end = one.highWatermark.value_or(Offset(0));
          const Offset wanted = request.kind == Kind::Earliest  ? Offset(0)
                                : request.kind == Kind::Offset  ? Offset(request.value)
                                : request.kind == Kind::ShiftBy ? one.committed.value_or(Offset(0)) + request.value
                                                                : end;
          const Offset to = std::clamp(wanted, Offset(0), end);
          planned->push_back({.partition = one.partition, .from = one.committed, .to = to, .clipped = to != wanted});
        }
        return {};
      });
}

void FakeCluster::editOffsets(std::string group, events::GroupKind, std::vector<observe::OffsetEdit> edits, Done done) {
  commands.push_back("offsets " + group);
  edited = std::move(edits);
  answer(std::move(done), [this]() -> Result<void> {
    if (m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
    return {};
  });
}

void FakeCluster::deleteGroup(std::string group, Done done) {
  commands.push_back("delete group " + group);
  answer(std::move(done), []() -> Result<void> { return {}; });
}

void FakeCluster::abortTransaction(std::string transactionalId, Done done) {
  commands.push_back("abort " + transactionalId);
  answer(std::move(done), []() -> Result<void> { return {}; });
}

}  // namespace tidemark::widgets::fake
