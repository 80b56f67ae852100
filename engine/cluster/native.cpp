#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/uuid.h"
#include "cluster/platform.h"
#include "cluster/topology.h"
#include "log/checkpoints.h"
#include "platform/native/native.h"

namespace tidemark::cluster {
namespace {

class NativePlatform final : public ClusterPlatform {
 public:
  explicit NativePlatform(bool verbose) : verbose_(verbose) { platform::raiseFileLimit(); }

  std::shared_ptr<platform::Process> createProcess(const std::string& name) override {
    platform::NativeOptions options;
    options.name = name;
    options.level = verbose_ ? platform::Logger::Level::Info : platform::Logger::Level::Warning;
    return platform::makeNativeProcess(std::move(options));
  }

  Result<std::vector<uint16_t>> pickPorts(const std::string& host, size_t count) override {
    return platform::pickFreePorts(host, count);
  }

  Result<std::string> temporaryFolder() override {
    const char* parent = std::getenv("TMPDIR");
    const auto maker = createProcess("temporary");
    std::string folder = fmt::format("{}/{}{}", parent != nullptr && *parent != '\0' ? parent : "/tmp",
                                     kTemporaryPrefix, maker->random().uuid());
    TIDEMARK_TRY(maker->files().createDirectories(folder));
    cleanUp(platform::parentDirectory(folder));
    return folder;
  }

  ~NativePlatform() override {
    if (!cleaner_) return;
    cleaner_->kill("the program ends");
    cleaner_->awaitStopped();
  }

 private:
  /// Removes what killed programs left in `parent`: temporary folders with a cluster in it whose lock is free.
  void cleanUp(const std::string& parent) {
    if (!cleaner_) cleaner_ = createProcess("cleaner");
    if (!cleaning_) cleaning_ = cleaner_->createExecutor({.name = "cleaner", .threads = 1});
    cleaning_->post([cleaner = cleaner_.get(), parent] {
      platform::FileSystem& files = cleaner->files();
      const auto entries = files.list(parent);
      if (!entries) return;
      for (const platform::DirectoryEntry& entry : *entries) {
        if (!entry.isDirectory || !entry.name.starts_with(kTemporaryPrefix)) continue;
        if (!Uuid::parse(std::string_view(entry.name).substr(kTemporaryPrefix.size()))) continue;
        const std::string folder = fmt::format("{}/{}", parent, entry.name);
        // The lock is taken before the topology is written: a folder without one may just be coming into being.
        if (!files.exists(fmt::format("{}/{}", folder, kTopologyFile))) continue;
        const auto lock = files.lock(fmt::format("{}/{}", folder, log::kLockFile));
        if (!lock || inUse(files, folder)) continue;
        if (auto removed = files.removeTree(folder); !removed)
          cleaner->log().warning("cluster", "{} was left by a program that was killed, and stays: {}", folder,
                                 removed.error().message);
      }
    });
  }

  /// A broker has its own directory open: a program that locks its brokers' directories only.
  static bool inUse(platform::FileSystem& files, const std::string& folder) {
    const auto inside = files.list(folder);
    if (!inside) return true;
    return std::ranges::any_of(*inside, [&](const platform::DirectoryEntry& broker) {
      const std::string lock = fmt::format("{}/{}/{}", folder, broker.name, log::kLockFile);
      return broker.isDirectory && files.exists(lock) && !files.lock(lock);
    });
  }

  static constexpr std::string_view kTemporaryPrefix = "tidemark-";
  const bool verbose_;
  std::shared_ptr<platform::Process> cleaner_;
  std::shared_ptr<platform::Executor> cleaning_;
};

}  // namespace

std::unique_ptr<ClusterPlatform> nativePlatform(bool verbose) {
  return std::make_unique<NativePlatform>(verbose);
}

}  // namespace tidemark::cluster
