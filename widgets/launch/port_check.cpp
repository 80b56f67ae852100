#include "launch/port_check.h"

#include <QHostAddress>
#include <QTcpServer>

namespace tidemark::widgets {

namespace {

QHostAddress addressOf(const QString& host) {
  if (host.compare(QStringLiteral("localhost"), Qt::CaseInsensitive) == 0) return QHostAddress(QHostAddress::LocalHost);
  QHostAddress address;
  // Only addresses: looking a name up would make the window wait.
  return address.setAddress(host) ? address : QHostAddress();
}

}  // namespace

bool isLoopback(const QString& host) {
  return addressOf(host).isLoopback();
}

PortCheck checkPorts(const QString& host, uint16_t first, int brokers) {
  PortCheck check;
  const QHostAddress address = addressOf(host);
  if (address.isNull()) {
    check.badHost = true;
    return check;
  }
  if (first == 0) return check;
  for (const int base : {0, 100})
    for (int i = 0; i < brokers; ++i) {
      const auto port = static_cast<uint16_t>(first + base + i);
      if (base == 0) check.wanted.push_back(port);
      QTcpServer server;
      if (server.listen(address, port)) continue;
      if (server.serverError() == QAbstractSocket::SocketAddressNotAvailableError) {
        check.badHost = true;
        return check;
      }
      check.taken.push_back(port);
    }
  return check;
}

}  // namespace tidemark::widgets
