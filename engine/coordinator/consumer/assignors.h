#pragma once

#include <string>
#include <string_view>

#include "coordinator/modern/assignor.h"

namespace tidemark::coordinator {

/// Balanced first, then sticky: members own as many partitions as each other wherever their subscriptions allow it, and
/// keep what they have as far as that allows.
class UniformAssignor final : public Assignor {
 public:
  std::string_view name() const noexcept override { return "uniform"; }
  AssignorOutput assign(const AssignorInput& input) const override;
};

/// Consecutive partitions of each topic in the order of the members (static ones first, by instance id), so that topics
/// with equally many partitions are owned alike.
class RangeAssignor final : public Assignor {
 public:
  std::string_view name() const noexcept override { return "range"; }
  AssignorOutput assign(const AssignorInput& input) const override;
};

/// For a group whose members and configuration name none that there is.
const Assignor& defaultAssignor() noexcept;
/// The assignor of that name; null if there is none.
const Assignor* assignorNamed(std::string_view name) noexcept;

}  // namespace tidemark::coordinator
