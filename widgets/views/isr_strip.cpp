#include "views/isr_strip.h"

#include <algorithm>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "timeline/cause_words.h"

namespace tidemark::widgets {

namespace {

constexpr double kTop = 28;
constexpr double kLeft = 20;
constexpr double kRight = 31;

/// Whether that event changed how this broker's copy stands.
bool changes(const events::Payload& payload, NodeId broker) {
  if (const auto* shrunk = std::get_if<events::IsrShrunk>(&payload)) return shrunk->removed == broker;
  if (const auto* grown = std::get_if<events::IsrExpanded>(&payload)) return grown->added == broker;
  const auto* elected = std::get_if<events::LeaderElected>(&payload);
  return elected != nullptr && (elected->to == broker || elected->from == broker);
}

}  // namespace

IsrStrip::IsrStrip(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QWidget(parent), m_bridge(bridge), m_travel(travel) {
  setAccessibleName(tr("ISR of the partition over time; the timeline (5) has the same for the keys"));
  setCursor(Qt::PointingHandCursor);
  connect(&travel.axis(), &TimeAxis::rangeChanged, this, qOverload<>(&QWidget::update));
  connect(&travel.axis(), &TimeAxis::cursorChanged, this, qOverload<>(&QWidget::update));
  connect(&bridge, &EngineBridge::live, this, [this](const Frame& frame) {
    if (!m_partition || frame.snapshot == frame.previous) return;
    const auto* now = observe::findPartition(*frame.snapshot, *m_partition);
    const auto* before = observe::findPartition(*frame.previous, *m_partition);
    if (now == nullptr || before == nullptr || now->isr != before->isr || now->leader != before->leader) update();
  });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

const TimelinePartition* IsrStrip::past() const {
  return m_partition ? m_travel.past().find(*m_partition) : nullptr;
}

platform::WallTime IsrStrip::timeAt(double x) const {
  return m_travel.axis().at(std::clamp((x - kLeft) / std::max(1.0, width() - kRight - kLeft), 0.0, 1.0));
}

void IsrStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_travel.pause();
  m_travel.lookAt(timeAt(event->position().x()));
}

void IsrStrip::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) m_travel.lookAt(timeAt(event->position().x()));
}

void IsrStrip::setPartition(const std::optional<TopicPartition>& partition) {
  m_partition = partition;
  updateGeometry();
  update();
}

double IsrStrip::rowHeight() const {
  const auto* partition = m_partition ? observe::findPartition(*m_bridge.snapshot(), *m_partition) : nullptr;
  const double rows = partition == nullptr ? 3 : std::max<double>(1, static_cast<double>(partition->copies.size()));
  return std::min(17.0, (height() - kTop) / rows);
}

QSize IsrStrip::sizeHint() const {
  return {700, 82};
}

