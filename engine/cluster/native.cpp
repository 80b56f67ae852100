#include <cstdlib>

#include <fmt/format.h>

#include "cluster/platform.h"
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
    std::string folder =
        fmt::format("{}/tidemark-{}", parent != nullptr && *parent != '\0' ? parent : "/tmp", maker->random().uuid());
    TIDEMARK_TRY(maker->files().createDirectories(folder));
    return folder;
  }

 private:
  const bool verbose_;
};

}  // namespace

std::unique_ptr<ClusterPlatform> nativePlatform(bool verbose) {
  return std::make_unique<NativePlatform>(verbose);
}

}  // namespace tidemark::cluster
