#include "map/map_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark::widgets {

namespace {

constexpr double kMapMargin = 14;
constexpr double kMapTop = 24;
/// For the legend.
constexpr double kMapFoot = 52;
constexpr double kClientMost = 168;
/// Between two cards of the column of clients.
constexpr double kBetweenClients = 10;
/// Clients that the smallest view has room for.
constexpr size_t kClientsAtLeast = 6;
/// What of a link between two neighbours is to be seen at least, and what it keeps from each card.
constexpr double kSeen = 24;
constexpr double kFromCard = 4;
/// Neighbours stand that many cards apart, the stretch between them counted in.
constexpr double kApart = 1.2;
/// No larger: what belongs together stays together in a large window.
constexpr QSizeF kMostAcross{400, 300};
/// How far an arc that is open to clients goes round, from its middle: a little more than a half of an ellipse.
constexpr double kOpenReach = 109 * std::numbers::pi / 180;
/// Of the arc: 2 is an ellipse, more is nearer to a rectangle, which gives wide cards more room.
constexpr double kSquareness = 2.6;
constexpr int kStepsOfArc = 360;
constexpr double kNearLink = 9;
/// What a link keeps from the cards that it passes.
constexpr double kClearOfCards = 4;
constexpr double kBendStep = 10;
constexpr double kMostBent = 240;
constexpr double kLookEach = 6;

struct CardSizes {
  QSizeF broker;
  QSizeF controller;
  QSizeF client;
  double foot;
  double strokesApart;
};

CardSizes sizesOf(MapLayout::Cards cards) {
  switch (cards) {
    case MapLayout::Cards::Roomy:
      return {{196, 128}, {140, 50}, {216, 78}, 36, 26};
    case MapLayout::Cards::Tight:
      return {{152, 84}, {140, 50}, {180, 78}, 30, 20};
    case MapLayout::Cards::Small:
      break;
  }
  return {{120, 46}, {120, 46}, {120, 46}, 23, 14};
}

struct Arc {
  std::vector<QPointF> middles;
  QPointF centre;
  /// How many cards, each with what is to be seen of a link, find room from one to the next.
  double apart = 0;
};

/// Evenly on an arc whose ends are at the left, clockwise from the upper one.
Arc arcOf(size_t count, QRectF room, const QSizeF& card, bool open) {
  Arc arc;
  if (room.width() / 2 > kMostAcross.width())
    room.adjust(room.width() / 2 - kMostAcross.width(), 0, kMostAcross.width() - room.width() / 2, 0);
  if (room.height() / 2 > kMostAcross.height())
    room.adjust(0, room.height() / 2 - kMostAcross.height(), 0, kMostAcross.height() - room.height() / 2);
  arc.centre = room.center();
  arc.apart = count < 2 ? 2 : 0;
  if (count == 1) arc.middles.push_back(room.center());
  if (count < 2) return arc;
  const auto parts = static_cast<double>(count);
  // All the way round where nothing stands at the left.
  const double closed = std::numbers::pi * (parts - 1) / parts;
  const double reach = open ? std::min(kOpenReach, closed) : closed;
  const auto squared = [](double part) { return std::copysign(std::pow(std::abs(part), 2 / kSquareness), part); };
  const double leftmost = squared(std::cos(reach));
  // Two alone stand one above the other.
  const double across = count == 2 ? 0 : room.width() / (1 - leftmost);
  const double right = count == 2 ? room.center().x() : room.right();
  std::vector<QPointF> points;
  std::vector<double> lengths{0};
  const QSizeF step(card.width() + kSeen + 2 * kFromCard, card.height() + kSeen + 2 * kFromCard);
  const auto distance = [&step](const QPointF& from, const QPointF& to) {
    return std::max(std::abs(to.x() - from.x()) / step.width(), std::abs(to.y() - from.y()) / step.height());
  };
  for (int i = 0; i <= kStepsOfArc; ++i) {
    const double angle = reach * (2.0 * i / kStepsOfArc - 1);
    points.emplace_back(right - across * (1 - squared(std::cos(angle))),
                        room.center().y() + room.height() / 2 * squared(std::sin(angle)));
    if (i > 0) lengths.push_back(lengths.back() + distance(points[points.size() - 2], points.back()));
  }
  for (size_t i = 0; i < count; ++i) {
    const double wanted = lengths.back() * static_cast<double>(i) / (parts - 1);
    const auto after = std::ranges::lower_bound(lengths, wanted - 1e-9);
    arc.middles.push_back(points[static_cast<size_t>(after - lengths.begin())]);
  }
  arc.apart = lengths.back() / (parts - 1);
  if (count > 2) arc.apart = std::min(arc.apart, distance(points.front(), points.back()));
  return arc;
}

}  // namespace

