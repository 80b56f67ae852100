#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "observe/cluster_source.h"
#include "observe/recording_file.h"

namespace tidemark::app {

/// Writes what a cluster does into a file as it happens, on a thread of its own; the brokers never wait for it.
class Record {
 public:
  Record() = default;
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  /// InvalidRequest if the file cannot be written. `source` must outlive this.
  Result<void> begin(observe::ClusterSource& source, const std::string& path);
  /// Writes what has happened up to now, then the cluster as it is now. On any thread.
  void take(const observe::ClusterSnapshot& cluster);
  /// Writes what is left. KafkaStorageError if not everything could be written.
  Result<void> end();
  /// How many events came faster than they could be taken. After end().
  uint64_t lostEvents() const noexcept { return lostEvents_; }

 private:
  void run();

  observe::ClusterSource* source_ = nullptr;
  std::string path_;
  /// One at a time takes from the source and writes.
  std::mutex writing_;
  std::ofstream file_;
  std::optional<observe::RecordingWriter> writer_;
  uint64_t told_ = 0;
  uint64_t lostEvents_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool due_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tidemark::app
