#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "raft/types.h"

namespace tidemark::platform {
class FileSystem;
}

namespace tidemark::raft {

/// Where the election state lies. Used on one thread.
class QuorumStateStore {
 public:
  virtual ~QuorumStateStore() = default;
  /// Nothing if none was ever written. An unreadable one is an error: to start over would be to vote twice.
  virtual Result<std::optional<ElectionState>> read() = 0;
  /// On disk, synced, when this returns (K2).
  virtual Result<void> write(const ElectionState& state) = 0;
};

/// The file `quorum-state` of the metadata partition: one JSON object, data_version 1 (facts: Kafka's QuorumStateData).
/// Version 0 (a static quorum's) is read too.
class FileQuorumStateStore final : public QuorumStateStore {
 public:
  /// `synced` false leaves out the sync, as a test does that wants to see two leaders.
  FileQuorumStateStore(platform::FileSystem& files, std::string directory, bool synced = true);
  Result<std::optional<ElectionState>> read() override;
  Result<void> write(const ElectionState& state) override;

 private:
  platform::FileSystem& files_;
  std::string path_;
  bool synced_;
};

std::string encodeQuorumState(const ElectionState& state);
Result<ElectionState> decodeQuorumState(std::string_view json);

}  // namespace tidemark::raft
