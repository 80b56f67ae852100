#include "map/map_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark::widgets {

namespace {

constexpr double kMapMargin = 20;
constexpr double kMapTop = 34;
/// For the legend.
constexpr double kMapFoot = 56;
constexpr double kClientWidth = 216;
constexpr double kClientHeight = 78;
constexpr double kClientPitch = 92;
constexpr QSizeF kRoomyCard{196, 128};
constexpr QSizeF kTightCard{152, 84};
constexpr QSizeF kControllerCard{140, 50};
constexpr double kBetweenControllers = 12;
/// Each second one stands that much higher: the link between its neighbours passes below it.
constexpr double kControllerStep = 32;
constexpr double kBelowControllers = 44;
constexpr double kFootOfCard = 36;
constexpr double kStrokesApart = 26;
constexpr double kNearLink = 9;

double distance(const QLineF& line, const QPointF& point) {
  const QPointF along = line.p2() - line.p1();
  const double length = QPointF::dotProduct(along, along);
  if (length <= 0) return QLineF(line.p1(), point).length();
  const double part = std::clamp(QPointF::dotProduct(point - line.p1(), along) / length, 0.0, 1.0);
  return QLineF(line.p1() + along * part, point).length();
}

}  // namespace

MapLayout::MapLayout(const MapScene& scene, const QSizeF& size) : m_links(scene.links) {
  const double bottom = size.height() - kMapFoot;
  const bool hasClients = !scene.clients.empty();
  // Clients: a column at the left.
  const auto most = static_cast<size_t>(std::max(1.0, (bottom - kMapTop) / kClientPitch));
  const size_t shown = std::min(most, scene.clients.size());
  m_hidden = static_cast<int>(scene.clients.size() - shown);
  const double pitch =
      shown < 2 ? kClientPitch : std::min(168.0, (bottom - kMapTop - kClientHeight) / static_cast<double>(shown - 1));
  const double column = shown == 0 ? 0 : kClientHeight + pitch * static_cast<double>(shown - 1);
  double y = kMapTop + (bottom - kMapTop - column) / 2;
  const double clientWidth = std::min(kClientWidth, size.width() * 0.26);
  for (size_t i = 0; i < shown; ++i, y += pitch)
    m_clients.emplace_back(scene.clients[i].name, QRectF(kMapMargin, y, clientWidth, kClientHeight));
  // Brokers: a ring in what is left of the room.
  std::vector<NodeId> ring;
  for (const MapBroker& broker : scene.brokers)
    if (broker.isBroker) ring.push_back(broker.id);
  const size_t count = ring.size();
  const double left = hasClients ? kMapMargin + clientWidth + std::clamp(size.width() * 0.11, 40.0, 120.0) : kMapMargin;
  QRectF room(left, kMapTop, std::max(40.0, size.width() - kMapMargin - left), std::max(40.0, bottom - kMapTop));
  placeControllers(scene, room);
  m_roomy = count <= 4 && room.height() > 2 * kRoomyCard.height() + 40 && room.width() > 2 * kRoomyCard.width() + 40;
  const QSizeF card = m_roomy ? kRoomyCard : kTightCard;
  const double across = std::min((room.width() - card.width()) / 2, 330.0);
  const double down = std::min((room.height() - card.height()) / 2, 260.0);
  for (size_t i = 0; i < count; ++i) {
    // Two stand one above the other; three as a triangle that points to the right; more from the top, clockwise.
    const double first = count == 3 ? -120.0 : count == 4 ? -135.0 : -90.0;
    const double turn = count == 3
                            ? (i == 0   ? -120.0
                               : i == 1 ? 120.0
                                        : 0.0)
                            : first + 360.0 * static_cast<double>(i) / static_cast<double>(std::max<size_t>(1, count));
    const double angle = turn * std::numbers::pi / 180;
    double x = std::cos(angle);
    double z = std::sin(angle);
    if (count == 1) x = z = 0;
    // Below controllers they stand side by side: none hides what goes to the other.
    if (count == 2) {
      x = m_controllers.empty() ? 0 : i == 0 ? -1 : 1;
      if (!m_controllers.empty()) z = 0;
    }
    if (count == 3) {
      x = i == 2 ? 1 : -1;
      z = i == 2 ? -0.12 : i == 0 ? -1 : 1;
    }
    if (count == 4) {
      x = x > 0 ? 1 : -1;
      z = z > 0 ? 1 : -1;
    }
    const QPointF middle(room.center().x() + x * across, room.center().y() + z * down);
    m_brokers.emplace_back(
        ring[i], QRectF(middle.x() - card.width() / 2, middle.y() - card.height() / 2, card.width(), card.height()));
  }
  for (const auto& [name, rect] : m_clients) m_picks.push_back({MapPick::What::Client, {}, {}, name});
  for (const auto& [id, rect] : m_brokers) {
    m_picks.push_back({MapPick::What::Broker, id, {}, {}});
    if (!controller(id).isNull()) m_picks.push_back({MapPick::What::Controller, id, {}, {}});
  }
  std::erase_if(m_links, [this](const MapLink& link) { return !link.client.empty() && client(link.client).isNull(); });
  for (const MapLink& link : m_links) m_picks.push_back(link.pick());
}

