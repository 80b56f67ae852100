// How the map is painted.
#include <algorithm>
#include <span>

#include <QPainter>
#include <QPainterPath>

#include "map/map_view.h"
#include "text/fault_words.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// Lines closer than that to one another would be told apart by nobody.
constexpr std::ptrdiff_t kLabelledBrokers = 3;
/// Where on a link its label may stand, best first.
constexpr double kLabelParts[] = {0.42, 0.5, 0.34, 0.58, 0.26, 0.18};
constexpr double kLabelPartsOfClient[] = {0.62, 0.5, 0.74, 0.4, 0.3};
constexpr double kBelowSign = 26;
/// In a small card: its shapes, and the text beside them.
constexpr double kSmallInset = 8;
constexpr double kSmallText = 22;

void drawArrow(QPainter& painter, const QLineF& line, const QColor& color, double size) {
  if (line.length() < 1) return;
  const QPointF along = (line.p2() - line.p1()) / line.length();
  const QPointF across(-along.y(), along.x());
  QPainterPath head(line.p2());
  head.lineTo(line.p2() - along * size + across * size * 0.5);
  head.lineTo(line.p2() - along * size - across * size * 0.5);
  head.closeSubpath();
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPath(head);
}

QString elidedTo(const QString& text, const QFont& font, double room) {
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, room);
}

/// "12 rec/s"; empty if nothing is known.
QString recordsText(double rate) {
  if (rate < 0) return {};
  return MapView::tr("%1 rec/s").arg(rate < 9.95 ? QString::number(rate, 'f', 1) : grouped(qRound64(rate)));
}

std::vector<QPointF> placesOn(const MapPath& path, std::span<const double> parts) {
  std::vector<QPointF> places;
  for (const double part : parts) places.push_back(path.pointAt(part));
  return places;
}

/// A dashed frame round the card that is picked with the keys.
void drawPicked(QPainter& painter, const QRectF& rect, bool focused) {
  const Palette& p = colors();
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(focused ? p.accent : p.selectionLine, 2));
  painter.drawRoundedRect(rect.adjusted(-3, -3, 3, 3), 11, 11);
}

}  // namespace

bool MapView::showsRate(const MapLink& link) const {
  return std::ranges::count(m_scene.brokers, true, &MapBroker::isBroker) <= kLabelledBrokers ||
         link.pick() == m_picked || link.pick() == m_hovered;
}

void MapView::paintEvent(QPaintEvent*) {
  ++m_paintings;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  drawCard(painter, rect());
  std::vector<Label> labels;
  for (const MapLink& link : m_scene.links) paintLink(painter, link, labels);
  for (const MapClient& client : m_scene.clients)
    if (!m_layout.client(client.name).isNull()) paintClient(painter, client);
  for (const MapBroker& node : m_scene.brokers)
    node.isBroker&& m_layout.cards() != MapLayout::Cards::Small ? paintBroker(painter, node)
                                                                : paintSmall(painter, node);
  paintLabels(painter, labels);
  paintLegend(painter);
}

void MapView::paintStroke(QPainter& painter, const MapPath& line, const MapDirection& direction, bool down,
                          bool arrow) const {
  const Palette& p = colors();
  QColor color = direction.rate > 0 ? p.arrow : p.axis;
  QPen pen(color, direction.rate > 0 ? 2.4 : 1.6);
  switch (direction.way) {
    case MapWay::Slowed:
      color = p.warn;
      pen = QPen(color, 2.4, Qt::CustomDashLine, Qt::FlatCap);
      pen.setDashPattern({3.4, 2.2});
      break;
    case MapWay::Held:
      color = p.warn;
      pen = QPen(color, 2.4, Qt::CustomDashLine, Qt::FlatCap);
      pen.setDashPattern({5, 1.6, 1, 1.6});
      break;
    case MapWay::Cut:
      color = p.bad;
      pen = QPen(color, 2, Qt::CustomDashLine, Qt::FlatCap);
      pen.setDashPattern({1.4, 2.4});
      break;
    case MapWay::Open:
      if (down) pen = QPen(p.axis, 1.4, Qt::DotLine);
      break;
  }
  if (down) arrow = false;
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline((arrow ? line.shortened(8) : line).polygon());
  if (arrow) drawArrow(painter, line.end(), down ? p.axis : color, 11);
}

