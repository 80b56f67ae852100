#include "raft/control_records.h"

#include "protocol/generated/k_raft_version_record.h"
#include "protocol/generated/leader_change_message.h"
#include "protocol/generated/snapshot_footer_record.h"
#include "protocol/generated/snapshot_header_record.h"
#include "protocol/generated/voters_record.h"
#include "protocol/message.h"
#include "records/batch_builder.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::raft {
namespace {

using records::ControlType;

/// Most control records of one batch that we read.
constexpr int32_t kMaxControlRecords = 10000;

template <class Message>
Result<void> append(records::BatchBuilder& builder, ControlType type, const Message& message, int64_t nowMs) {
  TIDEMARK_ASSIGN(const ByteVector value, protocol::encode(message, 0));
  const ByteVector key = records::controlKey(type);
  builder.append(nowMs, ByteView(key), ByteView(value));
  return {};
}

protocol::VotersRecord toRecord(const VoterSet& voters) {
  protocol::VotersRecord record;
  for (const Voter& voter : voters.all()) {
    protocol::VotersRecord::Voter entry;
    entry.voterId = voter.key.id.value();
    entry.voterDirectoryId = voter.key.directoryId;
    for (const VoterEndpoint& endpoint : voter.endpoints)
      entry.endpoints.push_back({.name = endpoint.listener, .host = endpoint.host, .port = endpoint.port});
    entry.kRaftVersionFeature = {.minSupportedVersion = voter.minKRaftVersion,
                                 .maxSupportedVersion = voter.maxKRaftVersion};
    record.voters.push_back(std::move(entry));
  }
  return record;
}

Result<VoterSet> fromRecord(const protocol::VotersRecord& record) {
  if (record.voters.empty() || record.voters.size() > kMaxVoters)
    return fail(ErrorCode::CorruptMessage, fmt::format("a record of {} voters", record.voters.size()));
  std::vector<Voter> voters;
  for (const auto& entry : record.voters) {
    Voter voter{{NodeId(entry.voterId), entry.voterDirectoryId},
                {},
                entry.kRaftVersionFeature.minSupportedVersion,
                entry.kRaftVersionFeature.maxSupportedVersion};
    for (const auto& endpoint : entry.endpoints)
      voter.endpoints.push_back({endpoint.name.str(), endpoint.host.str(), endpoint.port});
    voters.push_back(std::move(voter));
  }
  return VoterSet(std::move(voters));
}

}  // namespace

Result<ByteVector> buildLeaderChangeBatch(NodeId leader, const BeginLeaderEpoch& begin, const VoterSet* voters,
                                          int64_t nowMs) {
  records::BatchBuilder builder({.leaderEpoch = begin.epoch, .control = true});
  protocol::LeaderChangeMessage change;
  change.leaderId = leader.value();
  for (const ReplicaKey& voter : begin.voters) change.voters.push_back({.voterId = voter.id.value()});
  for (const ReplicaKey& voter : begin.grantingVoters) change.grantingVoters.push_back({.voterId = voter.id.value()});
  TIDEMARK_TRY(append(builder, ControlType::LeaderChange, change, nowMs));
  if (voters != nullptr) {
    TIDEMARK_TRY(append(builder, ControlType::KRaftVersion, protocol::KRaftVersionRecord{.kRaftVersion = 1}, nowMs));
    TIDEMARK_TRY(append(builder, ControlType::KRaftVoters, toRecord(*voters), nowMs));
  }
  return builder.build();
}

Result<ByteVector> buildSnapshotHeaderBatch(const SnapshotHeader& header, LeaderEpoch epoch, int64_t nowMs) {
  records::BatchBuilder builder({.leaderEpoch = epoch, .control = true});
  const protocol::SnapshotHeaderRecord first{.lastContainedLogTimestamp = header.lastContainedLogTimestampMs};
  TIDEMARK_TRY(append(builder, ControlType::SnapshotHeader, first, nowMs));
  if (header.kraftVersion > 0) {
    const protocol::KRaftVersionRecord version{.kRaftVersion = header.kraftVersion};
    TIDEMARK_TRY(append(builder, ControlType::KRaftVersion, version, nowMs));
    if (header.voters) TIDEMARK_TRY(append(builder, ControlType::KRaftVoters, toRecord(*header.voters), nowMs));
  }
  return builder.build();
}

