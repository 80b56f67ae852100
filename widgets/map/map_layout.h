#pragma once

#include <optional>
#include <vector>

#include <QLineF>
#include <QRectF>

#include "map/map_scene.h"

namespace tidemark::widgets {

/// Where everything of a map stands, in pixels of the view: clients in a column at the left, brokers in a ring, above
/// them controllers that are nothing else. Pure arithmetic over what there is; it does not depend on states, so that
/// nothing moves when something breaks.
class MapLayout {
 public:
  MapLayout() = default;
  MapLayout(const MapScene& scene, const QSizeF& size);

  QRectF broker(NodeId id) const;
  /// The foot of the broker's card, where its controller is told of; none of a controller that has a card of its own.
  QRectF controller(NodeId id) const;
  QRectF client(const std::string& name) const;
  /// From edge to edge of the two cards, from MapLink::broker to its other end.
  QLineF link(const MapLink& link) const;
  /// One of the two strokes of a link between brokers, in the direction in which it is sent.
  QLineF stroke(const MapLink& link, bool fromBroker) const;
  /// Cards have the room for all their lines.
  bool isRoomy() const noexcept { return m_roomy; }
  /// Clients that find no place are only counted.
  int hiddenClients() const noexcept { return m_hidden; }

  /// What lies there; a link within some pixels of its line.
  MapPick at(const QPointF& point) const;
  /// The middle of what is picked: where its menu opens.
  QPointF middle(const MapPick& pick) const;
  /// All that can be picked, in reading order.
  const std::vector<MapPick>& picks() const noexcept { return m_picks; }
  /// The next one from there in that direction (a unit vector); the same one if there is none.
  MapPick next(const MapPick& from, const QPointF& direction) const;

 private:
  QRectF rectOf(const MapLink& link, bool ofBroker) const;
  static std::optional<QPointF> leaves(const QRectF& rect, const QLineF& line);

  void placeControllers(const MapScene& scene, QRectF& room);

  std::vector<std::pair<NodeId, QRectF>> m_brokers;
  /// Those with a card of their own.
  std::vector<NodeId> m_controllers;
  std::vector<std::pair<std::string, QRectF>> m_clients;
  std::vector<MapLink> m_links;
  std::vector<MapPick> m_picks;
  bool m_roomy = true;
  int m_hidden = 0;
};

}  // namespace tidemark::widgets
