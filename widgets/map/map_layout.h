#pragma once

#include <vector>

#include <QRectF>

#include "map/map_path.h"
#include "map/map_scene.h"

namespace tidemark::widgets {

/// Where everything of a map stands, in pixels of the view: clients in a column at the left, brokers and after them
/// controllers that are nothing else on an arc that is open towards them. No three of an arc lie on a line, so that
/// hardly a link has to pass a card; one that does bends inwards. Cards are as large as their number leaves room for.
/// Pure arithmetic over what there is; it does not depend on states, so that nothing moves when something breaks.
class MapLayout {
 public:
  /// Roomy: cards have the room for all their lines. Small: for two, the name and what matters most.
  enum class Cards { Roomy, Tight, Small };

  MapLayout() = default;
  MapLayout(const MapScene& scene, const QSizeF& size);

  /// The smallest view in which each link has a stretch that can be seen and clicked.
  static QSize leastSize(const MapScene& scene);

  QRectF broker(NodeId id) const;
  /// The foot of the broker's card, where its controller is told of; none of a controller that has a card of its own.
  QRectF controller(NodeId id) const;
  QRectF client(const std::string& name) const;
  /// From edge to edge of the two cards, from MapLink::broker to its other end.
  MapPath link(const MapLink& link) const;
  /// One of the two strokes of a link between brokers, in the direction in which it is sent.
  MapPath stroke(const MapLink& link, bool fromBroker) const;
  Cards cards() const noexcept { return m_cards; }
  /// How far the two strokes of a link lie from each other.
  double strokesApart() const noexcept;
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
  struct Way {
    MapLink link;
    MapPath middle;
    MapPath fromBroker;
    MapPath toBroker;
    /// No bend leads round all cards.
    bool hidden = false;
  };

  /// Whether cards of that size find room for all of it.
  bool place(const MapScene& scene, const QSizeF& size, Cards cards);
  /// The smallest bend with which no card hides it.
  Way wayOf(const MapLink& link) const;
  MapPath whole(const MapLink& link, double inwards) const;
  bool isHidden(const MapLink& link, const MapPath& path) const;
  QRectF rectOf(const MapLink& link, bool ofBroker) const;
  const Way* find(const MapLink& link) const;

  std::vector<std::pair<NodeId, QRectF>> m_brokers;
  /// Those with a card of their own.
  std::vector<NodeId> m_controllers;
  std::vector<std::pair<std::string, QRectF>> m_clients;
  std::vector<Way> m_ways;
  std::vector<MapPick> m_picks;
  /// What the arc stands around.
  QPointF m_centre;
  Cards m_cards = Cards::Roomy;
  int m_hidden = 0;
};

}  // namespace tidemark::widgets
