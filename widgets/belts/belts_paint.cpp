// How the belts are drawn: one function for each thing one sees, from the back to the front.
#include <algorithm>
#include <cmath>
#include <optional>

#include <QPainter>
#include <QPainterPath>

#include "belts/belts_view.h"
#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::BatchSnapshot;
using observe::BrokerState;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

namespace {

constexpr double kBatchTop = 34;
constexpr double kBatchHeight = 34;
constexpr double kRail = 70;

double number(Offset offset) {
  return static_cast<double>(offset.value());
}

void drawText(QPainter& painter, double x, double baseline, const QString& text, const QFont& font, const QColor& color,
              Qt::Alignment align = Qt::AlignLeft) {
  painter.setFont(font);
  painter.setPen(color);
  const double width = QFontMetricsF(font).horizontalAdvance(text);
  const double left = align & Qt::AlignRight ? x - width : align & Qt::AlignHCenter ? x - width / 2 : x;
  painter.drawText(QPointF(left, baseline), text);
}

/// Neighbours that are too narrow to be seen apart are drawn as one block.
struct Run {
  Offset base, last;
  LeaderEpoch epoch;
  int records = 0;
  int batches = 0;
  bool committed = false;
  /// Of the transaction that its batches belong to.
  observe::TransactionFate fate = observe::TransactionFate::Unknown;
  bool control = false;
  /// Its leader does not have it.
  bool parted = false;
};

QBrush laneGround(const Palette& p, const ReplicaSnapshot& replica, BrokerState state) {
  const auto mixed = [](const QColor& a, const QColor& b, double part) {
    return QColor::fromRgbF(static_cast<float>(a.redF() * (1 - part) + b.redF() * part),
                            static_cast<float>(a.greenF() * (1 - part) + b.greenF() * part),
                            static_cast<float>(a.blueF() * (1 - part) + b.blueF() * part));
  };
  if (state == BrokerState::Killed || state == BrokerState::Stopped)
    return hatch(p.hatchGround, mixed(p.hatchLine, p.bad, p.dark ? 0.3 : 0.2));
  if (state == BrokerState::Fenced) return hatch(p.hatchGround, mixed(p.hatchLine, p.fenced, p.dark ? 0.3 : 0.28));
  if (state == BrokerState::Paused || !replica.inSync) return hatch(p.hatchGround, p.hatchLine);
  return p.panel;
}

}  // namespace

void BeltsView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), colors().background);
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) {
    paintNothing(painter);
    return;
  }
  const BeltsLayout layout = layoutOfBelts();
  for (int i = 0; i < layout.laneCount; ++i) paintLane(painter, *partition, i);
  paintEpochs(painter);
  paintLost(painter);
  paintFetches(painter, *partition);
  paintHighWatermark(painter, *partition);
  paintAxis(painter);
  paintReaders(painter, *partition);
  paintPurgatory(painter);
  if (!m_viewport.followsTail()) paintFollowPill(painter);
  paintBanner(painter);
  if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colors().accent, 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(3, 1, -3, -1), 6, 6);
  }
}

void BeltsView::paintNothing(QPainter& painter) const {
  const Palette& p = colors();
  const double middle = width() / 2.0;
  const bool past = m_partition && m_bridge.moment();
  drawText(painter, middle, 150,
           past ? tr("%1 did not exist then").arg(partitionText(*m_partition)) : tr("No partition is chosen"),
           Theme::body(16, QFont::DemiBold), p.ink, Qt::AlignHCenter);
  drawText(painter, middle, 174,
           past ? tr("Go on in time with . or the bar above.") : tr("Create a topic, or pick one on the left."),
           Theme::body(13), p.muted, Qt::AlignHCenter);
}

