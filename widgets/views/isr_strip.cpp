#include "views/isr_strip.h"

#include <algorithm>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kTop = 28;
constexpr double kLeft = 20;
constexpr double kRight = 31;

}  // namespace

IsrStrip::IsrStrip(EngineBridge& bridge, const PartitionPast& past, QWidget* parent)
    : QWidget(parent), m_bridge(bridge), m_past(past) {
  setAccessibleName(tr("ISR of the partition over the last two minutes"));
  // Time moves it by nine pixels a second: a repaint a second is enough, and one when something changed.
  connect(&bridge, &EngineBridge::second, this, qOverload<>(&QWidget::update));
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (!m_partition || frame.snapshot == frame.previous) return;
    const auto* now = observe::findPartition(*frame.snapshot, *m_partition);
    const auto* before = observe::findPartition(*frame.previous, *m_partition);
    if (now == nullptr || before == nullptr || now->isr != before->isr || now->leader != before->leader) update();
  });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
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
  const QString span = tr("last 2 minutes");
  const QFontMetricsF metrics(painter.font());
  const double room = width() - kRight - metrics.horizontalAdvance(span) - 16;
  const auto* topic = observe::findTopic(*m_bridge.snapshot(), m_partition->topic);
  const QString title = tr("ISR of %1").arg(partitionText(*m_partition));
  if (topic != nullptr && observe::isBelowMinInSync(*topic, *partition)) {
    const QString trouble = tr("%1 in sync, min.insync %2: acks=all is refused").arg(partition->isr.size()).arg(topic->minInSync);
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

  using Ms = std::chrono::duration<double, std::milli>;
  const auto now =
      m_bridge.snapshot()->wall + std::chrono::duration_cast<platform::WallClock::duration>(m_bridge.age());
  const double left = kLeft;
  const double right = width() - kRight;
  const auto x = [&](platform::WallTime time) {
    const double ago = Ms(now - time).count() / Ms(PartitionPast::kKept).count();
    return std::clamp(right - ago * (right - left), left, right);
  };
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
    const PartitionPast::Copy* copy = m_past.copy(*m_partition, broker);
    if (copy == nullptr || copy->stretches.empty()) continue;
    const double known = x(copy->stretches.front().begin);
    if (known - left > 2) {
      painter.setBrush(p.stripUnknown);
      painter.drawRoundedRect(QRectF(left, y, known - left - 1.4, bar), 3, 3);
    }
    for (size_t s = 0; s < copy->stretches.size(); ++s) {
      const CopyStretch& stretch = copy->stretches[s];
      const double from = x(stretch.begin);
      const double to = s + 1 < copy->stretches.size() ? x(copy->stretches[s + 1].begin) - 1.4 : right;
      if (to - from < 0.5) continue;
      const QRectF box(from, y, to - from, bar);
      const double radius = std::min(3.0, box.width() / 2);
      painter.setOpacity(1);
      painter.setBrush(stretch.leader                                ? p.epoch(stretch.epoch)
                       : stretch.state == CopyStretch::State::Down   ? p.stripDown
                       : stretch.state == CopyStretch::State::Behind ? p.stripOut
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
      } else if (stretch.state != CopyStretch::State::InSync) {
        painter.setOpacity(0.35);
        painter.setBrush(stretch.state == CopyStretch::State::Down ? badHatch : warnHatch);
        painter.drawRoundedRect(box, radius, radius);
        painter.setOpacity(1);
      }
    }
  }
  painter.setPen(QPen(p.accent, 2));
  painter.drawLine(QPointF(right + 1, kTop - 4),
                   QPointF(right + 1, kTop + pitch * static_cast<double>(partition->copies.size())));
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
  const PartitionPast::Copy* copy = m_past.copy(*m_partition, broker);
  if (copy == nullptr) return true;
  const double part = (help->pos().x() - kLeft) / std::max(1.0, width() - kRight - kLeft);
  const auto now =
      m_bridge.snapshot()->wall + std::chrono::duration_cast<platform::WallClock::duration>(m_bridge.age());
  const auto at = now - std::chrono::milliseconds(static_cast<int64_t>((1 - part) * 120'000));
  const CopyStretch* found = nullptr;
  for (const CopyStretch& stretch : copy->stretches)
    if (stretch.begin <= at) found = &stretch;
  if (found == nullptr) return true;
  const QString state = found->state == CopyStretch::State::Down     ? tr("did not run")
                        : found->state == CopyStretch::State::Behind ? tr("out of the ISR")
                        : found->leader                              ? tr("led in epoch %1").arg(found->epoch.value())
                                                                     : tr("in sync");
  QToolTip::showText(help->globalPos(),
                     tr("Broker %1 %2, since %3").arg(QString::number(broker.value()), state, timeText(found->begin)),
                     this);
  return true;
}

}  // namespace tidemark::widgets
