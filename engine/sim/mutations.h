#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/mutation.h"

namespace tidemark::sim {

/// A rule that is broken on purpose, and who must notice.
struct MutationRow {
  Mutation mutation;
  /// What `tidemark sim --mutation` calls it.
  std::string_view name;
  /// What the engine does then, in words.
  std::string_view breaks;
  /// Invariants, with spaces between: one of them must be the first that a run breaks.
  std::string_view invariants;
  /// A seed whose run breaks it.
  uint64_t seed;
  /// Whether it is looked for with ScenarioOptions::allKinds; without, runs are shorter.
  bool allKinds = false;
};

/// In the order of the enumeration.
std::span<const MutationRow> allMutations();
/// Null if there is none of that name.
const MutationRow* findMutation(std::string_view name);
/// Whether a breach of that invariant is one of those that the mutation must lead to.
bool isExpected(const MutationRow& row, std::string_view invariant);
/// The table of tests/sim/README.md.
std::string mutationTable();

/// While it lives the mutation is in force, everywhere in the program; without effect in a build that has none.
class MutationInForce {
 public:
  explicit MutationInForce(Mutation mutation) noexcept { set(mutation); }
  ~MutationInForce() { set(Mutation::None); }
  MutationInForce(const MutationInForce&) = delete;
  MutationInForce& operator=(const MutationInForce&) = delete;

 private:
  static void set(Mutation mutation) noexcept;
};

}  // namespace tidemark::sim