void BeltsView::paintLane(QPainter& painter, const PartitionSnapshot& partition, int index) const {
  const Palette& p = colors();
  const ReplicaSnapshot& replica = partition.copies[static_cast<size_t>(index)];
  const BrokerState state = brokerState(replica.broker);
  const BeltsLayout layout = layoutOfBelts();
  const QRectF lane = layout.lane(index);
  const bool dim = state == BrokerState::Killed || state == BrokerState::Stopped || state == BrokerState::Paused ||
                   (!replica.inSync && state != BrokerState::Running);

  painter.setPen(QPen(p.line, 1));
  painter.setBrush(laneGround(p, replica, state));
  painter.drawRoundedRect(lane.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);

  const double left = lane.left() + 14;
  const QFont title = Theme::body(14, QFont::Bold);
  const QString name = tr("Broker %1").arg(replica.broker.value());
  drawText(painter, left, lane.top() + 30, name, title, dim ? p.muted : p.ink);
  if (replica.leader) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.leaderCrown);
    painter.drawPath(crownPath({left + QFontMetricsF(title).horizontalAdvance(name) + 9, lane.top() + 28}, 16));
  }
  drawText(painter, left, lane.top() + 50, replica.leader ? tr("leader") : tr("follower"), Theme::body(12), p.muted);
  const StateLook look = lookOf(replica, state);
  drawShape(painter, look.shape, {left + 5, lane.top() + 72}, 9, look.color);
  drawText(painter, left + 16, lane.top() + 76, look.word, Theme::body(12, QFont::DemiBold), look.textColor);

  const double beltLeft = layout.beltLeft();
  const double beltWidth = layout.beltWidth();
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.rail);
  painter.drawRoundedRect(QRectF(beltLeft, lane.top() + kRail, beltWidth, 5), 2.5, 2.5);
  painter.save();
  painter.setClipRect(QRectF(beltLeft - 1, lane.top() + 1, beltWidth + 2, lane.height() - 2));
  // Rollers run with the belt.
  painter.setBrush(p.roller);
  const qint64 time = now();
  const double shift = std::fmod(m_viewport.first(time) * m_viewport.scale(time), 26.0);
  for (double x = beltLeft + 13 - shift - 26; x < beltLeft + beltWidth + 26; x += 26)
    painter.drawEllipse(QPointF(x, lane.top() + 78), 3.4, 3.4);
  const double hw = m_highWatermark.at(time);
  const std::optional<Offset> parts = partsFrom(partition, replica);
  paintBatches(painter, replica, lane, hw, parts);
  paintSegments(painter, replica, lane, index == 0);
  paintGhosts(painter, replica, lane);
  if (parts) paintParting(painter, partition, replica, lane, *parts);
  painter.restore();
  paintLogEnd(painter, replica, lane, dim);
  if (replica.leader) paintLastStable(painter, lane);
}