MapLayout::MapLayout(const MapScene& scene, const QSizeF& size) {
  for (const Cards cards : {Cards::Roomy, Cards::Tight, Cards::Small}) {
    const bool fits = place(scene, size, cards);
    m_ways.clear();
    for (const MapLink& link : scene.links)
      if (!rectOf(link, true).isNull() && !rectOf(link, false).isNull()) m_ways.push_back(wayOf(link));
    // Smaller cards leave a way where larger ones stand in it.
    if (fits && std::ranges::none_of(m_ways, &Way::hidden)) break;
  }
  for (const auto& [name, rect] : m_clients) m_picks.push_back({MapPick::What::Client, {}, {}, name});
  for (const auto& [id, rect] : m_brokers) {
    m_picks.push_back({MapPick::What::Broker, id, {}, {}});
    if (!controller(id).isNull()) m_picks.push_back({MapPick::What::Controller, id, {}, {}});
  }
  for (const Way& way : m_ways) m_picks.push_back(way.link.pick());
}

QSize MapLayout::leastSize(const MapScene& scene) {
  MapScene shown;
  shown.brokers = scene.brokers;
  shown.clients.assign(scene.clients.begin(), scene.clients.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                          scene.clients.size(), kClientsAtLeast)));
  QSize least(320, 220);
  while (!MapLayout().place(shown, least, Cards::Small)) least += QSize(20, 14);
  return least;
}

bool MapLayout::place(const MapScene& scene, const QSizeF& size, Cards cards) {
  m_cards = cards;
  m_brokers.clear();
  m_controllers.clear();
  m_clients.clear();
  const CardSizes sizes = sizesOf(cards);
  const double bottom = size.height() - kMapFoot;
  const QRectF all(kMapMargin, kMapTop, size.width() - 2 * kMapMargin, bottom - kMapTop);
  // Clients: a column at the left.
  const QSizeF client = sizes.client;
  const auto most =
      static_cast<size_t>(std::max(1.0, (all.height() + kBetweenClients) / (client.height() + kBetweenClients)));
  const size_t shown = std::min(most, scene.clients.size());
  m_hidden = static_cast<int>(scene.clients.size() - shown);
  if (shown > 0) {
    const auto between = static_cast<double>(shown - 1);
    const double pitch = shown < 2 ? 0 : std::min(kClientMost, (all.height() - client.height()) / between);
    double y = all.center().y() - (pitch * between + client.height()) / 2;
    for (size_t i = 0; i < shown; ++i, y += pitch)
      m_clients.emplace_back(scene.clients[i].name, QRectF(QPointF(kMapMargin, y), client));
  }
  // Nodes: an arc in what is left of the room. Of three brokers the last stands at the right.
  for (const bool brokers : {true, false})
    for (const MapBroker& node : scene.brokers)
      if (node.isBroker == brokers) {
        m_brokers.emplace_back(node.id, QRectF());
        if (!brokers) m_controllers.push_back(node.id);
      }
  if (m_brokers.size() == 3 && m_controllers.empty()) std::swap(m_brokers[1], m_brokers[2]);
  const QSizeF card = sizes.broker.expandedTo(sizes.controller);
  const double beside = shown == 0 ? 0 : client.width() + std::clamp(size.width() * 0.11, 40.0, 120.0);
  QRectF room = all.adjusted(beside + card.width() / 2, card.height() / 2, -card.width() / 2, -card.height() / 2);
  const bool fits = room.width() >= 0 && room.height() >= 0;
  room.setSize(room.size().expandedTo({0, 0}));
  const Arc arc = arcOf(m_brokers.size(), room, card, shown > 0);
  m_centre = arc.centre;
  for (size_t i = 0; i < m_brokers.size(); ++i) {
    const bool own = std::ranges::find(m_controllers, m_brokers[i].first) != m_controllers.end();
    QRectF rect(QPointF(), own ? sizes.controller : sizes.broker);
    rect.moveCenter(arc.middles[i]);
    m_brokers[i].second = rect;
  }
  if (m_brokers.size() == 3 && m_controllers.empty()) std::swap(m_brokers[1], m_brokers[2]);
  return fits && arc.apart >= kApart && m_hidden == 0;
}

QRectF MapLayout::broker(NodeId id) const {
  const auto found = std::ranges::find(m_brokers, id, &std::pair<NodeId, QRectF>::first);
  return found == m_brokers.end() ? QRectF() : found->second;
}

QRectF MapLayout::controller(NodeId id) const {
  if (std::ranges::find(m_controllers, id) != m_controllers.end()) return {};
  QRectF rect = broker(id);
  if (!rect.isNull()) rect.setTop(rect.bottom() - sizesOf(m_cards).foot);
  return rect;
}

QRectF MapLayout::client(const std::string& name) const {
  const auto found = std::ranges::find(m_clients, name, &std::pair<std::string, QRectF>::first);
  return found == m_clients.end() ? QRectF() : found->second;
}

QRectF MapLayout::rectOf(const MapLink& link, bool ofBroker) const {
  return ofBroker                                       ? broker(link.broker)
         : link.client.empty() && link.other != kNoNode ? broker(link.other)
                                                        : client(link.client);
}

double MapLayout::strokesApart() const noexcept {
  return sizesOf(m_cards).strokesApart;
}

