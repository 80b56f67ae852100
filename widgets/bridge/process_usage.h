#pragma once

#include <optional>

#include <QElapsedTimer>

namespace tidemark::widgets {

/// What this program, brokers and window together, takes of the machine; from /proc.
class ProcessUsage {
 public:
  struct Sample {
    /// Of one core, since the last sample; 0 at the first.
    double cpuPercent = 0;
    int64_t residentBytes = 0;
  };
  /// Nothing where there is no /proc.
  std::optional<Sample> sample();

 private:
  QElapsedTimer m_since;
  int64_t m_lastTicks = -1;
};

}  // namespace tidemark::widgets
