#pragma once

#include <cstdint>
#include <vector>

#include <QString>

namespace tidemark::widgets {

/// Which of the ports a cluster would take are taken already. Asked by listening for a moment, as the brokers will.
struct PortCheck {
  /// Where nodes listen as brokers, for the reader; the controllers' ports are checked as well.
  std::vector<uint16_t> wanted;
  std::vector<uint16_t> taken;
  /// Those that this user may not listen on.
  std::vector<uint16_t> forbidden;
  /// The address is not one of this machine, or is none at all.
  bool badHost = false;
  bool fine() const { return !badHost && taken.empty() && forbidden.empty(); }
};

/// Of so many nodes, beginning with that port.
PortCheck checkPorts(const QString& host, uint16_t first, int nodes);
/// The second half of `ports` are those of the controllers.
PortCheck checkPorts(const QString& host, const std::vector<uint16_t>& ports);

/// Nothing but this machine can connect there.
bool isLoopback(const QString& host);

}  // namespace tidemark::widgets
