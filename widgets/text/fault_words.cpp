#include "text/fault_words.h"

#include <QCoreApplication>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

using faults::Kind;

struct FaultNames {
  Q_DECLARE_TR_FUNCTIONS(Faults)
};

QString nodeName(const faults::NodeName& node) {
  switch (node.by) {
    case faults::NodeName::By::LeaderOf:
      return FaultNames::tr("leader of %1").arg(partitionText(node.partition));
    case faults::NodeName::By::ActiveController:
      return FaultNames::tr("active controller");
    case faults::NodeName::By::Number:
      break;
  }
  return QString::number(node.id.value());
}

QString endName(const faults::LinkEnd& end) {
  if (end.isClients) return end.client.empty() ? FaultNames::tr("clients") : fromUtf8(end.client);
  if (end.port == faults::Port::Controller) return FaultNames::tr("controller %1").arg(nodeName(end.node));
  return nodeName(end.node);
}

QString linkText(const faults::LinkName& link) {
  return FaultNames::tr("%1 %2 %3")
      .arg(endName(link.from), link.bothWays ? QStringLiteral("↔") : QStringLiteral("→"), endName(link.to));
}

/// With a capital letter: it begins a title.
QString subject(const faults::Fault& fault) {
  if (const auto* link = std::get_if<faults::LinkName>(&fault.target))
    return FaultNames::tr("Link %1").arg(linkText(*link));
  if (const auto* clients = std::get_if<faults::ClientsName>(&fault.target))
    return clients->client.empty() ? FaultNames::tr("Clients") : fromUtf8(clients->client);
  const auto* node = std::get_if<faults::NodeName>(&fault.target);
  if (node == nullptr) return {};
  if (node->by == faults::NodeName::By::Number)
    return (node->isController ? FaultNames::tr("Controller %1") : FaultNames::tr("Broker %1")).arg(nodeName(*node));
  QString name = nodeName(*node);
  name.replace(0, 1, name.at(0).toUpper());
  return name;
}

QString msText(std::chrono::milliseconds ms) {
  return durationText(ms);
}

QString lateText(const faults::Fault& fault) {
  QString text = QStringLiteral("+%1").arg(msText(fault.delay));
  if (fault.jitter.count() > 0) text += QStringLiteral(" ± %1").arg(msText(fault.jitter));
  return text;
}

QString requestTitle(const faults::Fault& fault, const QString& effect) {
  QString which = fault.api.empty() ? FaultNames::tr("Requests") : fromUtf8(fault.api);
  if (!fault.topic.empty()) {
    which += QLatin1Char(' ') + fromUtf8(fault.topic);
    if (fault.partition) which += QStringLiteral("-%1").arg(fault.partition->value());
  }
  if (const QString who = faultTargetText(fault.target); !std::holds_alternative<std::monostate>(fault.target))
    which = FaultNames::tr("%1 · %2").arg(which, who);
  return FaultNames::tr("%1 %2").arg(which, effect);
}

QString signedText(std::chrono::milliseconds offset) {
  return (offset.count() < 0 ? QStringLiteral("−") : QStringLiteral("+")) + msText(std::chrono::abs(offset));
}

}  // namespace

QString faultTargetText(const faults::Target& target) {
  if (const auto* link = std::get_if<faults::LinkName>(&target)) return FaultNames::tr("link %1").arg(linkText(*link));
  if (const auto* clients = std::get_if<faults::ClientsName>(&target))
    return clients->client.empty() ? FaultNames::tr("clients")
                                   : FaultNames::tr("clients named %1").arg(fromUtf8(clients->client));
  if (const auto* node = std::get_if<faults::NodeName>(&target))
    return node->by != faults::NodeName::By::Number ? nodeName(*node)
           : node->isController                     ? FaultNames::tr("controller %1").arg(nodeName(*node))
                                                    : FaultNames::tr("broker %1").arg(nodeName(*node));
  return FaultNames::tr("everywhere");
}