void MapLayout::placeControllers(const MapScene& scene, QRectF& room) {
  for (const MapBroker& node : scene.brokers)
    if (!node.isBroker) m_controllers.push_back(node.id);
  if (m_controllers.empty()) return;
  const auto count = static_cast<double>(m_controllers.size());
  const double pitch =
      std::min(kControllerCard.width() + kBetweenControllers, (room.width() + kBetweenControllers) / count);
  const double width = std::min(kControllerCard.width(), pitch - kBetweenControllers);
  const double step = count > 2 ? kControllerStep : 0;
  // At the right: what goes to the left lower broker passes beside the upper one.
  const double first = room.right() - width / 2 - pitch * (count - 1);
  for (size_t i = 0; i < m_controllers.size(); ++i)
    m_brokers.emplace_back(m_controllers[i],
                           QRectF(first + pitch * static_cast<double>(i) - width / 2,
                                  room.top() + (i % 2 == 0 ? step : 0), width, kControllerCard.height()));
  room.setTop(std::min(room.top() + step + kControllerCard.height() + kBelowControllers, room.bottom() - 40));
}

QRectF MapLayout::broker(NodeId id) const {
  const auto found = std::ranges::find(m_brokers, id, &std::pair<NodeId, QRectF>::first);
  return found == m_brokers.end() ? QRectF() : found->second;
}

QRectF MapLayout::controller(NodeId id) const {
  if (std::ranges::find(m_controllers, id) != m_controllers.end()) return {};
  QRectF rect = broker(id);
  if (!rect.isNull()) rect.setTop(rect.bottom() - (m_roomy ? kFootOfCard : 30));
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

std::optional<QPointF> MapLayout::leaves(const QRectF& rect, const QLineF& line) {
  const QLineF sides[] = {{rect.topLeft(), rect.topRight()},
                          {rect.topRight(), rect.bottomRight()},
                          {rect.bottomRight(), rect.bottomLeft()},
                          {rect.bottomLeft(), rect.topLeft()}};
  std::optional<QPointF> best;
  for (const QLineF& side : sides) {
    QPointF point;
    if (line.intersects(side, &point) != QLineF::BoundedIntersection) continue;
    if (!best || QLineF(point, line.p2()).length() < QLineF(*best, line.p2()).length()) best = point;
  }
  return best;
}

QLineF MapLayout::link(const MapLink& link) const {
  const QRectF from = rectOf(link, true);
  const QRectF to = rectOf(link, false);
  if (from.isNull() || to.isNull()) return {};
  QLineF line(from.center(), to.center());
  // Of a client's card the middle of its right side; lines to different brokers do not cross there.
  if (!link.client.empty()) line.setP2({to.right(), to.center().y() + (from.center().y() - to.center().y()) * 0.05});
  const QPointF begin = leaves(from.adjusted(-4, -4, 4, 4), line).value_or(line.p1());
  const QPointF end = link.client.empty()
                          ? leaves(to.adjusted(-4, -4, 4, 4), QLineF(line.p2(), line.p1())).value_or(line.p2())
                          : line.p2() + QPointF(3, 0);
  return {begin, end};
}

QLineF MapLayout::stroke(const MapLink& link, bool fromBroker) const {
  const QRectF from = rectOf(link, true);
  const QRectF to = rectOf(link, false);
  if (from.isNull() || to.isNull()) return {};
  if (!link.client.empty()) {
    const QLineF whole = MapLayout::link(link);
    return fromBroker ? whole : QLineF(whole.p2(), whole.p1());
  }
  QLineF middle(from.center(), to.center());
  const QLineF normal = middle.normalVector().unitVector();
  const QPointF aside = QPointF(normal.dx(), normal.dy()) * (kStrokesApart / 2) * (fromBroker ? 1 : -1);
  middle.translate(aside);
  const QPointF begin = leaves(from.adjusted(-4, -4, 4, 4), middle).value_or(middle.p1());
  const QPointF end = leaves(to.adjusted(-4, -4, 4, 4), QLineF(middle.p2(), middle.p1())).value_or(middle.p2());
  return fromBroker ? QLineF(begin, end) : QLineF(end, begin);
}

MapPick MapLayout::at(const QPointF& point) const {
  for (const auto& [id, rect] : m_brokers) {
    if (controller(id).contains(point)) return {MapPick::What::Controller, id, {}, {}};
    if (rect.contains(point)) return {MapPick::What::Broker, id, {}, {}};
  }
  for (const auto& [name, rect] : m_clients)
    if (rect.contains(point)) return {MapPick::What::Client, {}, {}, name};
  double nearest = kNearLink;
  MapPick found;
  for (const MapLink& each : m_links) {
    const double away = std::min(distance(stroke(each, true), point), distance(stroke(each, false), point));
    // Between its two strokes it is the link as well.
    const double inside = each.client.empty() && distance(link(each), point) < kStrokesApart / 2 ? 0 : away;
    if (inside >= nearest) continue;
    nearest = inside;
    found = each.pick();
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
      for (const MapLink& each : m_links)
        if (each.pick() == pick) return link(each).center();
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
