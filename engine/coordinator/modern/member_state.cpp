#include "coordinator/modern/member_state.h"

namespace tidemark::coordinator {

std::string_view nameOf(MemberState state) noexcept {
  switch (state) {
    case MemberState::Stable:
      return "STABLE";
    case MemberState::UnrevokedPartitions:
      return "UNREVOKED_PARTITIONS";
    case MemberState::UnreleasedPartitions:
      return "UNRELEASED_PARTITIONS";
    case MemberState::Unknown:
      break;
  }
  return "UNKNOWN";
}

}  // namespace tidemark::coordinator
