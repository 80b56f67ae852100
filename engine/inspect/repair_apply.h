#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "inspect/repair_copies.h"
#include "inspect/repair_plan.h"
#include "log/checkpoints.h"
#include "platform/process.h"

namespace tidemark::inspect {

/// Does what was planned for one log directory, which nobody else may use meanwhile. Whatever is changed is copied
/// before. For one repair, on its thread.
class DirectoryRepair {
 public:
  /// What turns out not to be possible, and why; the rest is gone on with.
  using Impossible = std::function<void(std::string path, std::string why)>;

  DirectoryRepair(platform::Process& process, const std::string& directory, std::optional<int32_t> indexIntervalBytes,
                  RepairCopies& copies, const Impossible& impossible)
      : process_(process),
        files_(process.files()),
        directory_(directory),
        indexIntervalBytes_(indexIntervalBytes),
        copies_(copies),
        impossible_(impossible) {}

  /// Fails if the checkpoints of the directory cannot be written: then nothing more should be touched.
  Result<void> apply(const DirectoryPlan& todo);

 private:
  void readCheckpoints();
  Result<void> applyFolder(const std::string& folder, const FolderPlan& plan);
  Result<void> copyBefore(const std::string& folder, const FolderPlan& plan);
  Result<void> removeIfThere(const std::string& path);
  Result<void> recover(const std::string& folder, const FolderPlan& plan);
  std::optional<Offset> checkpointedAt(std::string_view file, const TopicPartition& partition) const;
  void learnEnds(const std::string& path);
  std::optional<Offset> endOf(const TopicPartition& partition);
  std::optional<Offset> firstOf(const std::string& folder);
  void lowerLogStarts();
  Result<void> correctCheckpoints();

  platform::Process& process_;
  platform::FileSystem& files_;
  const std::string& directory_;
  const std::optional<int32_t> indexIntervalBytes_;
  RepairCopies& copies_;
  const Impossible& impossible_;
  /// What the checkpoints said before, by their names.
  std::map<std::string, log::OffsetCheckpoint, std::less<>> checkpointed_;
  /// Where logs end once they were recovered.
  std::map<TopicPartition, Offset> ends_;
  /// Folders in which nothing is touched.
  std::set<std::string> left_;
  bool startsLowered_ = false;
};

}  // namespace tidemark::inspect
