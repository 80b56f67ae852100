#include <algorithm>

#include <fmt/format.h>

#include "inspect/batch_reader.h"
#include "inspect/named_record.h"
#include "inspect/partition_check.h"
#include "raft/quorum_state_store.h"
#include "records/control.h"
#include "records/record.h"

// What only the metadata log has: records that every node must know, snapshots, the vote.

namespace tidemark::inspect {

using platform::OpenMode;

void PartitionCheck::checkMetadataRecords(const records::BatchView& batch, const std::string& path, uint64_t position) {
  if (batch.header.isControl()) return;
  // Framing is told by the segment's check.
  static_cast<void>(records::forEachRecord(batch, [&](const records::RecordView& record) {
    const NamedRecord named = nameRecord(RecordSchema::Metadata, record);
    if (named.problem.empty()) return;
    tell(FindingKind::BatchRecordsBad, Severity::Error, path,
         fmt::format("a metadata record that Kafka 4.4 knows at offset {}", record.offset), named.problem,
         "no node starts with it: take the node's metadata from the rest of the quorum", position);
  }));
}

Result<void> PartitionCheck::checkMetadataFiles() {
  for (const std::string& name : metadataSnapshots_) TIDEMARK_TRY(checkMetadataSnapshot(pathOf(name)));
  const std::string path = pathOf("quorum-state");
  if (!files_.exists(path)) return {};
  const auto bytes = read(path);
  if (!bytes) return {};
  if (const auto state = raft::decodeQuorumState(asText(*bytes)); !state)
    tell(FindingKind::CheckpointDamaged, Severity::Error, path,
         "a JSON object with leaderId, leaderEpoch, votedId and votedDirectoryId", state.error().message,
         "remove it only if this node votes in no other way: it is how it remembers its vote", 0,
         {bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(std::min(bytes->size(), Finding::kMaxBytes))});
  return {};
}

Result<void> PartitionCheck::checkMetadataSnapshot(const std::string& path) {
  TIDEMARK_ASSIGN(const auto file, files_.open(path, OpenMode::Read));
  TIDEMARK_ASSIGN(const uint64_t size, file->size());
  const char* advice = "remove it if there is a newer one; else take the node's metadata from the rest of the quorum";
  BatchReader reader(*file, 0, size);
  bool first = true;
  records::ControlType last = records::ControlType::Unknown;
  const auto control = [](const records::BatchView& batch, bool front) {
    auto type = records::ControlType::Unknown;
    if (!batch.header.isControl()) return type;
    records::RecordCursor cursor(batch.header, batch.payload());
    while (cursor.next() == records::Step::Next) {
      type = records::controlType(cursor.record());
      if (front) break;
    }
    return type;
  };
  while (true) {
    TIDEMARK_ASSIGN(const auto item, reader.next());
    if (item == BatchReader::Item::End) break;
    if (item != BatchReader::Item::Batch || !reader.crcValid()) {
      tell(item == BatchReader::Item::Batch ? FindingKind::BatchChecksumBad : FindingKind::LogTorn, Severity::Error,
           path, "batches to the end of the file",
           item == BatchReader::Item::Batch
               ? fmt::format("CRC 0x{:08x}, not 0x{:08x}", reader.batch().header.crc, reader.batch().computeCrc())
               : std::string(records::describe(reader.reason())),
           advice, reader.position());
      return {};
    }
    if (first && control(reader.batch(), true) != records::ControlType::SnapshotHeader)
      tell(FindingKind::BatchRecordsBad, Severity::Error, path, "a SnapshotHeader in front", "another record", advice,
           0);
    first = false;
    last = control(reader.batch(), false);
    checkMetadataRecords(reader.batch(), path, reader.position());
  }
  if (last != records::ControlType::SnapshotFooter && !path.ends_with("bootstrap.checkpoint"))
    tell(FindingKind::LogTorn, Severity::Error, path, "a SnapshotFooter at the end", "the end of the file", advice,
         size);
  return {};
}

}  // namespace tidemark::inspect
