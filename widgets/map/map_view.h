#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include "map/map_layout.h"
#include "map/map_scene.h"

class QMenu;

namespace tidemark::widgets {

/// The map, painted: cards of clients and brokers, links with what is done to them. Arrows move to what lies in that
/// direction, Enter or a click opens its menu. It repaints when its scene is another one, and not otherwise.
class MapView : public QWidget {
  Q_OBJECT

 public:
  explicit MapView(QWidget* parent = nullptr);

  void setScene(MapScene scene);
  const MapScene& scene() const noexcept { return m_scene; }
  const MapLayout& layoutOfMap() const noexcept { return m_layout; }
  const MapPick& picked() const noexcept { return m_picked; }
  void pick(const MapPick& pick);
  /// How often it was painted: a test counts.
  int paintings() const noexcept { return m_paintings; }
  /// What is picked, in words.
  QString textOf(const MapPick& pick) const;
  QSize sizeHint() const override { return {860, 640}; }
  /// What all that it shows needs.
  QSize minimumSizeHint() const override { return MapLayout::leastSize(m_scene); }

 Q_SIGNALS:
  void menuWanted(const tidemark::widgets::MapPick& pick, const QPoint& globalPosition);
  void pickChanged(const tidemark::widgets::MapPick& pick);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Label {
    /// Where it may stand, best first.
    std::vector<QPointF> places;
    QString text;
    QColor ink;
    QColor ground;
    bool strong = false;
    /// It is told even where there is no room for it.
    bool needed = false;
  };
  void paintLink(QPainter& painter, const MapLink& link, std::vector<Label>& labels) const;
  void paintStroke(QPainter& painter, const MapPath& line, const MapDirection& direction, bool down, bool arrow) const;
  void paintBroker(QPainter& painter, const MapBroker& broker) const;
  /// A controller that is nothing else, and any node where there are many.
  void paintSmall(QPainter& painter, const MapBroker& node) const;
  /// What is wrong with it and what it does, as many lines as the card holds.
  void paintFacts(QPainter& painter, const MapBroker& broker, const QRectF& card, double end) const;
  void paintClient(QPainter& painter, const MapClient& client) const;
  void paintLegend(QPainter& painter) const;
  void paintLabels(QPainter& painter, std::vector<Label> labels) const;
  /// Where it covers no card and none of the others.
  std::optional<QRectF> placeOf(const Label& label, const QSizeF& size, const std::vector<QRectF>& taken) const;
  bool showsRate(const MapLink& link) const;
  void openMenu(const MapPick& pick, const QPointF& at);

  MapScene m_scene;
  MapLayout m_layout;
  MapPick m_picked;
  MapPick m_hovered;
  int m_paintings = 0;
};

}  // namespace tidemark::widgets
