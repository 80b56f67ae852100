#include "platform/file_system.h"
#include "platform/random.h"

namespace tidemark::platform {

Uuid Random::uuid() {
  while (true) {
    const uint64_t halves[2] = {next(), next()};
    std::array<uint8_t, 16> bytes;
    std::memcpy(bytes.data(), halves, sizeof halves);
    bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
    bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
    const Uuid uuid(bytes);
    if (uuid.toString().front() != '-') return uuid;
  }
}

std::string parentDirectory(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path.empty() ? "." : "/";
  const size_t slash = path.rfind('/', end);
  if (slash == std::string::npos) return ".";
  const size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

Result<ByteVector> FileSystem::readFile(const std::string& path, uint64_t limit) {
  TIDEMARK_ASSIGN(const auto file, open(path, OpenMode::Read));
  TIDEMARK_ASSIGN(const uint64_t size, file->size());
  if (size > limit) {
    return fail(ErrorCode::KafkaStorageError,
                fmt::format("{} has {} bytes, more than the {} allowed", path, size, limit));
  }
  ByteVector bytes(size);
  TIDEMARK_ASSIGN(const size_t count, file->readAt(0, bytes));
  bytes.resize(count);
  return bytes;
}

Result<void> FileSystem::replaceFile(const std::string& path, ByteView contents) {
  const std::string temporary = path + ".tmp";
  {
    TIDEMARK_ASSIGN(const auto file, open(temporary, OpenMode::Truncate));
    TIDEMARK_TRY(file->writeAt(0, contents));
    TIDEMARK_TRY(file->sync());
  }
  TIDEMARK_TRY(rename(temporary, path));
  return syncDirectory(parentDirectory(path));
}

}  // namespace tidemark::platform
