// How far a group is behind, and its last rebalances.
#include <algorithm>

#include <QCoreApplication>

#include "groups/group_strokes.h"
#include "groups/group_view.h"

namespace tidemark::widgets {

namespace {

/// Between two columns of figures.
constexpr double kLagGap = 10;

}  // namespace

double GroupView::paintLag(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont name = Theme::mono(12, QFont::DemiBold);
  const QFont figure = Theme::mono(12);
  const QFont note = Theme::body(11.5);
  // A column is as wide as what is in it.
  const auto widest = [&](const QString& title, QString LagRow::* text, const QFont& font) {
    double most = textWidth(title, head);
    for (const LagRow& row : m_scene.lag) most = std::max(most, textWidth(row.*text, font));
    return most + kLagGap;
  };
  const QString endTitle = QCoreApplication::translate("Groups", "HW");
  const QString lagTitle = QCoreApplication::translate("Groups", "lag");
  const QString secondsTitle = QCoreApplication::translate("Groups", "s");
  const double history = 44;
  const double seconds = right - history - 12;
  const double lag = seconds - std::max(46.0, widest(secondsTitle, &LagRow::seconds, name));
  const double end = lag - std::max({50.0, widest(lagTitle, &LagRow::lag, name), textWidth(m_scene.lagSum, name)});
  const double committed = end - std::max(62.0, widest(endTitle, &LagRow::highWatermark, figure));
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "Lag"), Theme::body(12.5, QFont::Bold), p.ink);
  line(painter, left + 34, y + 10, QCoreApplication::translate("Groups", "records and seconds"), Theme::body(12),
       p.muted);
  y += 34;
  line(painter, left, y, QCoreApplication::translate("Groups", "partition"), head, p.heads);
  line(painter, committed, y, QCoreApplication::translate("Groups", "commit"), head, p.heads, Qt::AlignRight);
  line(painter, end, y, endTitle, head, p.heads, Qt::AlignRight);
  line(painter, lag, y, lagTitle, head, p.heads, Qt::AlignRight);
  line(painter, seconds, y, secondsTitle, head, p.heads, Qt::AlignRight);
  line(painter, right, y, QCoreApplication::translate("Groups", "60 s"), head, p.heads, Qt::AlignRight);
  y += 10;
  rule(painter, left, right, y);
  constexpr size_t kShown = 16;
  for (size_t i = 0; i < std::min(kShown, m_scene.lag.size()); ++i) {
    const LagRow& row = m_scene.lag[i];
    const QColor ink = row.behind ? p.warnText : p.ink;
    line(painter, left, y + 17,
         cutTo(row.partition, name, committed - left - textWidth(row.committed, figure) - kLagGap), name, p.ink);
    line(painter, left, y + 32, cutTo(row.owner, note, committed - left), note, p.muted);
    line(painter, committed, y + 17, row.committed, figure, p.ink, Qt::AlignRight);
    line(painter, end, y + 17, row.highWatermark, figure, p.ink, Qt::AlignRight);
    line(painter, lag, y + 17, row.lag, name, ink, Qt::AlignRight);
    line(painter, seconds, y + 17, row.seconds, name, ink, Qt::AlignRight);
    if (painter == nullptr)
      addSpot({.rect = QRectF(left, y + 2, right - left, 36),
               .tip = QStringLiteral("%1 · %2").arg(row.partition, row.owner)});
    if (painter != nullptr && row.history.size() > 1) {
      const QRectF plot(right - history, y + 6, history, 16);
      const double most = std::max(1.0, *std::ranges::max_element(row.history));
      QPolygonF curve;
      for (size_t s = 0; s < row.history.size(); ++s)
        curve << QPointF(
            plot.right() - plot.width() * static_cast<double>(row.history.size() - 1 - s) / GroupPast::kLagSeconds,
            plot.bottom() - plot.height() * row.history[s] / most);
      const QColor color = row.behind ? p.warn : p.ring;
      QPolygonF area = curve;
      area << plot.bottomRight() << QPointF(curve.first().x(), plot.bottom());
      painter->setPen(Qt::NoPen);
      painter->setBrush(mixed(p.panel, color, 0.16));
      painter->drawPolygon(area);
      painter->setPen(QPen(color, 1.3));
      painter->setBrush(Qt::NoBrush);
      painter->drawPolyline(curve);
    }
    y += 40;
    rule(painter, left, right, y);
  }
  if (m_scene.lag.empty())
    line(painter, left, y + 20, QCoreApplication::translate("Groups", "nothing is committed"), note, p.muted);
  if (m_scene.lag.size() > kShown)
    line(painter, left, y + 20,
         QCoreApplication::translate("Groups", "%1 more in the table (T)").arg(m_scene.lag.size() - kShown), note,
         p.muted);
  if (m_scene.lag.size() > 1) {
    line(painter, left + 150, y + 20, QCoreApplication::translate("Groups", "group"), Theme::body(12, QFont::DemiBold),
         p.ink);
    line(painter, lag, y + 20, m_scene.lagSum, Theme::mono(12, QFont::DemiBold), p.ink, Qt::AlignRight);
  }
  y += 40;
  line(painter, left, y, QCoreApplication::translate("Groups", "seconds: age of the first record not yet committed"),
       note, p.muted);
  return y + 22;
}

double GroupView::paintRebalances(QPainter* painter, double left, double y, double right) {
  if (m_scene.rebalances.empty()) return y;
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont text = Theme::body(12);
  const QFont figure = Theme::mono(12);
  line(painter, left, y + 12, QCoreApplication::translate("Groups", "Last rebalances"), Theme::body(12.5, QFont::Bold),
       p.ink);
  y += 36;
  const double took = right - 74;
  const double cause = left + 86;
  line(painter, left, y, QCoreApplication::translate("Groups", "generation"), head, p.heads);
  line(painter, cause, y, QCoreApplication::translate("Groups", "cause"), head, p.heads);
  line(painter, took, y, QCoreApplication::translate("Groups", "took"), head, p.heads, Qt::AlignRight);
  line(painter, right, y, QCoreApplication::translate("Groups", "idle"), head, p.heads, Qt::AlignRight);
  y += 8;
  for (size_t i = 0; i < m_scene.rebalances.size(); ++i) {
    const RebalanceRow& row = m_scene.rebalances[i];
    const QRectF place(left - 6, y, right - left + 12, 26);
    if (painter != nullptr && row.current) roundBar(*painter, place, p.selection, QPen(p.selectionLine, 1));
    if (painter == nullptr) addSpot({.rect = place, .pick = static_cast<int>(i), .tip = row.cause});
    line(painter, left, y + 17, row.generation, figure, p.ink);
    line(painter, cause, y + 17, cutTo(row.cause, text, took - cause - 54), text, p.ink);
    line(painter, took, y + 17, row.took, figure, p.ink, Qt::AlignRight);
    line(painter, right, y + 17, row.idle, figure, p.ink, Qt::AlignRight);
    y += 27;
  }
  return y + 6;
}

}  // namespace tidemark::widgets
