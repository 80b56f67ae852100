#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidemark::app {

/// The commands that look at files of log directories, with or without a broker.
class StorageCommands {
 public:
  /// Adds `dump-log`, `verify` and `repair`.
  explicit StorageCommands(CLI::App& app);
  ~StorageCommands();
  StorageCommands(const StorageCommands&) = delete;
  StorageCommands& operator=(const StorageCommands&) = delete;

  /// One of them was asked for.
  bool parsed() const;
  /// Runs it and returns the exit status.
  int run();

 private:
  struct DumpLog {
    std::vector<std::string> files;
    /// Kafka's way to name them: comma separated.
    std::vector<std::string> commaFiles;
    bool json = false;
    bool records = false;
    bool printDataLog = false;
    bool deep = false;
    bool skipBatches = false;
    bool onlyCheck = false;
    bool noCheck = false;
    bool metadata = false;
    bool offsets = false;
    bool transactions = false;
    bool shareState = false;
    uint64_t maxBytes = UINT64_MAX;
  };
  struct Verify {
    std::vector<std::string> directories;
    bool json = false;
    bool quiet = false;
    int32_t indexInterval = 0;
  };
  struct Repair {
    std::vector<std::string> directories;
    bool apply = false;
    bool json = false;
    int32_t indexInterval = 0;
  };
  int dumpLog();
  int verify();
  int repair();

  CLI::App* dumpLogCommand_;
  CLI::App* verifyCommand_;
  CLI::App* repairCommand_;
  DumpLog dumpLog_;
  Verify verify_;
  Repair repair_;
};

}  // namespace tidemark::app