Result<ByteVector> buildSnapshotFooterBatch(Offset offset, LeaderEpoch epoch, int64_t nowMs) {
  records::BatchBuilder builder({.baseOffset = offset, .leaderEpoch = epoch, .control = true});
  TIDEMARK_TRY(append(builder, ControlType::SnapshotFooter, protocol::SnapshotFooterRecord{}, nowMs));
  return builder.build();
}

Result<ControlContents> readControlBatch(ByteView bytes) {
  ControlContents contents;
  const records::BatchView batch{records::BatchHeader::read(bytes.data()), bytes};
  if (batch.header.recordCount > kMaxControlRecords)
    return fail(ErrorCode::CorruptMessage, "a control batch with too many records");
  std::optional<Error> bad;
  auto keep = [&](auto&& result, auto&& use) {
    if (result)
      use(*result);
    else if (!bad)
      bad = std::forward<decltype(result)>(result).error();
  };
  TIDEMARK_TRY(records::forEachRecord(batch, [&](const records::RecordView& record) {
    const ByteView value = record.value.value_or(ByteView());
    switch (records::controlType(record)) {
      case ControlType::SnapshotHeader:
        keep(protocol::decode<protocol::SnapshotHeaderRecord>(value, 0),
             [&](const auto& header) { contents.snapshotHeaderTimestampMs = header.lastContainedLogTimestamp; });
        break;
      case ControlType::SnapshotFooter:
        contents.snapshotFooter = true;
        break;
      case ControlType::KRaftVersion:
        keep(protocol::decode<protocol::KRaftVersionRecord>(value, 0),
             [&](const auto& version) { contents.versions.push_back({record.offset, version.kRaftVersion}); });
        break;
      case ControlType::KRaftVoters:
        keep(protocol::decode<protocol::VotersRecord>(value, 0), [&](const auto& voters) {
          keep(fromRecord(voters), [&](VoterSet& set) { contents.voters.push_back({record.offset, std::move(set)}); });
        });
        break;
      default:
        break;
    }
  }));
  if (bad) return fail(std::move(*bad));
  return contents;
}

void VoterHistory::reset(OffsetAndEpoch snapshot, const SnapshotHeader& header) {
  voters_.clear();
  versions_.clear();
  versions_[snapshot.offset - 1] = header.kraftVersion;
  if (header.voters) voters_[snapshot.offset - 1] = *header.voters;
}

Result<bool> VoterHistory::add(ByteView batches) {
  bool changed = false;
  records::BatchCursor cursor(batches);
  records::Step step = records::Step::Next;
  while ((step = cursor.next()) == records::Step::Next) {
    if (!cursor.batch().header.isControl()) continue;
    TIDEMARK_ASSIGN(ControlContents contents, readControlBatch(cursor.batch().bytes));
    for (const auto& entry : contents.versions) versions_[entry.offset] = entry.version;
    for (auto& entry : contents.voters) voters_[entry.offset] = std::move(entry.voters);
    changed = changed || !contents.versions.empty() || !contents.voters.empty();
  }
  if (step == records::Step::Corrupt) return fail(ErrorCode::CorruptMessage, "a batch of the metadata log is damaged");
  return changed;
}

void VoterHistory::truncateFrom(Offset offset) {
  voters_.erase(voters_.lower_bound(offset), voters_.end());
  versions_.erase(versions_.lower_bound(offset), versions_.end());
}

void VoterHistory::forgetBelow(Offset offset) {
  auto trim = [offset](auto& entries) {
    auto keep = entries.upper_bound(offset);
    if (keep == entries.begin()) return;
    entries.erase(entries.begin(), --keep);
  };
  trim(voters_);
  trim(versions_);
}

const VoterSet& VoterHistory::voters() const {
  return voters_.empty() ? staticVoters_ : voters_.rbegin()->second;
}

int16_t VoterHistory::kraftVersion() const {
  return versions_.empty() ? int16_t{0} : versions_.rbegin()->second;
}

VoterSet VoterHistory::votersAt(Offset offset) const {
  const auto after = voters_.lower_bound(offset);
  return after == voters_.begin() ? staticVoters_ : std::prev(after)->second;
}

int16_t VoterHistory::kraftVersionAt(Offset offset) const {
  const auto after = versions_.lower_bound(offset);
  return after == versions_.begin() ? int16_t{0} : std::prev(after)->second;
}

}  // namespace tidemark::raft
