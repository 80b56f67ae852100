#include "raft/quorum_state_store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/mutation.h"
#include "platform/file_system.h"

namespace tidemark::raft {
namespace {

/// More than any version of the file needs.
constexpr uint64_t kMaxSize = 64 * 1024;

}  // namespace

std::string encodeQuorumState(const ElectionState& state) {
  const ReplicaKey voted = state.voted.value_or(ReplicaKey{});
  return fmt::format(R"({{"leaderId":{},"leaderEpoch":{},"votedId":{},"votedDirectoryId":"{}","data_version":1}})",
                     state.leader.value(), state.epoch.value(), voted.id.value(), voted.directoryId.toString());
}

Result<ElectionState> decodeQuorumState(std::string_view text) {
  const auto bad = [](std::string why) {
    return fail(ErrorCode::CorruptMessage, fmt::format("quorum-state cannot be read: {}", why));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return bad("it is not a JSON object");
  const auto number = [&json](const char* key) -> std::optional<int64_t> {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer()) return std::nullopt;
    // Beyond int64_t it would wrap around: 2^64 - 1 is not -1.
    if (at->is_number_unsigned() && at->get<uint64_t>() > INT32_MAX) return std::nullopt;
    const auto value = at->get<int64_t>();
    return value >= -1 && value <= INT32_MAX ? std::optional(value) : std::nullopt;
  };
  const auto version = number("data_version");
  if (!version || *version > 1) return bad("data_version is not 0 or 1");
  const auto leader = number("leaderId");
  const auto epoch = number("leaderEpoch");
  const auto voted = number("votedId");
  if (!leader || !epoch || *epoch < 0 || !voted) return bad("leaderId, leaderEpoch or votedId is missing");
  ElectionState state{LeaderEpoch(static_cast<int32_t>(*epoch)), NodeId(static_cast<int32_t>(*leader)), std::nullopt};
  if (*voted < 0) return state;
  ReplicaKey key{NodeId(static_cast<int32_t>(*voted)), {}};
  if (*version == 1) {
    const auto at = json.find("votedDirectoryId");
    const auto id = at != json.end() && at->is_string() ? Uuid::parse(at->get<std::string>()) : std::nullopt;
    if (!id) return bad("votedDirectoryId is not an id");
    key.directoryId = *id;
  }
  state.voted = key;
  return state;
}

FileQuorumStateStore::FileQuorumStateStore(platform::FileSystem& files, std::string directory, bool synced)
    : files_(files), path_(directory + "/quorum-state"), synced_(synced) {}

Result<std::optional<ElectionState>> FileQuorumStateStore::read() {
  if (!files_.exists(path_)) return std::nullopt;
  TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(path_, kMaxSize));
  auto state = decodeQuorumState(asText(bytes));
  if (!state) return fail(state.error().code, fmt::format("{}: {}", path_, state.error().message));
  return *state;
}

Result<void> FileQuorumStateStore::write(const ElectionState& state) {
  const std::string text = encodeQuorumState(state);
  if (synced_ && !isMutated(Mutation::VoteNotSynced)) return files_.replaceFile(path_, asBytes(text));
  TIDEMARK_ASSIGN(const auto file, files_.open(path_, platform::OpenMode::Truncate));
  return file->writeAt(0, asBytes(text));
}

}  // namespace tidemark::raft
