// What stands in the fields of a fault, as JSON and back.
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QJsonArray>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QSpinBox>

#include "faults/fault_form.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

int64_t toMs(double seconds) {
  return qRound64(seconds * 1000);
}

double secondsOf(platform::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// As parseTarget() takes it, without the word "link".
QString endWords(const faults::LinkEnd& end) {
  const std::string text = faults::textOf(faults::Target(faults::LinkName{.from = end, .to = {}, .bothWays = false}));
  return fromUtf8(text).section(QStringLiteral("->"), 0, 0).mid(5);
}

}  // namespace

QJsonValue FaultForm::groupOf(const QLineEdit* field) const {
  QJsonArray group;
  static const QRegularExpression kParts(QStringLiteral("[,; ]+"));
  for (const QString& part : field->text().split(kParts, Qt::SkipEmptyParts)) {
    bool isNumber = false;
    const int number = part.toInt(&isNumber);
    group.append(isNumber ? QJsonValue(number) : QJsonValue(part));
  }
  return group;
}

QString FaultForm::targetText() const {
  if (m_form->isRowVisible(m_node)) return m_node->currentText().trimmed();
  if (m_form->isRowVisible(m_who)) return m_who->currentText().trimmed();
  if (!m_form->isRowVisible(m_link)) return {};
  return QStringLiteral("link %1%2%3")
      .arg(m_from->currentText().trimmed(), m_ways->currentIndex() == 0 ? QStringLiteral("<->") : QStringLiteral("->"),
           m_to->currentText().trimmed());
}

QJsonObject FaultForm::toJson() const {
  const uint32_t takes = faults::parametersOf(m_kind);
  QJsonObject json{{QStringLiteral("kind"), fromUtf8(faults::nameOf(m_kind))}};
  const auto put = [&](faults::Parameter parameter, const char* key, const QJsonValue& value, bool usual) {
    if ((takes & parameter) && !usual) json.insert(QLatin1String(key), value);
  };
  const auto bits = [](std::initializer_list<const QCheckBox*> boxes, std::initializer_list<const char*> names) {
    QJsonArray list;
    auto name = names.begin();
    for (const QCheckBox* box : boxes) {
      if (box->isChecked()) list.append(QLatin1String(*name));
      ++name;
    }
    return list;
  };
  put(faults::kTarget, "target", targetText(), targetText().isEmpty());
  put(faults::kGroups, "left", groupOf(m_left), false);
  put(faults::kGroups, "right", groupOf(m_right), false);
  put(faults::kWithClients, "clients", m_clients->isChecked(), m_clients->isChecked());
  put(faults::kDelay, "delayMs", m_delay->value(), false);
  put(faults::kJitter, "jitterMs", m_jitter->value(), m_jitter->value() == 0);
  put(faults::kBytesPerSecond, "bytesPerSecond", m_width->value(), false);
  put(faults::kPath, "path", m_path->currentText().trimmed(), m_path->currentText().trimmed().isEmpty());
  const QJsonArray calls = bits({m_reads, m_writes, m_syncs}, {"read", "write", "sync"});
  put(faults::kFileCalls, "calls", calls, calls.size() == 3);
  put(faults::kOffset, "offsetMs", m_offset->value(), false);
  const QJsonArray clocks = bits({m_wall, m_monotonic}, {"wall", "monotonic"});
  put(faults::kClocks, "clocks", clocks, false);
  put(faults::kRate, "rate", m_rate->value(), false);
  put(faults::kApi, "api", m_api->currentText().trimmed(), m_api->currentText().trimmed().isEmpty());
  put(faults::kError, "error", m_error->currentText().trimmed(), false);
  put(faults::kTopic, "topic", m_topic->currentText().trimmed(), m_topic->currentText().trimmed().isEmpty());
  put(faults::kPartition, "partition", m_partition->value(), m_partition->value() < 0);
  put(faults::kDuration, "durationMs", static_cast<qint64>(toMs(m_duration->value())), m_duration->value() <= 0);
  QJsonObject trigger;
  if (m_after->value() > 0) trigger.insert(QStringLiteral("afterMs"), static_cast<qint64>(toMs(m_after->value())));
  if (takes & faults::kOccasions) {
    if (m_which->currentIndex() == 1) trigger.insert(QStringLiteral("nth"), m_n->value());
    if (m_which->currentIndex() == 2) trigger.insert(QStringLiteral("every"), m_n->value());
    if (m_which->currentIndex() == 3) {
      trigger.insert(QStringLiteral("probability"), m_chance->value());
      trigger.insert(QStringLiteral("seed"), m_seed->value());
    }
  }
  if (!trigger.isEmpty()) json.insert(QStringLiteral("trigger"), trigger);
  return json;
}

void FaultForm::setFault(const faults::Fault& fault) {
  {
    const QSignalBlocker quiet(this);
    m_kind = fault.kind;
    if (const auto* link = std::get_if<faults::LinkName>(&fault.target)) {
      m_from->setEditText(endWords(link->from));
      m_to->setEditText(endWords(link->to));
      m_ways->setCurrentIndex(link->bothWays ? 0 : 1);
    } else if (const QString target = fromUtf8(faults::textOf(fault.target));
               faults::areaOf(fault.kind) == faults::Area::Requests) {
      m_who->setEditText(target);
    } else if (!target.isEmpty()) {
      m_node->setEditText(target);
    }
    const auto group = [](QLineEdit* line, const std::vector<NodeId>& nodes) {
      if (nodes.empty()) return;
      QStringList names;
      for (const NodeId node : nodes) names << QString::number(node.value());
      line->setText(names.join(QStringLiteral(", ")));
    };
    group(m_left, fault.left);
    group(m_right, fault.right);
    m_clients->setChecked(fault.clients);
    if (fault.delay.count() > 0) m_delay->setValue(static_cast<int>(fault.delay.count()));
    m_jitter->setValue(static_cast<int>(fault.jitter.count()));
    if (fault.bytesPerSecond > 0) m_width->setValue(static_cast<int>(fault.bytesPerSecond));
    m_path->setEditText(fromUtf8(fault.path));
    m_reads->setChecked(fault.fileCalls & faults::kReads);
    m_writes->setChecked(fault.fileCalls & faults::kWrites);
    m_syncs->setChecked(fault.fileCalls & faults::kSyncs);
    if (fault.offset.count() != 0) m_offset->setValue(static_cast<int>(fault.offset.count()));
    m_wall->setChecked(fault.clocks & faults::kWall);
    m_monotonic->setChecked(fault.clocks & faults::kMonotonic);
    if (fault.rate != 1) m_rate->setValue(fault.rate);
    m_api->setEditText(fault.api.empty() && fault.kind == faults::Kind::RequestError ? QStringLiteral("Produce")
                                                                                     : fromUtf8(fault.api));
    m_topic->setEditText(fromUtf8(fault.topic));
    m_partition->setValue(fault.partition ? fault.partition->value() : -1);
    m_error->setEditText(
        fromUtf8(errorName(fault.error == ErrorCode::None ? ErrorCode::NotEnoughReplicas : fault.error)));
    m_which->setCurrentIndex(static_cast<int>(fault.trigger.which));
    m_n->setValue(static_cast<int>(fault.trigger.n));
    if (fault.trigger.which == faults::Trigger::Which::Chance) m_chance->setValue(fault.trigger.chance);
    m_seed->setValue(static_cast<int>(fault.trigger.seed));
    m_after->setValue(secondsOf(fault.trigger.after));
    m_duration->setValue(secondsOf(fault.duration));
    takeKind();
  }
  Q_EMIT changed();
}

}  // namespace tidemark::widgets
