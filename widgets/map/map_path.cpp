#include "map/map_path.h"

#include <algorithm>
#include <optional>

namespace tidemark::widgets {

namespace {

/// Of a path that is bent.
constexpr int kPieces = 28;

QPointF leftOf(const QPointF& from, const QPointF& to) {
  const double length = QLineF(from, to).length();
  return length <= 0 ? QPointF() : QPointF(to.y() - from.y(), from.x() - to.x()) / length;
}

double distanceOf(const QPointF& from, const QPointF& to, const QPointF& point) {
  const QPointF along = to - from;
  const double length = QPointF::dotProduct(along, along);
  if (length <= 0) return QLineF(from, point).length();
  const double part = std::clamp(QPointF::dotProduct(point - from, along) / length, 0.0, 1.0);
  return QLineF(from + along * part, point).length();
}

}  // namespace

MapPath MapPath::bent(const QPointF& from, const QPointF& to, double aside) {
  if (aside == 0) return {from, to};
  // A parabola: half of what its control point lies aside it lies aside itself.
  const QPointF control = (from + to) / 2 + leftOf(from, to) * aside * 2;
  std::vector<QPointF> points;
  for (int i = 0; i <= kPieces; ++i) {
    const double t = static_cast<double>(i) / kPieces;
    points.push_back(from * (1 - t) * (1 - t) + control * 2 * t * (1 - t) + to * t * t);
  }
  return MapPath(std::move(points));
}

double MapPath::length() const {
  double length = 0;
  for (size_t i = 1; i < m_points.size(); ++i) length += QLineF(m_points[i - 1], m_points[i]).length();
  return length;
}

QPointF MapPath::pointAt(double part) const {
  if (m_points.empty()) return {};
  double left = length() * part;
  for (size_t i = 1; i < m_points.size(); ++i) {
    const QLineF piece(m_points[i - 1], m_points[i]);
    if (left <= piece.length() && piece.length() > 0) return piece.pointAt(left / piece.length());
    left -= piece.length();
  }
  return m_points.back();
}

QLineF MapPath::end() const {
  return isEmpty() ? QLineF() : QLineF(m_points[m_points.size() - 2], m_points.back());
}

double MapPath::distance(const QPointF& point) const {
  double least = 1e12;
  for (size_t i = 1; i < m_points.size(); ++i) least = std::min(least, distanceOf(m_points[i - 1], m_points[i], point));
  return least;
}

MapPath MapPath::reversed() const {
  return MapPath({m_points.rbegin(), m_points.rend()});
}

MapPath MapPath::aside(double pixels) const {
  std::vector<QPointF> points;
  for (size_t i = 0; i < m_points.size(); ++i) {
    const QPointF& before = m_points[i == 0 ? 0 : i - 1];
    const QPointF& after = m_points[std::min(i + 1, m_points.size() - 1)];
    points.push_back(m_points[i] + leftOf(before, after) * pixels);
  }
  return MapPath(std::move(points));
}

MapPath MapPath::shortened(double pixels) const {
  std::vector<QPointF> points = m_points;
  while (points.size() >= 2) {
    QLineF last(points[points.size() - 2], points.back());
    if (last.length() > pixels || points.size() == 2) {
      last.setLength(std::max(1.0, last.length() - pixels));
      points.back() = last.p2();
      break;
    }
    pixels -= last.length();
    points.pop_back();
  }
  return MapPath(std::move(points));
}

MapPath MapPath::outside(const QRectF& from) const {
  const QLineF sides[] = {{from.topLeft(), from.topRight()},
                          {from.topRight(), from.bottomRight()},
                          {from.bottomRight(), from.bottomLeft()},
                          {from.bottomLeft(), from.topLeft()}};
  // Where it leaves for good.
  for (size_t i = m_points.size(); i-- > 1;) {
    const QLineF piece(m_points[i - 1], m_points[i]);
    std::optional<QPointF> best;
    for (const QLineF& side : sides) {
      QPointF point;
      if (piece.intersects(side, &point) != QLineF::BoundedIntersection) continue;
      if (!best || QLineF(point, piece.p2()).length() < QLineF(*best, piece.p2()).length()) best = point;
    }
    if (!best) continue;
    std::vector<QPointF> points{*best};
    points.insert(points.end(), m_points.begin() + static_cast<std::ptrdiff_t>(i), m_points.end());
    return MapPath(std::move(points));
  }
  return *this;
}

}  // namespace tidemark::widgets