MapPath MapLayout::whole(const MapLink& link, double inwards) const {
  const QPointF from = rectOf(link, true).center();
  QPointF to = rectOf(link, false).center();
  // Of a client's card the middle of its right side; lines to different brokers do not cross there.
  if (!link.client.empty()) to = {rectOf(link, false).right(), to.y() + (from.y() - to.y()) * 0.05};
  const QPointF along = to - from;
  const QPointF way = m_centre - (from + to) / 2;
  return MapPath::bent(from, to, along.y() * way.x() - along.x() * way.y() < 0 ? -inwards : inwards);
}

bool MapLayout::isHidden(const MapLink& link, const MapPath& path) const {
  const bool twoStrokes = link.client.empty() && !link.ofController;
  const double clear = (twoStrokes ? strokesApart() / 2 : 0) + kClearOfCards;
  const auto looks = std::max(2, static_cast<int>(path.length() / kLookEach));
  for (int i = 1; i < looks; ++i) {
    const QPointF at = path.pointAt(static_cast<double>(i) / looks);
    const auto covers = [&](const QRectF& card) { return card.adjusted(-clear, -clear, clear, clear).contains(at); };
    for (const auto& [id, card] : m_brokers)
      if (id != link.broker && id != link.other && covers(card)) return true;
    for (const auto& [name, card] : m_clients)
      if (name != link.client && covers(card)) return true;
  }
  return false;
}

MapLayout::Way MapLayout::wayOf(const MapLink& link) const {
  MapPath path = whole(link, 0);
  for (double inwards = kBendStep; inwards <= kMostBent && isHidden(link, path); inwards += kBendStep)
    path = whole(link, inwards);
  const auto clear = [](const QRectF& card) { return card.adjusted(-kFromCard, -kFromCard, kFromCard, kFromCard); };
  const auto between = [&](const MapPath& one) {
    const MapPath begun = one.outside(clear(rectOf(link, true)));
    return link.client.empty() ? begun.reversed().outside(clear(rectOf(link, false))).reversed() : begun.shortened(3);
  };
  const double aside = link.client.empty() ? strokesApart() / 2 : 0;
  return {link, between(path), between(path.aside(aside)), between(path.aside(-aside)).reversed(),
          isHidden(link, path)};
}

const MapLayout::Way* MapLayout::find(const MapLink& link) const {
  const auto found = std::ranges::find_if(m_ways, [&link](const Way& way) { return way.link.pick() == link.pick(); });
  return found == m_ways.end() ? nullptr : &*found;
}

MapPath MapLayout::link(const MapLink& link) const {
  const Way* way = find(link);
  return way == nullptr ? MapPath() : way->middle;
}

MapPath MapLayout::stroke(const MapLink& link, bool fromBroker) const {
  const Way* way = find(link);
  return way == nullptr ? MapPath() : fromBroker ? way->fromBroker : way->toBroker;
}

MapPick MapLayout::at(const QPointF& point) const {
  for (const auto& [id, rect] : m_brokers) {
    if (controller(id).contains(point)) return {MapPick::What::Controller, id, {}, {}};
    if (rect.contains(point)) return {MapPick::What::Broker, id, {}, {}};
  }
  for (const auto& [name, rect] : m_clients)
    if (rect.contains(point)) return {MapPick::What::Client, {}, {}, name};
  // The nearest of what is drawn; between its two strokes it is the link as well.
  double nearest = kNearLink;
  MapPick found;
  for (const Way& way : m_ways) {
    double away = way.middle.distance(point);
    if (!way.link.isOneStroke()) away = std::min({away, way.fromBroker.distance(point), way.toBroker.distance(point)});
    if (away >= nearest) continue;
    nearest = away;
    found = way.link.pick();
  }
  return found;
}

QPointF MapLayout::middle(const MapPick& pick) const {
  switch (pick.what) {
    case MapPick::What::Broker: {
      const QRectF rect = broker(pick.broker);
      const QRectF foot = controller(pick.broker);
      return {rect.center().x(), foot.isNull() ? rect.center().y() : (rect.top() + foot.top()) / 2};
    }
    case MapPick::What::Controller:
      return controller(pick.broker).center();
    case MapPick::What::Client:
      return client(pick.client).center();
    case MapPick::What::Link:
      for (const Way& way : m_ways)
        if (way.link.pick() == pick) return way.middle.center();
      break;
    case MapPick::What::Nothing:
      break;
  }
  return {};
}

MapPick MapLayout::next(const MapPick& from, const QPointF& direction) const {
  if (m_picks.empty()) return {};
  if (std::ranges::find(m_picks, from) == m_picks.end()) return m_picks.front();
  const QPointF origin = middle(from);
  MapPick best = from;
  double least = 1e12;
  for (const MapPick& pick : m_picks) {
    if (pick == from) continue;
    const QPointF way = middle(pick) - origin;
    const double ahead = QPointF::dotProduct(way, direction);
    const double aside = std::abs(way.x() * direction.y() - way.y() * direction.x());
    // Within a right angle around that direction; what lies aside costs double.
    if (ahead <= 1 || aside > ahead * 2) continue;
    if (const double cost = ahead + 2 * aside; cost < least) {
      least = cost;
      best = pick;
    }
  }
  return best;
}

}  // namespace tidemark::widgets