void MapView::paintLink(QPainter& painter, const MapLink& link, std::vector<Label>& labels) const {
  const Palette& p = colors();
  const MapPath whole = m_layout.link(link);
  if (whole.length() < 2) return;
  const bool picked = link.pick() == m_picked;
  if (picked || link.pick() == m_hovered) {
    const double around = link.isOneStroke() ? 8 : m_layout.strokesApart() / 2 + 7;
    painter.setPen(QPen(picked ? p.selection : p.hover, 2 * around, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(whole.polygon());
    if (picked && hasFocus()) {
      painter.setPen(QPen(p.accent, 1.4));
      painter.drawPolyline(whole.aside(around).polygon());
      painter.drawPolyline(whole.aside(-around).polygon());
    }
  }
  const auto inkOf = [&p](MapWay way) { return way == MapWay::Cut ? p.badText : p.warnText; };
  const auto softOf = [&p](MapWay way) { return way == MapWay::Cut ? p.badSoft : p.warnSoft; };
  const QString one = QString::number(link.broker.value());
  const QString other = link.client.empty() ? QString::number(link.other.value()) : fromUtf8(link.client);
  const bool together = link.isDoneToBoth();
  if (together || !link.client.empty()) {
    // One stroke: both ways are the same, or it is a client's.
    const bool toClient = !link.client.empty() && link.from.rate > 0;
    MapDirection shown = link.from.way >= link.to.way ? link.from : link.to;
    shown.rate = std::max(link.from.rate, link.to.rate);
    paintStroke(painter, whole, shown, link.down, toClient && shown.way != MapWay::Cut);
    if (shown.way == MapWay::Cut || shown.way == MapWay::Held) {
      const QPointF middle = whole.center();
      painter.setBrush(p.panel);
      painter.setPen(QPen(shown.way == MapWay::Cut ? p.bad : p.warn, 2.2));
      painter.drawEllipse(middle, 12, 12);
      drawShape(painter, shown.way == MapWay::Cut ? StateShape::Cross : StateShape::Bars, middle, 10,
                shown.way == MapWay::Cut ? p.bad : p.warn);
    }
    if (shown.way != MapWay::Open) {
      const QString arrow = together ? QStringLiteral("↔") : QStringLiteral("→");
      const bool fromBroker = link.from.way >= link.to.way;
      labels.push_back({{whole.pointAt(0.5) + QPointF(0, kBelowSign), whole.pointAt(0.5) - QPointF(0, kBelowSign),
                         whole.pointAt(0.25), whole.pointAt(0.75)},
                        tr("%1 %2 %3  %4").arg(fromBroker ? one : other, arrow, fromBroker ? other : one, shown.fault),
                        inkOf(shown.way),
                        softOf(shown.way),
                        true,
                        true});
    } else if (showsRate(link) && !recordsText(link.from.rate).isEmpty() && link.from.rate > 0) {
      labels.push_back({placesOn(whole, kLabelPartsOfClient), recordsText(link.from.rate), p.ink, p.panel});
    }
    return;
  }
  // No records go to a controller: one thin line is enough while nothing is done to it.
  if (link.isOneStroke()) {
    painter.setPen(QPen(p.axis, 1.2, link.down ? Qt::DotLine : Qt::SolidLine));
    painter.drawPolyline(whole.polygon());
    return;
  }
  for (const bool fromBroker : {true, false}) {
    const MapDirection& direction = fromBroker ? link.from : link.to;
    const MapPath line = m_layout.stroke(link, fromBroker);
    paintStroke(painter, line, direction, link.down, true);
    const QString name = tr("%1 → %2").arg(fromBroker ? one : other, fromBroker ? other : one);
    const std::vector<QPointF> places = placesOn(line, kLabelParts);
    if (direction.way == MapWay::Cut || direction.way == MapWay::Held) {
      painter.setBrush(p.panel);
      painter.setPen(QPen(direction.way == MapWay::Cut ? p.bad : p.warn, 2));
      painter.drawEllipse(line.pointAt(0.72), 9, 9);
      drawShape(painter, direction.way == MapWay::Cut ? StateShape::Cross : StateShape::Bars, line.pointAt(0.72), 8,
                direction.way == MapWay::Cut ? p.bad : p.warn);
    }
    if (direction.way != MapWay::Open)
      labels.push_back(
          {places, tr("%1  %2").arg(name, direction.fault), inkOf(direction.way), softOf(direction.way), true, true});
    else if (!link.down && showsRate(link) && direction.rate > 0)
      labels.push_back({places, tr("%1  %2").arg(name, recordsText(direction.rate)), p.accent, p.selection, true});
  }
}

std::optional<QRectF> MapView::placeOf(const Label& label, const QSizeF& size, const std::vector<QRectF>& taken) const {
  const QRectF room = QRectF(rect()).adjusted(6, 6, -6, -40);
  const auto isFree = [&](const QRectF& box) {
    const QRectF around = box.adjusted(-3, -3, 3, 3);
    const auto meets = [&around](const QRectF& one) { return one.intersects(around); };
    return room.contains(box) && std::ranges::none_of(taken, meets) &&
           std::ranges::none_of(m_scene.brokers, meets,
                                [this](const MapBroker& node) { return m_layout.broker(node.id); }) &&
           std::ranges::none_of(m_scene.clients, meets,
                                [this](const MapClient& one) { return m_layout.client(one.name); });
  };
  QRectF box(QPointF(), size);
  for (const QPointF& place : label.places) {
    box.moveCenter(place);
    if (isFree(box)) return box;
  }
  if (!label.needed) return std::nullopt;
  // What is broken is told in any case: as near as there is room, else across what lies there.
  for (const double down : {22.0, -22.0, 44.0, -44.0}) {
    box.moveCenter(label.places.front() + QPointF(0, down));
    if (isFree(box)) return box;
  }
  box.moveCenter(label.places.front());
  box.moveLeft(std::clamp(box.left(), room.left(), std::max(room.left(), room.right() - box.width())));
  return box;
}

void MapView::paintLabels(QPainter& painter, std::vector<Label> labels) const {
  const Palette& p = colors();
  // What is broken has the first right to a place.
  std::ranges::stable_partition(labels, &Label::needed);
  std::vector<QRectF> taken;
  for (const Label& label : labels) {
    const QFont font = Theme::body(11.5, label.strong ? QFont::DemiBold : QFont::Normal);
    const std::optional<QRectF> box = placeOf(label, {textWidth(label.text, font) + 16, 20}, taken);
    if (!box) continue;
    taken.push_back(*box);
    painter.setPen(QPen(label.ground == p.panel ? p.line : mixed(label.ground, label.ink, 0.25), 1));
    painter.setBrush(label.ground);
    painter.drawRoundedRect(*box, 10, 10);
    drawLine(painter, box->left() + 8, box->center().y() + 4.2, label.text, font, label.ink);
  }
}

void MapView::paintBroker(QPainter& painter, const MapBroker& broker) const {
  const Palette& p = colors();
  const QRectF card = m_layout.broker(broker.id);
  const StateLook look = lookOf(broker.state, !broker.failedDirectories.isEmpty());
  const bool fine = broker.state == observe::BrokerState::Running;
  const bool roomy = m_layout.cards() == MapLayout::Cards::Roomy;
  painter.setBrush(fine ? QBrush(p.panel) : hatch(p.hatchGround, p.hatchLine));
  painter.setPen(fine ? QPen(p.line, 1.2) : QPen(look.color, 1.8, Qt::DashLine));
  painter.drawRoundedRect(card, 8, 8);
  const MapPick whole{MapPick::What::Broker, broker.id, {}, {}};
  const MapPick foot{MapPick::What::Controller, broker.id, {}, {}};
  const QRectF footRect = m_layout.controller(broker.id);
  if (m_hovered == whole && m_picked != whole) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(p.axis, 1.4));
    painter.drawRoundedRect(card, 8, 8);
  }
  if (m_picked == whole) drawPicked(painter, card, hasFocus());
  if (m_picked == foot || m_hovered == foot) {
    painter.setBrush(m_picked == foot ? p.selection : p.hover);
    painter.setPen(m_picked == foot && hasFocus() ? QPen(p.accent, 1.6) : QPen(Qt::NoPen));
    painter.drawRoundedRect(footRect.adjusted(5, 4, -5, -4), 5, 5);
  }
  const double left = card.left() + 14;
  const double right = card.right() - 12;
  drawShape(painter, look.shape, {left + 6, card.top() + 23}, 12, look.color);
  const QFont title = Theme::body(15, QFont::DemiBold);
  drawLine(painter, left + 20, card.top() + 28.5, broker.name, title, p.ink);
  const QFont port = Theme::mono(11.5);
  if (card.width() > 170) drawLine(painter, right, card.top() + 28, broker.port, port, p.muted, Qt::AlignRight);
  const QFont line = Theme::body(11.5);
  const QFont strong = Theme::body(11.5, QFont::DemiBold);
  paintFacts(painter, broker, card, footRect.top() - 4);
  painter.setPen(QPen(p.line, 1));
  painter.drawLine(QPointF(left, footRect.top() + 0.5), QPointF(right, footRect.top() + 0.5));
  const double middle = footRect.center().y() + 0.5;
  if (broker.isController)
    drawShape(painter, StateShape::Crown, {left + 6, middle}, 12, p.controllerCrown);
  else if (broker.isVoter)
    drawShape(painter, StateShape::Ring, {left + 6, middle}, 10, p.violet);
  drawLine(painter, left + 20, middle + 4.3,
           elidedTo(roomy ? broker.controller : broker.shortController, broker.isController ? strong : line,
                    right - left - 20),
           broker.isController ? strong : line, broker.isController ? p.violet : p.muted);
  if (broker.warning.isEmpty()) return;
  // Links pass below it: it stands on a ground of its own.
  const QRectF ground(card.left(), card.bottom() + 4, textWidth(broker.warning, strong) + 12, 18);
  painter.setPen(QPen(mixed(p.warnSoft, p.warnText, 0.25), 1));
  painter.setBrush(p.warnSoft);
  painter.drawRoundedRect(ground, 9, 9);
  drawLine(painter, ground.left() + 6, ground.center().y() + 4.2, broker.warning, strong, p.warnText);
}

