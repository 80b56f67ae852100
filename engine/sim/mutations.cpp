#include "sim/mutations.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

constexpr std::array kMutations = std::to_array<MutationRow>({
    {Mutation::LeaderEpochFenceOff, "leader-epoch-fence-off",
     "a leader serves whoever fetches, whatever epoch that one believes in and whatever it holds", "R2 R3 R4 R9", 4},
    {Mutation::MinIsrFreezeOff, "min-isr-freeze-off",
     "the high watermark moves although the ISR is smaller than min.insync.replicas", "R8", 1},
    {Mutation::TruncateToHighWatermark, "truncate-to-high-watermark",
     "a new follower truncates to its own high watermark instead of where the epochs part", "R3 R2", 1},
    {Mutation::IsrByIdAlone, "isr-by-id-alone",
     "leader and controller take a broker into the ISR by its id, whichever life of it has fetched", "R3 R2", 46},
    {Mutation::AnswerBeforeReplicated, "answer-before-replicated",
     "acks=all is answered as soon as the leader has appended", "R2", 1},
    {Mutation::HighWatermarkAlone, "high-watermark-alone", "the high watermark follows the leader's log end alone",
     "R3 R2 R4", 1},
    {Mutation::LeavingDoesNotHoldBack, "leaving-does-not-hold-back",
     "who is to leave the ISR does not hold the high watermark back before the controller has agreed", "R3 R2 R4 S3",
     15},
    {Mutation::JoiningDoesNotHoldBack, "joining-does-not-hold-back",
     "who is to join the ISR does not hold the high watermark back before the controller has agreed", "R3 R2 R4", 15},
    {Mutation::JoinsBeforeCaughtUp, "joins-before-caught-up", "any follower that fetches is asked into the ISR",
     "R3 R2 R4", 8},
    {Mutation::NeverRejoins, "never-rejoins", "a leader never asks for a larger ISR", "L3 L1", 2},
    {Mutation::ReadsUncommitted, "reads-uncommitted", "consumers read up to the log end", "R9", 1},
    {Mutation::EarliestIsLatest, "earliest-is-latest", "who asks for the earliest offset is told the latest", "L5", 1},
    {Mutation::ParkedForever, "parked-forever", "what is parked has no deadline", "L6 L2 L4 T6", 1},
    {Mutation::DuplicateWindowOfFour, "duplicate-window-of-four", "the log remembers four batches of a producer", "T2",
     3},
    {Mutation::SequencesUnchecked, "sequences-unchecked", "the log does not look at producers' sequences", "T2 T1", 1},
    {Mutation::SequencesOfLeaderOnly, "sequences-of-leader-only", "followers do not remember producers' batches",
     "T2 T1 T4", 1},
    {Mutation::EpochsOfLeaderOnly, "epochs-of-leader-only",
     "followers do not note the leader epochs of what they append", "L1 K5 R11 R3", 1},
    {Mutation::HighWatermarkFalls, "high-watermark-falls",
     "a follower takes over a lower high watermark from its leader", "R5", 5},
    {Mutation::SnapshotNamedTooLow, "snapshot-named-too-low",
     "a producer snapshot is named by an offset below the last batch that it holds", "T9", 1},
    {Mutation::VoteNotSynced, "vote-not-synced", "the vote is written without a sync", "K1 K2 K3", 1},
    {Mutation::VoteNotKept, "vote-not-kept", "votes and epochs are not written", "K1 K2 K3", 1},
    {Mutation::VoteTwice, "vote-twice", "a node gives its vote to each that asks in an epoch", "K1 K2", 6},
    {Mutation::CandidateLogUnchecked, "candidate-log-unchecked", "a node votes for whoever has a shorter log, too",
     "K4 K5", 6},
    {Mutation::QuorumCommitsAlone, "quorum-commits-alone", "the quorum's leader commits what nobody else has", "K4 K5",
     2},
    {Mutation::FollowerDoesNotSync, "follower-does-not-sync",
     "a follower of the quorum does not sync what it says it holds", "K4 K5", 2},
    {Mutation::ElectsAnybody, "elects-anybody", "the controller elects any replica that is alive", "R7 R2", 3},
    {Mutation::FencedStaysInIsr, "fenced-stays-in-isr", "who is fenced stays in the ISR, and leader", "R10 R7", 1},
    {Mutation::UncleanStaysInIsr, "unclean-stays-in-isr", "who stopped uncleanly stays in the ISR when it registers",
     "R3 R2 R10 G1c", 50},
    {Mutation::GenerationNotRaised, "generation-not-raised", "a rebalance does not raise the group's generation",
     "G1 G3 L4", 1},
    {Mutation::CommitsForgotten, "commits-forgotten", "a coordinator does not read what the one before it has written",
     "G1 G3 G4", 1},
    {Mutation::CommitOfOldGeneration, "commit-of-old-generation",
     "offsets are committed for whoever asks, member or not, of whatever generation", "G3 G4", 114},
    {Mutation::GivenBeforeReleased, "given-before-released",
     "by the consumer protocol a partition is given to the next owner before the last one has given it back", "G1 G3",
     10},
    {Mutation::TaskGivenBeforeReleased, "task-given-before-released",
     "in a streams group an active task is given to the next member before the last one has given it back", "G3 G1", 3,
     true},
    {Mutation::OffsetsExpireWithMembers, "offsets-expire-with-members",
     "committed offsets expire at once, also of a group with members", "G4 G5 T3", 1},
    {Mutation::CommitAnsweredAtOnce, "commit-answered-at-once",
     "a commit of offsets is answered before its records are appended and committed", "G4", 65},
    {Mutation::AcknowledgementAnsweredAtOnce, "acknowledgement-answered-at-once",
     "what a member of a share group says of records is confirmed before it is written", "G7", 7, true},
    {Mutation::MarkerLost, "marker-lost", "a transaction over several partitions has no marker on the first",
     "G1a T3 T6 T7", 1},
    {Mutation::EpochNotRaisedAtEnd, "epoch-not-raised-at-end",
     "the end of a transaction does not raise the producer's epoch", "T7", 2},
    {Mutation::EndAnsweredAtOnce, "end-answered-at-once", "EndTxn is answered before its record is committed", "T3 T7",
     4},
    {Mutation::FencingOffAtAdd, "fencing-off-at-add", "partitions are added for a producer whose epoch is over",
     "G1a T3 T5 T6 T7", 2},
    {Mutation::TimeoutsForgotten, "timeouts-forgotten", "a transaction may be open for ever", "T6", 1},
    {Mutation::StableIgnoresOpen, "stable-ignores-open", "the last stable offset takes no notice of open transactions",
     "T4 G1a", 1},
    {Mutation::AbortedWithoutLast, "aborted-without-last",
     "readers are not told of the last of the aborted transactions", "G1a T3 T8", 1},
    {Mutation::OffsetsOfTransactionLost, "offsets-of-transaction-lost",
     "offsets of a transaction do not count when it is committed", "T3", 1},
    {Mutation::UnaskedAppended, "unasked-appended",
     "of what a produce brings to several partitions in a transaction only the first is asked about, and all is "
     "appended",
     "G1a T3 T6", 1},
});

}  // namespace

std::span<const MutationRow> allMutations() {
  return kMutations;
}

const MutationRow* findMutation(std::string_view name) {
  const auto found = std::ranges::find(kMutations, name, &MutationRow::name);
  return found == kMutations.end() ? nullptr : &*found;
}

bool isExpected(const MutationRow& row, std::string_view invariant) {
  return fmt::format(" {} ", row.invariants).contains(fmt::format(" {} ", invariant));
}

std::string mutationTable() {
  std::string text = "| `--mutation` | what is broken | found as | seed |\n|---|---|---|---|\n";
  for (const MutationRow& row : kMutations)
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.breaks, row.invariants, row.seed);
  return text;
}

void MutationInForce::set([[maybe_unused]] Mutation mutation) noexcept {
#ifdef TIDEMARK_MUTATIONS
  mutationInForce = mutation;
#endif
}

}  // namespace tidemark::sim
