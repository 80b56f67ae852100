#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platform/native/native.h"

namespace tidemark::inspect {

/// A data directory that Apache Kafka 4.4 wrote, unpacked into a folder that goes with this object.
class GoldenCase {
 public:
  explicit GoldenCase(const std::string& name);
  ~GoldenCase();
  GoldenCase(const GoldenCase&) = delete;
  GoldenCase& operator=(const GoldenCase&) = delete;

  static const std::vector<std::string>& names();
  /// One that nobody changes, unpacked once for all tests of the program.
  static GoldenCase& shared(const std::string& name);

  /// Nothing could be unpacked.
  bool empty() const { return directories_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }
  /// d0, d1, … or n1, n2, …
  const std::vector<std::string>& directories() const { return directories_; }
  /// What Kafka's DumpLogSegments printed, a file a partition.
  std::vector<std::filesystem::path> dumps() const;
  platform::Process& process() { return *process_; }

 private:
  std::string name_;
  std::filesystem::path folder_;
  std::vector<std::string> directories_;
  std::shared_ptr<platform::Process> process_;
};

}  // namespace tidemark::inspect