void BeltsView::paintBatches(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane, double hw,
                             const std::optional<Offset>& parts) const {
  const Palette& p = colors();
  const qint64 time = now();
  const double beltLeft = layoutOfBelts().beltLeft();
  const double beltWidth = layoutOfBelts().beltWidth();
  const double scale = m_viewport.scale(time);
  const double y = lane.top() + kBatchTop;
  const auto x = [&](Offset offset) { return beltLeft + m_viewport.x(number(offset), time); };
  const double end =
      m_lanes.contains(replica.broker) ? m_lanes.at(replica.broker).logEnd.at(time) : number(replica.logEnd);

  // Records that are on the disk but not in the snapshot: a plain block.
  const Offset firstKnown = replica.batches.empty() ? replica.logEnd : replica.batches.front().baseOffset;
  if (replica.logStart.value() >= 0 && replica.logStart < firstKnown) {
    const double from = std::max(x(replica.logStart), beltLeft - 20);
    const double to = std::min(x(firstKnown), beltLeft + beltWidth + 20);
    if (to - from > 2) {
      painter.setPen(QPen(p.line, 1));
      painter.setBrush(p.sunken);
      painter.drawRoundedRect(QRectF(from + 1, y, to - from - 2, kBatchHeight), 4, 4);
      const QRectF seen =
          QRectF(from, y, to - from, kBatchHeight).intersected(QRectF(beltLeft, y, beltWidth, kBatchHeight));
      if (seen.width() > 110) {
        painter.setFont(Theme::body(11));
        painter.setPen(p.muted);
        painter.drawText(seen, Qt::AlignCenter, replica.online ? tr("older records") : tr("records on its disk"));
      }
    }
  }

  std::vector<Run> runs;
  for (const BatchSnapshot& batch : replica.batches) {
    if (x(batch.lastOffset.next()) < beltLeft - 40 || x(batch.baseOffset) > beltLeft + beltWidth + 40) continue;
    // What the log end has not reached yet, on its way, is not drawn yet.
    if (number(batch.baseOffset) >= end) break;
    // The line counts as past a record once it is past its middle.
    const bool parted = parts && batch.baseOffset >= *parts;
    const bool committed = !parted && number(batch.lastOffset) + 0.5 <= hw;
    const double width = (number(batch.lastOffset) + 1 - number(batch.baseOffset)) * scale;
    if (!runs.empty() && runs.back().epoch == batch.epoch && runs.back().committed == committed &&
        runs.back().parted == parted && runs.back().fate == batch.fate && runs.back().control == batch.control &&
        (width < 5 || (number(runs.back().last) + 1 - number(runs.back().base)) * scale < 5)) {
      runs.back().last = batch.lastOffset;
      runs.back().records += batch.recordCount;
      ++runs.back().batches;
      continue;
    }
    runs.push_back({batch.baseOffset, batch.lastOffset, batch.epoch, batch.recordCount, 1, committed, batch.fate,
                    batch.control, parted});
  }

  double labelFree = -1e9;
  const QFont labelFont = Theme::mono(10);
  const QFont epochFont = Theme::body(10, QFont::Bold);
  // Colours come again after three epochs: wherever two meet the number stands beside the fill.
  const bool severalEpochs = m_legend.size() > 1;
  std::optional<LeaderEpoch> told;
  const double gap = scale >= 2 ? 1.5 : 0.5;
  for (const Run& run : runs) {
    const double left = x(run.base);
    const double right = std::min(x(run.last.next()), beltLeft + m_viewport.x(end, time));
    const QRectF box(left + gap, y, std::max(1.0, right - left - 2 * gap), kBatchHeight);
    const QColor& color = p.epoch(run.epoch);
    const double radius = std::min(4.0, box.width() / 3);
    const bool selected = m_selected && m_selected->broker == replica.broker && m_selected->base == run.base;
    const bool hovered = m_hovered && m_hovered->base == run.base;
    if (run.committed) {
      painter.setPen(QPen(color, 1.6));
      painter.setBrush(color);
    } else {
      QPen pen(color, 1.6);
      pen.setDashPattern({2.5, 1.9});
      if (run.parted) pen.setColor(p.bad);
      painter.setPen(pen);
      painter.setBrush(run.parted ? hatch(p.badSoft, p.bad, 6, 1.1) : QBrush(p.panel));
    }
    painter.drawRoundedRect(box, radius, radius);
    const double inner = box.width() - 6;
    const double slot = run.records > 0 ? (inner - 2.0 * (run.records - 1)) / run.records : 0;
    if (run.batches == 1 && slot >= 2.5 && !run.parted) {
      QColor shine = run.committed ? p.recordShine : color;
      if (!run.committed) shine.setAlphaF(0.35f);
      painter.setPen(Qt::NoPen);
      painter.setBrush(shine);
      for (int i = 0; i < run.records; ++i)
        painter.drawRoundedRect(QRectF(box.left() + 3 + i * (slot + 2), y + 5, slot, kBatchHeight - 10), 2, 2);
    }
    if (run.fate != observe::TransactionFate::Unknown) paintTransaction(painter, box, run.fate, run.control);
    if (selected || hovered) {
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(selected ? p.ink : p.muted, selected ? 2 : 1.2));
      painter.drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), radius + 1, radius + 1);
    }
    if (severalEpochs && told != run.epoch && right > beltLeft + 8) {
      told = run.epoch;
      const QString epoch = tr("epoch %1").arg(run.epoch.value());
      const double at = std::max({left + 2, beltLeft + 2, labelFree});
      const double epochWidth = QFontMetricsF(epochFont).horizontalAdvance(epoch);
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      painter.drawRoundedRect(QRectF(at, lane.top() + 18.5, epochWidth + 10, 13), 6.5, 6.5);
      drawText(painter, at + 5, lane.top() + 28.5, epoch, epochFont, p.onEpoch);
      labelFree = at + epochWidth + 14;
    }
    const QString label = grouped(run.base.value());
    const double labelWidth = QFontMetricsF(labelFont).horizontalAdvance(label);
    if (left + 4 > labelFree && left + 4 >= beltLeft) {
      drawText(painter, left + 4, lane.top() + 29, label, labelFont, p.heads);
      labelFree = left + 4 + labelWidth + 10;
    }
  }

  // Index entries: a tick between the records and the rail.
  painter.setPen(QPen(p.indexTick, 2, Qt::SolidLine, Qt::FlatCap));
  double lastTick = -1e9;
  for (const observe::IndexEntrySnapshot& entry : replica.indexEntries) {
    const double at = x(entry.offset) + scale / 2;
    if (at < beltLeft || at > beltLeft + beltWidth || at - lastTick < 3 || number(entry.offset) >= end) continue;
    painter.drawLine(QPointF(at, lane.top() + kRail - 1), QPointF(at, lane.top() + kRail + 5));
    lastTick = at;
  }
}

