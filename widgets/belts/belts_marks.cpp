// What stands over and below the belts: fetches under way, the high watermark, offsets, readers, and what is parked in
// purgatory.
#include <algorithm>
#include <cmath>
#include <optional>

#include <QPainter>
#include <QPainterPath>

#include "belts/belts_view.h"
#include "models/readers.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::BrokerState;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

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
    if (brokerState(replica.broker) != BrokerState::Running || isOffline(replica)) continue;
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
    // Where the lane ends first, on the other side of it.
    double textX = beside + 7;
    if (textX + width > layout.width - BeltsLayout::kMargin - 8) textX = beside - 7 - width;
    // In a narrow gap the log end of the lane above stands at the same height: they stand side by side.
    const size_t above = up ? i - 1 : i;
    if (const auto end = logEndText(partition.copies[above], layout.lane(static_cast<int>(above)));
        layout.laneGap < 14 && textX < end.right() + 8 && textX + width > end.left() - 8) {
      textX = end.right() + 8;
      if (textX + width > layout.width - BeltsLayout::kMargin - 8) textX = end.left() - 8 - width;
    }
    // In a narrow gap it stands on the lanes' borders: they give way.
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.background);
    painter.drawRoundedRect(QRectF(textX - 3, textY - 11, width + 6, 14), 4, 4);
    drawLine(painter, textX, textY, text, font, p.accent);
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
  drawLine(painter, pillLeft + width / 2, top + 19.5, text, font, p.onHighWatermark, Qt::AlignHCenter);
  if (seen && partition.logEnd > partition.highWatermark) {
    const QString note = tr("appended, not yet visible →");
    const QFont noteFont = Theme::body(11, QFont::Medium);
    const double noteWidth = QFontMetricsF(noteFont).horizontalAdvance(note);
    if (pillLeft + width + 10 + noteWidth <= this->width() - 8)
      drawLine(painter, pillLeft + width + 10, top + 19, note, noteFont, p.highWatermark);
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
    drawLine(painter, x, y + 18, grouped(static_cast<int64_t>(offset)), Theme::mono(10.5), p.muted, Qt::AlignHCenter);
  }
  drawLine(painter, BeltsLayout::kMargin + 14, y + 16, tr("offset"), Theme::body(11.5), p.muted);
  drawLine(painter, BeltsLayout::kMargin + 14, layout.readersY() + 24, tr("readers"), Theme::body(11.5), p.muted);
}

void BeltsView::paintReaders(QPainter& painter, const PartitionSnapshot& partition) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  const double y = layout.readersY();
  std::vector<const observe::ReaderSnapshot*> readers = readersOf(*m_snapshot, m_partition);
  if (readers.empty()) {
    drawLine(painter, left, y + 24, tr("no consumer reads this partition"), Theme::body(11.5), p.muted);
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
    const double wished = left + m_viewport.x(beltPlace(reader->fetchOffset), time);
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
    drawLine(painter, x, y + 24, name, nameFont, color, Qt::AlignHCenter);
    drawLine(painter, x, y + 38, where, Theme::body(11), p.muted, Qt::AlignHCenter);
  }
  if (hidden > 0)
    drawLine(painter, BeltsLayout::kMargin + 14, y + 38, tr("%n more here", nullptr, hidden), Theme::body(11), p.muted);
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
  drawLine(painter, box.left() + 14, box.top() + 24 + (box.height() - 58) / 2, tr("Purgatory"),
           Theme::body(13, QFont::Bold), p.highWatermark);
  drawLine(painter, box.left() + 14, box.top() + 43 + (box.height() - 58) / 2, summary, Theme::body(11.5), p.muted);

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
    drawLine(painter, card.left() + 40, card.top() + 15, text, font, p.ink);
    // A fetch that was answered has no time left, and is asked again at once.
    drawLine(painter, card.left() + 40, card.top() + 29,
             left.count() > 0 ? tr("%1 left").arg(durationText(left)) : tr("being answered"), Theme::body(10.5),
             p.muted);
    x += cardWidth + 20;
    ++drawn;
  }
  if (drawn < parked.size())
    drawLine(painter, std::min(x - 6, box.right() - 70), box.top() + 34,
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
