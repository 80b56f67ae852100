#include "models/bootstrap.h"

#include <QStringList>

#include "text/format.h"

namespace tidemark::widgets {

QString firstAddress(const observe::ClusterSnapshot& cluster) {
  for (const observe::BrokerSnapshot& broker : cluster.brokers)
    if (broker.isBroker && broker.listener.port != 0 &&
        (broker.state == observe::BrokerState::Running || broker.state == observe::BrokerState::Fenced))
      return fromUtf8(fmt::format("{}", broker.listener));
  return fromUtf8(cluster.bootstrap);
}

QString allAddresses(const observe::ClusterSnapshot& cluster) {
  QStringList addresses;
  for (const observe::BrokerSnapshot& broker : cluster.brokers)
    if (broker.isBroker && broker.listener.port != 0) addresses << fromUtf8(fmt::format("{}", broker.listener));
  return addresses.isEmpty() ? fromUtf8(cluster.bootstrap) : addresses.join(QLatin1Char(','));
}

}  // namespace tidemark::widgets