void BeltsView::paintSegments(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane,
                              bool withNames) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  double nameFree = -1e9;
  const QFont font = Theme::mono(10);
  for (const observe::SegmentSnapshot& segment : replica.segments) {
    const double x = layout.beltLeft() + m_viewport.x(number(segment.baseOffset), time);
    if (x < layout.beltLeft() - 300 || x > layout.beltLeft() + layout.beltWidth()) continue;
    if (x >= layout.beltLeft() - 1) {
      QPen pen(p.violet, 1.2);
      pen.setDashPattern({2.5, 2.5});
      painter.setPen(pen);
      painter.drawLine(QPointF(x, lane.top() + 18), QPointF(x, lane.top() + 84));
    }
    if (!withNames) continue;
    const QString name = segmentFileName(segment.baseOffset);
    const double at = std::max(x + 5, layout.beltLeft() + 1);
    const double width = QFontMetricsF(font).horizontalAdvance(name);
    if (at < nameFree || (x < layout.beltLeft() && x + 5 + width < layout.beltLeft())) continue;
    if (x < layout.beltLeft()) continue;
    drawText(painter, at, lane.top() + 15, name, font, p.violet);
    nameFree = at + width + 12;
  }
}

void BeltsView::paintLogEnd(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane, bool dim) const {
  if (replica.logEnd.value() < 0) return;
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const auto known = m_lanes.find(replica.broker);
  const double end = known == m_lanes.end() ? number(replica.logEnd) : known->second.logEnd.at(time);
  const double x = layout.beltLeft() + m_viewport.x(end, time);
  const double right = layout.beltLeft() + layout.beltWidth();
  const QColor color = dim ? p.muted : p.ink;
  const QFont font = Theme::mono(11, QFont::DemiBold);
  const QString text = tr("LEO %1").arg(offsetText(replica.logEnd));
  const double width = QFontMetricsF(font).horizontalAdvance(text);
  if (x > right || x < layout.beltLeft()) {
    const bool beyond = x > right;
    drawText(painter, beyond ? right : layout.beltLeft(), lane.top() + 92,
             beyond ? tr("%1 ▸").arg(text) : tr("◂ %1").arg(text), font, color,
             beyond ? Qt::AlignRight : Qt::AlignLeft);
    return;
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({{x, lane.top() + 70}, {x - 6, lane.top() + 82}, {x + 6, lane.top() + 82}}));
  // The text stands on the rollers: they give way.
  const bool turned = x + 9 + width > lane.right() - 6;
  const double at = turned ? x - 9 - width : x + 9;
  painter.setBrush(p.panel);
  if (!dim && replica.inSync) painter.drawRect(QRectF(at - 2, lane.top() + 75.5, width + 4, 15));
  drawText(painter, at, lane.top() + 88, text, font, color);
}