void MapView::paintSmall(QPainter& painter, const MapBroker& node) const {
  const Palette& p = colors();
  const QRectF card = m_layout.broker(node.id);
  const StateLook look = lookOf(node.state, !node.failedDirectories.isEmpty());
  const bool fine = node.state == observe::BrokerState::Running;
  painter.setBrush(fine ? QBrush(p.panel) : hatch(p.hatchGround, p.hatchLine));
  painter.setPen(fine ? QPen(p.line, 1.2) : QPen(look.color, 1.8, Qt::DashLine));
  painter.drawRoundedRect(card, 8, 8);
  const MapPick self{MapPick::What::Broker, node.id, {}, {}};
  const MapPick foot{MapPick::What::Controller, node.id, {}, {}};
  if (m_hovered == self && m_picked != self) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(p.axis, 1.4));
    painter.drawRoundedRect(card, 8, 8);
  }
  if (m_picked == self) drawPicked(painter, card, hasFocus());
  if (m_picked == foot || m_hovered == foot) {
    painter.setBrush(m_picked == foot ? p.selection : p.hover);
    painter.setPen(m_picked == foot && hasFocus() ? QPen(p.accent, 1.6) : QPen(Qt::NoPen));
    painter.drawRoundedRect(m_layout.controller(node.id).adjusted(3, 1, -3, -3), 5, 5);
  }
  const double left = card.left() + kSmallInset;
  const double text = card.left() + kSmallText;
  const double room = card.right() - 4 - text;
  const QFont title = Theme::body(13, QFont::DemiBold);
  drawShape(painter, look.shape, {left + 5, card.top() + 16}, 10, look.color);
  drawLine(painter, text, card.top() + 20.5, elidedTo(node.name, title, room), title, p.ink);
  // What is worst is told; the tooltip tells all.
  const QFont line = Theme::body(11.5);
  const QFont strong = Theme::body(11.5, QFont::DemiBold);
  const double y = card.top() + 38;
  if (!node.shortTrouble.isEmpty() || !node.failedDirectories.isEmpty()) {
    const QString words = node.shortTrouble.isEmpty()
                              ? tr("%n log dir(s) offline", nullptr, static_cast<int>(node.failedDirectories.size()))
                              : node.shortTrouble;
    drawLine(painter, text, y, elidedTo(words, strong, room), strong, look.textColor);
  } else if (!node.faults.isEmpty()) {
    const StateLook fault = lookOf(node.faultKind);
    drawShape(painter, fault.shape, {left + 5, y - 4}, 9, fault.color);
    // Whose it is the card says.
    QString words = node.faults.front();
    if (words.startsWith(node.name + QLatin1Char(' '))) words = words.mid(node.name.size() + 1);
    drawLine(painter, text, y, elidedTo(words, strong, room), strong, p.warnText);
  } else if (node.isController || node.isVoter) {
    if (node.isController)
      drawShape(painter, StateShape::Crown, {left + 5, y - 4}, 11, p.controllerCrown);
    else
      drawShape(painter, StateShape::Ring, {left + 5, y - 4}, 9, p.violet);
    const QFont& font = node.isController ? strong : line;
    drawLine(painter, text, y, elidedTo(node.shortController, font, room), font,
             node.isController ? p.violet : p.muted);
  } else {
    drawLine(painter, text, y, elidedTo(node.isBroker ? node.shortLeads : node.shortController, line, room), line,
             p.muted);
  }
}

