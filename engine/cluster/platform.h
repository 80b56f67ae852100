#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/process.h"

namespace tidemark::cluster {

/// The process of the cluster's own.
inline constexpr std::string_view kLab = "lab";

/// Where the processes of a cluster come from: real ones or simulated ones. One thread at a time.
class ClusterPlatform {
 public:
  virtual ~ClusterPlatform() = default;
  /// "broker-1", …, or kLab. A name of an earlier process that died stands for the same machine.
  virtual std::shared_ptr<platform::Process> createProcess(const std::string& name) = 0;
  /// TCP ports that are free now, below 32768.
  virtual Result<std::vector<uint16_t>> pickPorts(const std::string& host, size_t count) = 0;
  /// A new empty folder for a cluster whose data nobody keeps. The cluster locks its `.lock`; folders of clusters that
  /// were killed, which nobody locks any more, are removed in the background.
  virtual Result<std::string> temporaryFolder() = 0;
};

/// Real threads, sockets and files; temporary folders under $TMPDIR or /tmp. Log lines go to the standard error from
/// Warning (or, if `verbose`, Info) on.
std::unique_ptr<ClusterPlatform> nativePlatform(bool verbose = false);

}  // namespace tidemark::cluster
