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

PortCheck checkPorts(const QString& host, uint16_t first, int nodes) {
  std::vector<uint16_t> ports;
  if (first != 0)
    for (const int base : {0, 100})
      for (int i = 0; i < nodes; ++i) ports.push_back(static_cast<uint16_t>(first + base + i));
  return checkPorts(host, ports);
}

PortCheck checkPorts(const QString& host, const std::vector<uint16_t>& ports) {
  PortCheck check;
  const QHostAddress address = addressOf(host);
  if (address.isNull()) {
    check.badHost = true;
    return check;
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    if (i < ports.size() / 2) check.wanted.push_back(ports[i]);
    QTcpServer server;
    if (server.listen(address, ports[i])) continue;
    if (server.serverError() == QAbstractSocket::SocketAddressNotAvailableError) {
      check.badHost = true;
      return check;
    }
    (server.serverError() == QAbstractSocket::SocketAccessError ? check.forbidden : check.taken).push_back(ports[i]);
  }
  return check;
}

}  // namespace tidemark::widgets