void IsrStrip::paintEvent(QPaintEvent*) {
  const auto* partition = m_partition ? observe::findPartition(*m_bridge.snapshot(), *m_partition) : nullptr;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  if (partition == nullptr) return;
  painter.setFont(Theme::body(11));
  painter.setPen(p.muted);
  const TimeAxis& axis = m_travel.axis();
  const QString length = durationText(axis.span());
  const QString span = axis.follows() ? tr("last %1 – drag to look back").arg(length)
                                      : tr("%1 – %2").arg(timeText(axis.begin()).section(QLatin1Char('.'), 0, 0),
                                                          timeText(axis.end()).section(QLatin1Char('.'), 0, 0));
  const QFontMetricsF metrics(painter.font());
  const double room = width() - kRight - metrics.horizontalAdvance(span) - 16;
  const auto* topic = observe::findTopic(*m_bridge.snapshot(), m_partition->topic);
  const QString title = tr("ISR of %1").arg(partitionText(*m_partition));
  if (topic != nullptr && observe::isBelowMinInSync(*topic, *partition)) {
    const QString trouble =
        tr("%1 in sync, min.insync %2: acks=all is refused").arg(partition->isr.size()).arg(topic->minInSync);
    const QString left = metrics.elidedText(title + QStringLiteral("  "), Qt::ElideMiddle,
                                            std::max(60.0, room - metrics.horizontalAdvance(trouble)));
    painter.drawText(QPointF(0, 20), left);
    painter.setPen(p.badText);
    const double at = metrics.horizontalAdvance(left);
    painter.drawText(QPointF(at, 20), metrics.elidedText(trouble, Qt::ElideRight, std::max(0.0, room - at)));
  } else {
    painter.drawText(QPointF(0, 20), metrics.elidedText(title, Qt::ElideMiddle, room));
  }
  painter.setPen(p.heads);
  painter.drawText(QPointF(width() - kRight + 1 - QFontMetricsF(painter.font()).horizontalAdvance(span), 20), span);

  const double left = kLeft;
  const double right = width() - kRight;
  const auto x = [&](platform::WallTime time) {
    return std::clamp(left + axis.part(time) * (right - left), left, right);
  };
  const TimelinePartition* known = past();
  const double pitch = rowHeight();
  const double bar = std::max(4.0, pitch - 4);
  const QBrush warnHatch = hatch(Qt::transparent, p.warn, 6, 1.2);
  const QBrush badHatch = hatch(Qt::transparent, p.bad, 6, 1.2);
  for (size_t i = 0; i < partition->copies.size(); ++i) {
    const NodeId broker = partition->copies[i].broker;
    const double y = kTop + static_cast<double>(i) * pitch;
    painter.setFont(Theme::mono(std::min(11.0, bar), QFont::DemiBold));
    painter.setPen(p.muted);
    painter.drawText(QPointF(0, y + bar / 2 + 4), QString::number(broker.value()));
    painter.setPen(Qt::NoPen);
    if (known == nullptr) continue;
    const auto copy = known->copies.find(broker);
    if (copy == known->copies.end() || copy->second.stretches.empty()) continue;
    const auto& stretches = copy->second.stretches;
    const double seen = x(stretches.front().begin);
    if (seen - left > 2) {
      painter.setBrush(p.stripUnknown);
      painter.drawRoundedRect(QRectF(left, y, seen - left - 1.4, bar), 3, 3);
    }
    for (size_t s = 0; s < stretches.size(); ++s) {
      const TimelineStretch& stretch = stretches[s];
      const double from = x(stretch.begin);
      const double to = s + 1 < stretches.size() ? x(stretches[s + 1].begin) - 1.4 : right;
      if (to - from < 0.5) continue;
      const QRectF box(from, y, to - from, bar);
      const double radius = std::min(3.0, box.width() / 2);
      painter.setOpacity(1);
      painter.setBrush(stretch.leader                                    ? p.epoch(stretch.epoch)
                       : stretch.isAway()                                ? p.stripDown
                       : stretch.state == TimelineStretch::State::Fenced ? p.fencedSoft
                       : stretch.state == TimelineStretch::State::Behind ? p.stripOut
                                                                         : p.stripIn);
      painter.drawRoundedRect(box, radius, radius);
      if (stretch.leader) {
        painter.setBrush(p.onEpoch);
        if (box.width() > 18 && bar > 8) painter.drawPath(crownPath({from + 6, y + bar / 2 + 3.4}, 10.4));
        const QString text = tr("epoch %1").arg(stretch.epoch.value());
        painter.setFont(Theme::body(10, QFont::DemiBold));
        if (box.width() > 26 + QFontMetricsF(painter.font()).horizontalAdvance(text) && bar > 8) {
          painter.setPen(p.onEpoch);
          painter.drawText(QPointF(from + 20, y + bar / 2 + 3.8), text);
          painter.setPen(Qt::NoPen);
        }
      } else if (stretch.state != TimelineStretch::State::InSync) {
        painter.setOpacity(0.35);
        painter.setBrush(stretch.isAway() ? badHatch : warnHatch);
        painter.drawRoundedRect(box, radius, radius);
        painter.setOpacity(1);
      }
    }
  }
  // Where the window stands: at the right edge while it follows the present.
  const auto cursor = axis.cursor();
  if (!cursor && !axis.follows()) return;
  const double at = cursor ? left + axis.part(*cursor) * (right - left) : right + 1;
  if (at < left - 1 || at > right + 2) return;
  const double foot = kTop + pitch * static_cast<double>(partition->copies.size());
  painter.setPen(QPen(axis.held() ? p.fenced : p.accent, 2));
  painter.drawLine(QPointF(at, kTop - 4), QPointF(at, foot));
}

bool IsrStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto* partition = m_partition ? observe::findPartition(*m_bridge.snapshot(), *m_partition) : nullptr;
  const auto row = static_cast<size_t>(std::max(0.0, (help->pos().y() - kTop) / rowHeight()));
  if (partition == nullptr || help->pos().y() < kTop || row >= partition->copies.size()) {
    QToolTip::hideText();
    return true;
  }
  const NodeId broker = partition->copies[row].broker;
  const TimelinePartition* known = past();
  const auto copy = known == nullptr ? decltype(known->copies.begin()){} : known->copies.find(broker);
  if (known == nullptr || copy == known->copies.end()) return true;
  const TimelineStretch* found = copy->second.at(timeAt(help->pos().x()));
  if (found == nullptr) return true;
  using State = TimelineStretch::State;
  const QString state = found->state == State::Down      ? tr("did not run")
                        : found->state == State::Offline ? tr("was offline: its log directory had failed")
                        : found->state == State::Fenced  ? tr("was fenced")
                        : found->state == State::Behind  ? tr("out of the ISR")
                        : found->leader                  ? tr("led in epoch %1").arg(found->epoch.value())
                                                         : tr("in sync");
  QString text = tr("Broker %1 %2, since %3").arg(QString::number(broker.value()), state, timeText(found->begin));
  // Why, if an event tells it.
  for (const observe::ObservedEvent& one : known->events) {
    if (std::chrono::abs(one.event.wall - found->begin) > TimelinePast::kSnapshotLag ||
        !changes(one.event.payload, broker))
      continue;
    const CauseWords cause = causeOf(one, *known, *m_bridge.snapshot());
    text += QLatin1Char('\n') + tr("%1: %2").arg(cause.title, cause.lines.join(QLatin1Char('\n')));
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace tidemark::widgets