void MapView::paintFacts(QPainter& painter, const MapBroker& broker, const QRectF& card, double end) const {
  const Palette& p = colors();
  const bool roomy = m_layout.cards() == MapLayout::Cards::Roomy;
  struct Line {
    QString text;
    QColor color;
    /// None: words alone.
    StateShape shape = StateShape::None;
    QColor shapeColor = {};
  };
  // What is worst comes first: a small card holds one of them.
  std::vector<Line> lines;
  if (!broker.trouble.isEmpty())
    lines.push_back({roomy ? broker.trouble : broker.shortTrouble, lookOf(broker.state).textColor});
  if (!broker.reason.isEmpty()) lines.push_back({broker.reason, lookOf(broker.state).textColor});
  if (const auto failed = static_cast<int>(broker.failedDirectories.size()); failed > 0)
    lines.push_back({tr("%n log dir(s) offline", nullptr, failed), p.badText, StateShape::Cross, p.bad});
  if (!broker.faults.isEmpty()) {
    QString text = broker.faults.front();
    if (broker.faults.size() > 1) text = tr("%1 and %2 more").arg(text, QString::number(broker.faults.size() - 1));
    const StateLook fault = lookOf(broker.faultKind);
    lines.push_back({text, p.warnText, fault.shape, fault.color});
  }
  const size_t strong = lines.size();
  lines.push_back({roomy ? broker.leads : broker.shortLeads, p.muted});
  if (roomy) lines.push_back({broker.machine, p.muted});
  const double left = card.left() + 14;
  double y = card.top() + 49;
  for (size_t i = 0; i < lines.size() && y <= end; ++i, y += 17) {
    const Line& each = lines[i];
    const double indent = each.shape == StateShape::None ? 0 : 15;
    if (indent > 0) drawShape(painter, each.shape, {left + 5, y - 4}, 9, each.shapeColor);
    const QFont font = Theme::body(11.5, i < strong ? QFont::DemiBold : QFont::Normal);
    drawLine(painter, left + indent, y, elidedTo(each.text, font, card.right() - 12 - left - indent), font, each.color);
  }
}

