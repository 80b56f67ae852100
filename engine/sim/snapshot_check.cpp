#include "sim/snapshot_check.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "log/file_names.h"
#include "log/producer_state.h"

namespace tidemark::sim {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;

/// The last batch of each producer that ends below an offset.
std::map<ProducerId, const log::BatchInfo*> lastBelow(const std::vector<log::BatchInfo>& batches, Offset offset) {
  std::map<ProducerId, const log::BatchInfo*> last;
  for (const log::BatchInfo& batch : batches) {
    if (batch.header.lastOffset() >= offset) break;
    if (batch.header.hasProducerId() && !batch.header.isControl()) last[batch.header.producerId] = &batch;
  }
  return last;
}

/// What is wrong with an entry; empty if nothing.
std::string wrongWith(const log::ProducerEntry& entry, Offset offset, const log::BatchInfo* last) {
  if (entry.transactionStart() >= offset)
    return fmt::format("has its transaction begin at offset {}", entry.transactionStart());
  if (!entry.hasBatches()) return {};
  const Offset told = entry.lastBatch().lastOffset;
  if (told >= offset) return fmt::format("has its last batch end at offset {}", told);
  if (last == nullptr || last->header.lastOffset() == told) return {};
  return fmt::format("has its last batch end at offset {}, in the log it ends at {}", told, last->header.lastOffset());
}

}  // namespace

void checkSnapshots(Judge& judge, NodeId broker, platform::FileSystem& files, const log::PartitionLog& log,
                    const std::vector<log::BatchInfo>& batches) {
  const auto folder = files.list(log.directory());
  if (!folder) return judge.breach("T9", folder.error().message);
  for (const platform::DirectoryEntry& each : *folder) {
    if (!each.name.ends_with(log::kSnapshotSuffix)) continue;
    const std::string path = fmt::format("{}/{}", log.directory(), each.name);
    const auto tell = [&](std::string_view what) {
      judge.breach("T9", fmt::format("broker {}: {} {}", broker, path, what));
    };
    const auto offset = log::offsetOfFileName(each.name, log::kSnapshotSuffix);
    const auto bytes = files.readFile(path, kMostBytes);
    const auto entries = bytes ? log::decodeProducerSnapshot(*bytes) : std::unexpected(bytes.error());
    if (!offset) {
      tell("is named by no offset");
      continue;
    }
    // A loss of power may leave half of one: whoever loads it finds out, and it holds no state.
    if (!entries) continue;
    if (*offset > log.logEndOffset()) tell(fmt::format("lies above the log end, {}", log.logEndOffset()));
    const auto last = lastBelow(batches, *offset);
    for (const log::ProducerEntry& entry : *entries) {
      const auto known = last.find(entry.id());
      const std::string wrong = wrongWith(entry, *offset, known == last.end() ? nullptr : known->second);
      if (!wrong.empty()) tell(fmt::format("says that producer {} {}", entry.id(), wrong));
    }
  }
}

}  // namespace tidemark::sim
