#pragma once

#include <cstdint>

#ifdef TIDEMARK_MUTATIONS
#include <atomic>
#endif

// Rules of the engine that a build with the option TIDEMARK_MUTATIONS can break on purpose, one at a time, so that the
// simulator shows that it would notice. Without the option isMutated() is a constant, and nothing of this is in the
// program.

namespace tidemark {

/// What each breaks, by its name and in words: sim/mutations.cpp.
enum class Mutation : uint8_t {
  None,
  // Replication.
  LeaderEpochFenceOff,
  MinIsrFreezeOff,
  TruncateToHighWatermark,
  IsrByIdAlone,
  AnswerBeforeReplicated,
  HighWatermarkAlone,
  LeavingDoesNotHoldBack,
  JoiningDoesNotHoldBack,
  JoinsBeforeCaughtUp,
  NeverRejoins,
  ReadsUncommitted,
  EarliestIsLatest,
  ParkedForever,
  // The log.
  DuplicateWindowOfFour,
  SequencesUnchecked,
  SequencesOfLeaderOnly,
  EpochsOfLeaderOnly,
  HighWatermarkFalls,
  SnapshotNamedTooLow,
  // The quorum.
  VoteNotSynced,
  VoteNotKept,
  VoteTwice,
  CandidateLogUnchecked,
  QuorumCommitsAlone,
  FollowerDoesNotSync,
  // The controller.
  ElectsAnybody,
  FencedStaysInIsr,
  UncleanStaysInIsr,
  // Groups.
  GenerationNotRaised,
  CommitsForgotten,
  CommitOfOldGeneration,
  GivenBeforeReleased,
  TaskGivenBeforeReleased,
  OffsetsExpireWithMembers,
  CommitAnsweredAtOnce,
  AcknowledgementAnsweredAtOnce,
  // Transactions.
  MarkerLost,
  EpochNotRaisedAtEnd,
  EndAnsweredAtOnce,
  FencingOffAtAdd,
  TimeoutsForgotten,
  StableIgnoresOpen,
  AbortedWithoutLast,
  OffsetsOfTransactionLost,
  UnaskedAppended,
};

#ifdef TIDEMARK_MUTATIONS
inline constexpr bool kHasMutations = true;
/// The one in force, of the whole program: simulated clusters run one after the other.
inline std::atomic<Mutation> mutationInForce{Mutation::None};
inline bool isMutated(Mutation mutation) noexcept {
  return mutationInForce.load(std::memory_order_relaxed) == mutation;
}
#else
inline constexpr bool kHasMutations = false;
constexpr bool isMutated(Mutation /*mutation*/) noexcept {
  return false;
}
#endif

}  // namespace tidemark
