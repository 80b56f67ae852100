#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/file_system.h"

namespace tidemark::log {

/// The suffixes of a segment's files.
std::span<const std::string_view> segmentSuffixes() noexcept;

/// A partition's folder while its log is opened: what is in it, and what an interrupted change left, which is finished
/// or undone by the rules of README.md ("Opening"). Looked at once: opening thousands of logs is mostly calls like
/// this. Used by one thread.
class LogFolder {
 public:
  LogFolder(platform::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  Result<void> list();
  /// Makes the folder if it is missing.
  Result<void> listOrMake();
  /// It was there already.
  bool existed() const noexcept { return existed_; }
  /// By name.
  const std::vector<platform::DirectoryEntry>& entries() const noexcept { return entries_; }
  bool has(std::string_view name) const;
  std::string pathOf(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// Removes `.deleted` and `.cleaned` files, and every `.swap` at or above the lowest `.cleaned`; completes the
  /// others.
  Result<void> tidyUp();
  /// Renames `.swap` files into place; what begins inside them is removed before.
  Result<void> completeSwaps(const std::vector<std::string>& names);

 private:
  platform::FileSystem& files_;
  const std::string path_;
  std::vector<platform::DirectoryEntry> entries_;
  bool existed_ = false;
};

}  // namespace tidemark::log
