#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/uuid.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// The topics that the metadata log of this node tells of: by name, their ids.
class KnownTopics {
 public:
  /// `folder`: of the metadata log. What cannot be read is told elsewhere.
  void read(platform::FileSystem& files, const std::string& folder);
  std::optional<Uuid> idOf(const std::string& topic) const {
    const auto found = ids_.find(topic);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void readFile(platform::FileSystem& files, const std::string& path, Offset from);
  void apply(ByteView value);

  std::map<std::string, Uuid> ids_;
};

}  // namespace tidemark::inspect