void MapView::paintClient(QPainter& painter, const MapClient& client) const {
  const Palette& p = colors();
  const QRectF card = m_layout.client(client.name);
  const MapPick self{MapPick::What::Client, {}, {}, client.name};
  painter.setBrush(p.panel);
  painter.setPen(QPen(m_hovered == self ? p.axis : p.line, 1.2));
  painter.drawRoundedRect(card, 8, 8);
  painter.setPen(Qt::NoPen);
  painter.setBrush(client.own ? p.violet : p.accent);
  painter.drawRoundedRect(QRectF(card.left(), card.top() + 8, 4, card.height() - 16), 2, 2);
  if (m_picked == self) drawPicked(painter, card, hasFocus());
  const bool small = m_layout.cards() == MapLayout::Cards::Small;
  const double left = card.left() + (small ? 12 : 18);
  const double room = card.right() - (small ? 7 : 10) - left;
  const QFont title = Theme::body(small ? 12 : 13, QFont::DemiBold);
  const QFont line = Theme::body(11.5);
  const QString name = client.name.empty() ? tr("without a name") : fromUtf8(client.name);
  // Names of one program begin alike and end differently.
  drawLine(painter, left, card.top() + (small ? 19.5 : 24),
           QFontMetricsF(title).elidedText(name, Qt::ElideMiddle, room), title, p.ink);
  if (!small)
    drawLine(painter, left, card.top() + 43,
             elidedTo(client.software.isEmpty() ? tr("software not told") : client.software, line, room), line,
             p.muted);
  const double last = card.top() + (small ? 37 : 61);
  if (client.faults.isEmpty()) {
    drawLine(painter, left, last, elidedTo(client.does, line, room), line, p.ink);
    return;
  }
  const StateLook fault = lookOf(client.faultKind);
  drawShape(painter, fault.shape, {left + 5, last - 4}, 9, fault.color);
  const QFont strong = Theme::body(11.5, QFont::DemiBold);
  drawLine(painter, left + 15, last, elidedTo(client.faults.front(), strong, room - 15), strong, p.warnText);
}

