#pragma once

#include <vector>

#include <QLineF>
#include <QPointF>
#include <QPolygonF>
#include <QRectF>

namespace tidemark::widgets {

/// The way that a link takes on the map: straight, or bent aside where a card stands in between. A line of points, so
/// that whatever is asked of it is asked of short straight pieces.
class MapPath {
 public:
  MapPath() = default;
  explicit MapPath(std::vector<QPointF> points) : m_points(std::move(points)) {}
  MapPath(const QPointF& from, const QPointF& to) : m_points{from, to} {}
  /// In its middle it lies that many pixels to the left of the straight line (to the right, if negative).
  static MapPath bent(const QPointF& from, const QPointF& to, double aside);

  bool isEmpty() const noexcept { return m_points.size() < 2; }
  const std::vector<QPointF>& points() const noexcept { return m_points; }
  QPolygonF polygon() const { return {m_points.begin(), m_points.end()}; }
  double length() const;
  /// At a part of its length, 0 to 1.
  QPointF pointAt(double part) const;
  QPointF center() const { return pointAt(0.5); }
  /// Its last piece, for the head of an arrow.
  QLineF end() const;
  double distance(const QPointF& point) const;

  MapPath reversed() const;
  /// Beside it, that many pixels to its left.
  MapPath aside(double pixels) const;
  /// So much of its end is left out.
  MapPath shortened(double pixels) const;
  /// Without what lies in `from` at its beginning.
  MapPath outside(const QRectF& from) const;

 private:
  std::vector<QPointF> m_points;
};

}  // namespace tidemark::widgets
