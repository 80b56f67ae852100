// What can start and what cannot: ports, address, folder and the name of the topic, each with what is said beside it.
#include <algorithm>

#include <QAbstractButton>
#include <QButtonGroup>
#include <QCheckBox>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QStorageInfo>

#include "launch/launch_page.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// "19092, 19095 – 19097": three in a row and more are told as a range.
QString portsText(const std::vector<uint16_t>& ports) {
  QStringList texts;
  for (size_t i = 0; i < ports.size(); ++i) {
    size_t last = i;
    while (last + 1 < ports.size() && ports[last + 1] == ports[last] + 1) ++last;
    if (last - i >= 2) {
      texts << QStringLiteral("%1 – %2").arg(ports[i]).arg(ports[last]);
      i = last;
    } else {
      texts << QString::number(ports[i]);
    }
  }
  return texts.join(QStringLiteral(", "));
}

}  // namespace

QString topicNameProblem(const QString& name) {
  if (name.isEmpty()) return LaunchPage::tr("a topic needs a name");
  if (name.size() > 249) return LaunchPage::tr("at most 249 characters");
  if (name == QStringLiteral(".") || name == QStringLiteral(".."))
    return LaunchPage::tr("“.” and “..” are not allowed");
  for (const QChar c : name)
    if (!((c >= QLatin1Char('a') && c <= QLatin1Char('z')) || (c >= QLatin1Char('A') && c <= QLatin1Char('Z')) ||
          (c >= QLatin1Char('0') && c <= QLatin1Char('9')) || c == QLatin1Char('.') || c == QLatin1Char('_') ||
          c == QLatin1Char('-')))
      return LaunchPage::tr("only letters, digits, “.”, “_” and “-”");
  return {};
}

void LaunchPage::check() {
  m_checkSoon.stop();
  takeStored();
  m_problem = checkAddress();
  const QString folderProblem = checkFolder();
  if (m_problem.isEmpty()) m_problem = folderProblem;
  if (m_problem.isEmpty() && m_withTopic->isChecked()) m_problem = topicNameProblem(m_topic->text().trimmed());
  m_start->setEnabled(m_problem.isEmpty() && !m_starting);
  if (m_starting)
    showProgress();
  else
    m_startNote->setText(m_problem.isEmpty() ? tr("takes about a second") : m_problem);
  m_startNote->setToolTip(m_problem);
}

QString LaunchPage::checkAddress() {
  const observe::LaunchOptions chosen = options();
  // While they start the ports are ours.
  m_ports = m_starting ? PortCheck()
            : m_stored ? checkPorts(fromUtf8(m_stored->host), m_stored->ports)
                       : checkPorts(fromUtf8(chosen.host), chosen.port, chosen.brokers + chosen.separateControllers);
  QString problem;
  if (m_ports.badHost) {
    problem = tr("“%1” is not an address of this machine").arg(fromUtf8(chosen.host));
  } else if (!m_ports.taken.empty()) {
    problem = m_ports.taken.size() == 1 ? tr("%1 is taken").arg(portsText(m_ports.taken))
                                        : tr("%1 are taken").arg(portsText(m_ports.taken));
    if (m_stored) problem = tr("%1: does the folder’s cluster run already?").arg(problem);
  } else if (!m_ports.forbidden.empty()) {
    problem = tr("%1: ports below 1024 are the system’s").arg(portsText(m_ports.forbidden));
  }
  if (m_starting) {
    m_portNote->clear();
  } else if (!problem.isEmpty()) {
    m_portNote->setText(QStringLiteral("✕  ") + problem);
  } else if (chosen.port == 0) {
    m_portNote->setText(QStringLiteral("●  ") + tr("free ports are picked"));
  } else {
    // Nodes that are no brokers tell clients of no port.
    const auto brokers = std::min(m_ports.wanted.size(), static_cast<size_t>(chosen.brokers));
    const QString ports = portsText({m_ports.wanted.begin(), m_ports.wanted.begin() + static_cast<ptrdiff_t>(brokers)});
    m_portNote->setText(QStringLiteral("●  ") +
                        (brokers == 1 ? tr("%1 is free").arg(ports) : tr("%1 are free").arg(ports)));
  }
  m_portNote->setToolTip(problem);
  setStyled(m_portNote, "kind", problem.isEmpty() ? QStringLiteral("good") : QStringLiteral("error"));
  setStyled(m_host, "wrong", m_ports.badHost);
  setStyled(m_port, "wrong", !m_ports.taken.empty() || !m_ports.forbidden.empty());
  const bool local = m_ports.badHost || isLoopback(fromUtf8(chosen.host));
  m_hostNote->setText(m_ports.badHost ? QString() : local ? tr("only this machine") : tr("▲ anyone there can connect"));
  setStyled(m_hostNote, "kind", local ? QStringLiteral("muted") : QStringLiteral("warn"));
  return problem;
}