void MapView::paintLegend(QPainter& painter) const {
  const Palette& p = colors();
  const double y = height() - 26;
  const QFont font = Theme::body(11.5);
  struct Sample {
    QString name;
    /// Where the whole does not fit.
    QString brief;
    MapDirection direction;
    bool arrow = true;
  };
  const QString slowed = tr("slowed");
  const QString held = tr("held");
  const QString cut = tr("cut");
  // Brokers do not count for each connection what is produced over it.
  const Sample samples[] = {{tr("records are fetched over it"), tr("fetched"), {MapWay::Open, {}, 1}},
                            {tr("none fetched; what is produced is not counted"), tr("none"), {MapWay::Open, {}, 0}},
                            {slowed, slowed, {MapWay::Slowed, {}, 0}},
                            {held, held, {MapWay::Held, {}, 0}, false},
                            {cut, cut, {MapWay::Cut, {}, 0}, false}};
  double whole = 20;
  for (const Sample& sample : samples) whole += 30 + 6 + textWidth(sample.name, font) + 22;
  const bool narrow = whole > width();
  const double stroke = narrow ? 20 : 30;
  double x = 20;
  for (const Sample& sample : samples) {
    const QString& name = narrow ? sample.brief : sample.name;
    paintStroke(painter, {{x, y}, {x + stroke, y}}, sample.direction, false, sample.arrow);
    drawLine(painter, x + stroke + 6, y + 4, name, font, p.muted);
    x += stroke + 6 + textWidth(name, font) + (narrow ? 10 : 22);
  }
  const QString help = m_layout.hiddenClients() > 0
                           ? tr("%n client(s) more, in the table (T)", nullptr, m_layout.hiddenClients())
                           : tr("click a link, or go with the arrows and press Enter");
  if (x + 20 + textWidth(help, font) < width())
    drawLine(painter, width() - 20, y + 4, help, font, p.muted, Qt::AlignRight);
}

}  // namespace tidemark::widgets