void BeltsView::paintFetches(QPainter& painter, const PartitionSnapshot& partition) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const auto leader = std::ranges::find(partition.copies, true, &ReplicaSnapshot::leader);
  if (leader == partition.copies.end() || brokerState(leader->broker) != BrokerState::Running) return;
  const int leaderLane = static_cast<int>(leader - partition.copies.begin());
  const double right = layout.beltLeft() + layout.beltWidth();
  const auto endX = [&](NodeId broker) {
    return layout.beltLeft() + m_viewport.x(m_lanes.at(broker).logEnd.at(time), time);
  };
  for (size_t i = 0; i < partition.copies.size(); ++i) {
    const ReplicaSnapshot& replica = partition.copies[i];
    if (replica.leader || !m_lanes.contains(replica.broker) || !m_lanes.contains(leader->broker)) continue;
    if (brokerState(replica.broker) != BrokerState::Running) continue;
    const qint64 since = time - m_lanes.at(replica.broker).fetchedAt;
    double opacity = since >= kFetchShownMs ? 0
                     : since < 250          ? 1
                                            : 1 - (static_cast<double>(since) - 250) / double{kFetchShownMs - 250};
    if (replica.logEnd < leader->logEnd) opacity = 1;
    if (opacity <= 0) continue;
    const double fromX = endX(replica.broker);
    const double toX = endX(leader->broker);
    if (fromX < layout.beltLeft() || fromX > right || toX < layout.beltLeft() || toX > right) continue;
    const bool up = leaderLane < static_cast<int>(i);
    const QRectF fromLane = layout.lane(static_cast<int>(i));
    const QRectF toLane = layout.lane(leaderLane);
    const QPointF from(fromX + 6, up ? fromLane.top() + 58 : fromLane.top() + 92);
    const QPointF to(toX + 1, up ? toLane.bottom() - 6 : toLane.top() + 30);
    // From further away it swings wider, so that two arrows to one leader do not cross.
    const auto away = static_cast<double>(std::abs(leaderLane - static_cast<int>(i)));
    const double bulge = std::min(right + 10, std::max(from.x(), to.x()) + 40 + 22 * away);
    const double height = std::abs(from.y() - to.y());
    const QPointF c1(bulge, from.y() + (up ? -0.24 : 0.24) * height);
    const QPointF c2(bulge, to.y() + (up ? 0.29 : -0.29) * height);
    painter.setOpacity(opacity);
    QPainterPath path(from);
    path.cubicTo(c1, c2, to);
    QPen pen(p.arrow, 2);
    pen.setDashPattern({2.5, 2});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    // The head, along the end of the curve.
    const double angle = std::atan2(to.y() - c2.y(), to.x() - c2.x());
    const auto corner = [&](double turn) {
      return QPointF(to.x() + 11 * std::cos(angle + M_PI + turn), to.y() + 11 * std::sin(angle + M_PI + turn));
    };
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.arrow);
    painter.drawPolygon(
        QPolygonF({to + QPointF(std::cos(angle) * 2, std::sin(angle) * 2), corner(0.42), corner(-0.42)}));
    const QString text = tr("fetch %1").arg(offsetText(replica.fetchOffset));
    const QFont font = Theme::body(11, QFont::DemiBold);
    const double width = QFontMetricsF(font).horizontalAdvance(text);
    // Beside the arrow, in the gap next to the follower's own lane: nothing else stands there.
    const double textY = up ? fromLane.top() - 5 : fromLane.bottom() + layout.laneGap - 5;
    double beside = 0;
    for (int step = 0; step <= 20; ++step)
      if (const QPointF at = path.pointAtPercent(step / 20.0); std::abs(at.y() - textY + 4) < 12)
        beside = std::max(beside, at.x());
    if (beside == 0) beside = path.pointAtPercent(0.5).x();
    const double textX = std::min(beside + 7, layout.width - BeltsLayout::kMargin - width - 8);
    // In a narrow gap it stands on the lanes' borders: they give way.
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.background);
    painter.drawRoundedRect(QRectF(textX - 3, textY - 11, width + 6, 14), 4, 4);
    drawText(painter, textX, textY, text, font, p.accent);
    painter.setOpacity(1);
  }
}

void BeltsView::paintHighWatermark(QPainter& painter, const PartitionSnapshot& partition) const {
  if (partition.highWatermark.value() < 0) return;
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const double x = layout.beltLeft() + m_viewport.x(m_highWatermark.at(time), time);
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  const bool seen = x >= left - 1 && x <= right + 1;
  QString text = tr("high watermark %1").arg(offsetText(partition.highWatermark));
  if (!seen) text = x > right ? tr("%1 ▸").arg(text) : tr("◂ %1").arg(text);
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const double width = QFontMetricsF(font).horizontalAdvance(text) + 26;
  const double pillLeft = std::clamp(x - width / 2, left, right + BeltsLayout::kRightPadding - width);
  const double top = layout.bannerHeight;
  if (seen) {
    painter.setPen(QPen(p.highWatermark, 2.5));
    painter.drawLine(QPointF(x, top + 12), QPointF(x, layout.lanesBottom() + 8));
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.highWatermark);
  painter.drawRoundedRect(QRectF(pillLeft, top + 4, width, 22), 11, 11);
  drawText(painter, pillLeft + width / 2, top + 19.5, text, font, p.onHighWatermark, Qt::AlignHCenter);
  if (seen && partition.logEnd > partition.highWatermark) {
    const QString note = tr("appended, not yet visible →");
    const QFont noteFont = Theme::body(11, QFont::Medium);
    const double noteWidth = QFontMetricsF(noteFont).horizontalAdvance(note);
    if (pillLeft + width + 10 + noteWidth <= this->width() - 8)
      drawText(painter, pillLeft + width + 10, top + 19, note, noteFont, p.highWatermark);
  }
}

