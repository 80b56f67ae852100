#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "inspect/finding.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// What is to be done in one partition's folder.
struct FolderPlan {
  /// Segment and byte of the first batch that cannot stay.
  std::optional<std::pair<Offset, uint64_t>> cut;
  /// By segment, the first such.
  std::map<Offset, uint64_t> cuts;
  /// Segments that begin before the one before ends; segments whose first batch does not belong under their name.
  std::set<Offset> overlaps;
  std::map<Offset, Finding> misnamed;
  /// Whole segments that another one has as well.
  std::set<Offset> strays;
  /// Nothing may be touched: what is here is the last that is known of records.
  bool left = false;
  std::set<Offset> indexes;
  std::set<Offset> aborted;
  std::set<std::string> snapshots;
  bool epochs = false;
  bool change = false;
  bool partitionFile = false;
  /// What cannot be read at all and can be done without: links that lead nowhere, folders of a file's name.
  std::set<std::string> aside;
  /// What is left to somebody else.
  std::vector<Finding> impossible;
  bool empty() const {
    return !cut && indexes.empty() && aborted.empty() && snapshots.empty() && !epochs && !change && !partitionFile &&
           aside.empty();
  }
  /// The log may be shorter afterwards, or knows less of its producers.
  bool takes() const { return cut || change || !snapshots.empty() || !aside.empty(); }
};

struct DirectoryPlan {
  std::map<std::string, FolderPlan> folders;
  /// Files and folders that are moved away.
  std::set<std::string> aside;
  /// Checkpoint files with offsets that no log has, and what the logs have.
  std::map<std::string, std::string> checkpoints;
  /// The marker of a clean stop, which would no longer be true. It goes before anything else does.
  std::string marker;
  /// Where the logs start is not known, and recovery would begin at their first batches.
  bool logStartsLost = false;
};

/// Takes a finding about a file of the folder into its plan.
void planFor(FolderPlan& todo, const Finding& finding);
/// What is to be cut, once all findings are in. A file under a wrong name must not cost the segments behind it.
void settle(platform::FileSystem& files, const std::string& folder, FolderPlan& todo);

}  // namespace tidemark::inspect
