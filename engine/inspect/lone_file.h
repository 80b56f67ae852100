#pragma once

#include <map>
#include <memory>
#include <string>

#include "platform/file_system.h"

namespace tidemark::inspect {

/// A folder that holds one file (or the files of one segment) under other names than it has: how a `.log.deleted`, a
/// `.checkpoint` or a renamed copy is read by code that looks for `DIGITS.log`. Reading only.
class LoneFile final : public platform::FileSystem {
 public:
  /// `names`: name in `folder` → the real path.
  LoneFile(platform::FileSystem& below, std::string folder, std::map<std::string, std::string> names);

  Result<std::shared_ptr<platform::File>> open(const std::string& path, platform::OpenMode mode) override;
  bool exists(const std::string& path) const override;
  Result<std::vector<platform::DirectoryEntry>> list(const std::string& directory) const override;
  Result<void> createDirectories(const std::string& directory) override { return refuse(directory); }
  Result<void> rename(const std::string& from, const std::string&) override { return refuse(from); }
  Result<void> remove(const std::string& path) override { return refuse(path); }
  Result<void> removeTree(const std::string& directory) override { return refuse(directory); }
  Result<void> syncDirectory(const std::string& directory) override { return refuse(directory); }
  Result<std::unique_ptr<platform::FileLock>> lock(const std::string& path) override;
  Result<platform::DiskSpace> space(const std::string&) const override { return below_.space("."); }

 private:
  static Result<void> refuse(const std::string& path);
  const std::string* realPath(const std::string& path) const;

  platform::FileSystem& below_;
  const std::string folder_;
  const std::map<std::string, std::string> names_;
};

}  // namespace tidemark::inspect