void BeltsView::paintAxis(QPainter& painter) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const double y = layout.axisY();
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  painter.setPen(QPen(p.axis, 1));
  painter.drawLine(QPointF(left, y), QPointF(right, y));
  const double scale = m_viewport.scale(time);
  const double step = niceStep(92 / scale);
  const double first = std::ceil(m_viewport.first(time) / step) * step;
  for (double offset = std::max(0.0, first); left + m_viewport.x(offset, time) <= right; offset += step) {
    const double x = left + m_viewport.x(offset, time);
    if (x < left) continue;
    painter.setPen(QPen(p.axis, 1));
    painter.drawLine(QPointF(x, y), QPointF(x, y + 5));
    drawText(painter, x, y + 18, grouped(static_cast<int64_t>(offset)), Theme::mono(10.5), p.muted, Qt::AlignHCenter);
  }
  drawText(painter, BeltsLayout::kMargin + 14, y + 16, tr("offset"), Theme::body(11.5), p.muted);
  drawText(painter, BeltsLayout::kMargin + 14, layout.readersY() + 24, tr("readers"), Theme::body(11.5), p.muted);
}

void BeltsView::paintReaders(QPainter& painter, const PartitionSnapshot& partition) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  const double y = layout.readersY();
  std::vector<const observe::ReaderSnapshot*> readers;
  for (const observe::ReaderSnapshot& reader : m_snapshot->readers)
    if (m_partition && reader.partition == *m_partition) readers.push_back(&reader);
  if (readers.empty()) {
    drawText(painter, left, y + 24, tr("no consumer reads this partition"), Theme::body(11.5), p.muted);
    return;
  }
  std::ranges::sort(readers, [](const auto* a, const auto* b) { return a->fetchOffset < b->fetchOffset; });
  const QFont nameFont = Theme::body(11.5, QFont::DemiBold);
  double free = left - 60;
  int hidden = 0;
  for (const observe::ReaderSnapshot* reader : readers) {
    const int64_t lag = std::max<int64_t>(0, partition.highWatermark - reader->fetchOffset);
    const QString client = fromUtf8(reader->client);
    const QString name = !reader->group.empty() ? tr("%1 / %2").arg(fromUtf8(reader->group), client)
                         : reader->external     ? tr("%1 (external)").arg(client)
                                                : client;
    const QString where = lag == 0 ? tr("at tail") : tr("lag %1").arg(grouped(lag));
    const double half = std::max(QFontMetricsF(nameFont).horizontalAdvance(name), 40.0) / 2;
    const double wished = left + m_viewport.x(number(reader->fetchOffset), time);
    const double x = std::clamp(wished, left + half - 30, right - half + 10);
    if (x - half < free) {
      ++hidden;
      continue;
    }
    free = x + half + 14;
    const QColor& color = reader->group.empty() ? p.accent : p.violet;
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (wished >= left && wished <= right)
      painter.drawPolygon(QPolygonF({{wished, y}, {wished - 6, y + 10}, {wished + 6, y + 10}}));
    else if (wished < left)
      painter.drawPolygon(QPolygonF({{x - 8, y + 5}, {x + 2, y - 1}, {x + 2, y + 11}}));
    else
      painter.drawPolygon(QPolygonF({{x + 8, y + 5}, {x - 2, y - 1}, {x - 2, y + 11}}));
    drawText(painter, x, y + 24, name, nameFont, color, Qt::AlignHCenter);
    drawText(painter, x, y + 38, where, Theme::body(11), p.muted, Qt::AlignHCenter);
  }
  if (hidden > 0)
    drawText(painter, BeltsLayout::kMargin + 14, y + 38, tr("%n more here", nullptr, hidden), Theme::body(11), p.muted);
}