QString LaunchPage::checkFolder() {
  QString folder = m_folder;
  if (folder.startsWith(QDir::homePath())) folder = QLatin1Char('~') + folder.mid(QDir::homePath().size());
  QString note = folder;
  QFileInfo info(m_folder);
  bool writable = true;
  if (info.exists()) {
    writable = info.isDir() && info.isWritable();
    if (writable && m_storedBrokers > 0)
      note += QStringLiteral("   ") + tr("holds a cluster of %n broker(s): it goes on", nullptr, m_storedBrokers);
  } else {
    // It will be made: the nearest folder above must allow that.
    QDir above = info.absoluteDir();
    while (!above.exists() && above.cdUp()) {
    }
    writable = QFileInfo(above.absolutePath()).isWritable();
    info = QFileInfo(above.absolutePath());
  }
  const QStorageInfo disk(info.absoluteFilePath());
  if (disk.isValid()) note += QStringLiteral("   ") + tr("%1 free").arg(bytesText(disk.bytesAvailable()));
  QString problem;
  if (m_chosen->isChecked()) {
    if (writable)
      problem = m_folderProblem;
    else
      problem =
          info.exists() && !info.isDir() ? tr("%1 is no folder").arg(folder) : tr("%1 cannot be written").arg(folder);
  }
  if (!problem.isEmpty()) note = QStringLiteral("✕  ") + problem;
  m_folderNote->setText(note);
  m_folderNote->setToolTip(note);
  setStyled(m_folderNote, "kind", problem.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
  return problem;
}

void LaunchPage::takeStored() {
  const bool was = m_stored.has_value();
  m_stored.reset();
  m_folderProblem.clear();
  if (!m_starting) {
    // Told whether it is chosen or not; it decides only if it is.
    Result<std::optional<observe::StoredCluster>> stored = m_bridge.stored(m_folder);
    m_storedBrokers = stored && *stored ? (*stored)->brokers : 0;
    if (m_chosen->isChecked() && !stored)
      m_folderProblem = fromUtf8(stored.error().message);
    else if (m_chosen->isChecked())
      m_stored = *std::move(stored);
  }
  const bool fixed = m_stored.has_value();
  for (QAbstractButton* button : m_brokers->buttons() + m_controllers->buttons()) button->setEnabled(!fixed);
  m_host->setEnabled(!fixed);
  m_port->setEnabled(!fixed);
  if (!fixed && !was) return;
  if (fixed) {
    const QSignalBlocker quiet[] = {QSignalBlocker(m_host), QSignalBlocker(m_port)};
    if (auto* button = m_brokers->button(m_stored->brokers)) button->setChecked(true);
    if (auto* button = m_controllers->button(m_stored->separateControllers)) button->setChecked(true);
    m_host->setText(fromUtf8(m_stored->host));
    m_port->setValue(m_stored->ports.front());
  }
  describe();
}

void LaunchPage::showProgress() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  int running = 0;
  int all = 0;
  for (const observe::BrokerSnapshot& node : cluster.brokers) {
    all += node.isBroker;
    running += node.isBroker && node.state == observe::BrokerState::Running;
  }
  m_startNote->setText(all == 0        ? tr("the folders are made")
                       : running < all ? tr("%1 of %n broker(s) up", nullptr, all).arg(running)
                                       : tr("all are up; the topic gets its leaders"));
}

}  // namespace tidemark::widgets
