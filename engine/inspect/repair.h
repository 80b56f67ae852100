#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/check.h"
#include "inspect/finding.h"
#include "platform/process.h"

namespace tidemark::inspect {

/// One thing that a repair does, or would do.
struct RepairStep {
  enum class Kind : uint8_t {
    CutLog,          ///< the log ends before what cannot be read; what is behind it goes
    RebuildIndexes,  ///< from the batches
    RebuildAborted,  ///< the transaction index, from the markers
    RemoveSnapshot,  ///< the producers' state comes from an older one and the batches
    RebuildEpochs,   ///< from the batches
    FinishChange,    ///< what an interrupted change left is completed or removed, as a broker does
    SetAside,        ///< the file or folder is moved to the copies
    CorrectCheckpoint,
    Impossible,  ///< nothing that a program should decide
  };
  Kind kind{};
  /// The file or folder it is about.
  std::string path;
  /// In words: "at byte 4711: 220 bytes and the 2 segments behind go, offsets from 188 on".
  std::string what;
};
/// "cut-log", …
std::string_view repairStepName(RepairStep::Kind kind) noexcept;

struct RepairOptions {
  /// False: only tell what would be done; nothing is touched.
  bool apply = false;
  /// For indexes that are built anew; nothing: Kafka's default.
  std::optional<int32_t> indexIntervalBytes;
  /// Told bytes that were read; false ends it (RequestTimedOut) while nothing was changed yet.
  std::function<bool(uint64_t bytes)> progress;
};

struct RepairSummary {
  int64_t steps = 0;
  int64_t impossible = 0;
  /// Folders with the copies of what was changed; one beside each log directory that needed a change.
  std::vector<std::string> copies;
  /// After applying: what verify() tells then.
  std::optional<VerifySummary> after;
};

/// Puts right what verify() finds in the log directories of one node: partitions by the engine's own recovery, which
/// cuts a log at its first bad batch and builds indexes, transaction indexes, leader epochs and producer state anew;
/// then the checkpoints. Before a file is changed it is copied to `DIRECTORY.before-repair-TIME/` (beside the log
/// directory: inside it no broker would start). `sink` gets every step before it is taken; a partition that cannot be
/// repaired after all (the disk fails, or has no room for its copy) gets one that is impossible, and the others are
/// gone on with. Refuses what is no broker's log directory (InvalidRequest: no readable meta.properties), and
/// (KafkaStorageError) if a broker runs on one of them; then nothing was touched. What it does not know it leaves. From
/// a checkpoint that cannot be read nothing is concluded: where log starts are lost, no partition is touched.
Result<RepairSummary> repair(platform::Process& process, const std::vector<std::string>& directories,
                             const RepairOptions& options, const std::function<void(const RepairStep&)>& sink);

}  // namespace tidemark::inspect