QString faultTitle(const faults::Fault& fault) {
  const QString who = subject(fault);
  const auto says = [&who](const QString& text) { return text.arg(who); };
  switch (fault.kind) {
    case Kind::Cut:
      return says(FaultNames::tr("%1 cut"));
    case Kind::Delay:
      return FaultNames::tr("%1 %2").arg(who, lateText(fault));
    case Kind::Reset:
      return says(FaultNames::tr("%1 reset"));
    case Kind::Throttle:
      return FaultNames::tr("%1 at %2").arg(who, rateText(static_cast<double>(fault.bytesPerSecond)));
    case Kind::Hold:
      return says(FaultNames::tr("%1 held"));
    case Kind::Isolate:
      return says(FaultNames::tr("%1 isolated"));
    case Kind::Halves:
      return FaultNames::tr("%1 and %2 apart").arg(nodesText(fault.left), nodesText(fault.right));
    case Kind::Bridge:
      return says(FaultNames::tr("%1 is the bridge"));
    case Kind::Ring:
      return FaultNames::tr("Ring of majorities");
    case Kind::Kill:
      return says(FaultNames::tr("%1 killed"));
    case Kind::PowerLoss:
      return says(FaultNames::tr("%1 lost power"));
    case Kind::Pause:
      return says(FaultNames::tr("%1 paused"));
    case Kind::Slow:
      return FaultNames::tr("%1 slow, %2").arg(who, lateText(fault));
    case Kind::Stop:
      return says(FaultNames::tr("%1 stopped"));
    case Kind::Restart:
      return says(FaultNames::tr("%1 restarts"));
    case Kind::Wipe:
      return says(FaultNames::tr("%1 wiped"));
    case Kind::SlowDisk:
      return FaultNames::tr("%1: disk %2").arg(who, lateText(fault));
    case Kind::DiskError:
      return says(FaultNames::tr("%1: disk fails"));
    case Kind::FullDisk:
      return says(FaultNames::tr("%1: disk full"));
    case Kind::TornWrite:
      return says(FaultNames::tr("%1: torn write"));
    case Kind::BitFlip:
      return FaultNames::tr("%1: bit flipped in %2").arg(who, fromUtf8(fault.path));
    case Kind::ClockOffset:
      return FaultNames::tr("%1: clock %2").arg(who, signedText(fault.offset));
    case Kind::ClockJump:
      return FaultNames::tr("%1: clock jumps %2").arg(who, signedText(fault.offset));
    case Kind::ClockDrift:
      return FaultNames::tr("%1: clock × %2").arg(who).arg(fault.rate);
    case Kind::RequestError:
      return requestTitle(fault, FaultNames::tr("→ %1").arg(fromUtf8(errorName(fault.error))));
    case Kind::RequestDelay:
      return requestTitle(fault, lateText(fault));
    case Kind::RequestDrop:
      return requestTitle(fault, FaultNames::tr("dropped"));
    case Kind::RequestDisconnect:
      return requestTitle(fault, FaultNames::tr("disconnected"));
  }
  return {};
}

QString faultOccasions(const faults::Trigger& trigger) {
  switch (trigger.which) {
    case faults::Trigger::Which::Nth:
      return trigger.n == 1 ? FaultNames::tr("the next, then over")
                            : FaultNames::tr("number %1, then over").arg(trigger.n);
    case faults::Trigger::Which::EveryNth:
      return trigger.n == 1 ? QString() : FaultNames::tr("each %1th").arg(trigger.n);
    case faults::Trigger::Which::Chance:
      return FaultNames::tr("%1 % of them").arg(trigger.chance * 100);
    case faults::Trigger::Which::Each:
      break;
  }
  return {};
}

QString faultFiredText(Kind kind, uint64_t times) {
  const auto count = static_cast<int64_t>(times);
  const QString number = grouped(count);
  switch (faults::areaOf(kind)) {
    case faults::Area::Links:
      return FaultNames::tr("%1 transfer(s)", nullptr, pluralOf(count)).arg(number);
    case faults::Area::Disks:
      return FaultNames::tr("%1 call(s)", nullptr, pluralOf(count)).arg(number);
    case faults::Area::Requests:
      return FaultNames::tr("%1 request(s)", nullptr, pluralOf(count)).arg(number);
    case faults::Area::Brokers:
      return kind == Kind::Slow ? FaultNames::tr("%1 task(s)", nullptr, pluralOf(count)).arg(number) : QString();
    case faults::Area::Clocks:
      break;
  }
  return {};
}

QString faultHeldText(const observe::FaultSnapshot& fault) {
  if (fault.waits || !faults::keepsBack(fault.fault.kind)) return {};
  if (fault.held == 0 && fault.fault.kind != Kind::Hold) return {};
  return FaultNames::tr("%1 held").arg(grouped(static_cast<int64_t>(fault.held)));
}

StateLook lookOf(const observe::FaultSnapshot& fault) {
  StateLook look = lookOf(fault.fault.kind);
  if (fault.waits) look.shape = StateShape::Ring;
  return look;
}

StateLook lookOf(Kind kind) {
  const Palette& p = colors();
  switch (kind) {
    case Kind::Cut:
    case Kind::Reset:
    case Kind::Isolate:
    case Kind::Halves:
    case Kind::Bridge:
    case Kind::Ring:
    case Kind::Kill:
    case Kind::PowerLoss:
    case Kind::Stop:
    case Kind::Restart:
      return {StateShape::Cross, p.bad, p.badText, p.badSoft, {}};
    case Kind::Pause:
    case Kind::Hold:
      return {StateShape::Bars, p.warn, p.warnText, p.warnSoft, {}};
    default:
      return {StateShape::Triangle, p.fault, p.warnText, p.warnSoft, {}};
  }
}

}  // namespace tidemark::widgets