void BeltsView::paintPurgatory(QPainter& painter) const {
  const Palette& p = colors();
  const QRectF box = layoutOfBelts().purgatory();
  painter.setPen(QPen(p.purgatoryLine, 1));
  painter.setBrush(p.purgatory);
  painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  std::vector<const observe::ParkedSnapshot*> parked;
  int produces = 0;
  int fetches = 0;
  for (const Parked& one : m_parked) {
    one.shown.kind == observe::ParkedKind::Produce ? ++produces : ++fetches;
    if (one.shown.follower == kNoNode) parked.push_back(&one.shown);
  }
  std::ranges::stable_sort(parked, [](const auto* a, const auto* b) { return a->kind < b->kind; });
  QString summary = tr("nothing is parked");
  if (produces > 0 && fetches > 0)
    summary = tr("%1, %2").arg(tr("%n produce(s)", nullptr, produces), tr("%n fetch(es)", nullptr, fetches));
  else if (produces > 0)
    summary = tr("%n produce acks=all parked", nullptr, produces);
  else if (fetches > 0)
    summary = tr("%n fetch(es) wait for records", nullptr, fetches);
  drawText(painter, box.left() + 14, box.top() + 24 + (box.height() - 58) / 2, tr("Purgatory"),
           Theme::body(13, QFont::Bold), p.highWatermark);
  drawText(painter, box.left() + 14, box.top() + 43 + (box.height() - 58) / 2, summary, Theme::body(11.5), p.muted);

  const double shift = (box.height() - 58) / 2;
  const double cardWidth = 380;
  double x = box.left() + 210;
  const auto age = m_bridge.age();
  size_t drawn = 0;
  for (const observe::ParkedSnapshot* one : parked) {
    // Room for "+ 3 more", unless this is the last one.
    const double room = drawn + 1 == parked.size() ? 12 : 76;
    if (x + cardWidth > box.right() - room) break;
    const QRectF card(x, box.top() + 12 + shift, cardWidth, 34);
    painter.setPen(QPen(p.purgatoryLine, 1));
    painter.setBrush(p.panel);
    painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const auto left = std::max(platform::Duration::zero(), one->left - age);
    const double part =
        one->timeout.count() > 0 ? static_cast<double>(left.count()) / static_cast<double>(one->timeout.count()) : 0;
    const QPointF center(card.left() + 20, card.center().y());
    const QColor& color = one->kind == observe::ParkedKind::Produce ? p.highWatermark : p.ring;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(p.purgatoryLine, 3));
    painter.drawEllipse(center, 9, 9);
    painter.setPen(QPen(color, 3, Qt::SolidLine, Qt::FlatCap));
    painter.drawArc(QRectF(center.x() - 9, center.y() - 9, 18, 18), 90 * 16, -qRound(std::min(part, 0.97) * 360 * 16));
    const QString needs = one->kind == observe::ParkedKind::Produce ? tr("needs HW ≥ %1").arg(offsetText(one->needs))
                                                                    : tr("fetch from %1").arg(offsetText(one->needs));
    const QFont font = Theme::body(11.5, QFont::Medium);
    const QFontMetricsF metrics(font);
    const QString rest = tr(" · corr %1 · %2").arg(one->correlation).arg(needs);
    // What it waits for is never cut.
    const QString text =
        metrics.elidedText(fromUtf8(one->client), Qt::ElideMiddle, cardWidth - 52 - metrics.horizontalAdvance(rest)) +
        rest;
    drawText(painter, card.left() + 40, card.top() + 15, text, font, p.ink);
    // A fetch that was answered has no time left, and is asked again at once.
    drawText(painter, card.left() + 40, card.top() + 29,
             left.count() > 0 ? tr("%1 left").arg(durationText(left)) : tr("being answered"), Theme::body(10.5),
             p.muted);
    x += cardWidth + 20;
    ++drawn;
  }
  if (drawn < parked.size())
    drawText(painter, std::min(x - 6, box.right() - 70), box.top() + 34,
             tr("+ %n more", nullptr, static_cast<int>(parked.size() - drawn)), Theme::body(11.5, QFont::DemiBold),
             p.highWatermark);
}

QRectF BeltsView::followPill() const {
  const BeltsLayout layout = layoutOfBelts();
  const double width =
      QFontMetricsF(Theme::body(11.5, QFont::DemiBold)).horizontalAdvance(tr("Follow the tail  ▸▸")) + 28;
  return {layout.beltLeft() + layout.beltWidth() - width, layout.axisY() + 24, width, 26};
}

void BeltsView::paintFollowPill(QPainter& painter) const {
  const Palette& p = colors();
  const QRectF pill = followPill();
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.button);
  painter.drawRoundedRect(pill, 13, 13);
  painter.setFont(Theme::body(11.5, QFont::DemiBold));
  painter.setPen(p.onButton);
  painter.drawText(pill, Qt::AlignCenter, tr("Follow the tail  ▸▸"));
}

}  // namespace tidemark::widgets
