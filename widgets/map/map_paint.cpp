// How the map is painted.
#include <algorithm>

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
  for (const MapBroker& broker : m_scene.brokers)
    broker.isBroker ? paintBroker(painter, broker) : paintController(painter, broker);
  paintLabels(painter, labels);
  paintLegend(painter);
}

void MapView::paintStroke(QPainter& painter, const QLineF& line, const MapDirection& direction, bool down,
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
  QLineF shaft = line;
  if (arrow) shaft.setLength(std::max(1.0, line.length() - 8));
  painter.drawLine(shaft);
  if (arrow) drawArrow(painter, line, down ? p.axis : color, 11);
}

void MapView::paintLink(QPainter& painter, const MapLink& link, std::vector<Label>& labels) const {
  const Palette& p = colors();
  const QLineF whole = m_layout.link(link);
  if (whole.length() < 2) return;
  const bool picked = link.pick() == m_picked;
  if (picked || link.pick() == m_hovered) {
    painter.setPen(QPen(picked ? p.selection : p.hover, link.client.empty() ? 40 : 16, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(whole);
    if (picked && hasFocus()) {
      const QLineF normal = whole.normalVector().unitVector();
      const QPointF aside = QPointF(normal.dx(), normal.dy()) * (link.client.empty() ? 20 : 8);
      painter.setPen(QPen(p.accent, 1.4));
      painter.drawLine(whole.translated(aside));
      painter.drawLine(whole.translated(-aside));
    }
  }
  const auto inkOf = [&p](MapWay way) { return way == MapWay::Cut ? p.badText : p.warnText; };
  const auto softOf = [&p](MapWay way) { return way == MapWay::Cut ? p.badSoft : p.warnSoft; };
  const QString one = QString::number(link.broker.value());
  const QString other = link.client.empty() ? QString::number(link.other.value()) : fromUtf8(link.client);
  const bool together =
      link.from.way != MapWay::Open && link.from.way == link.to.way && link.from.fault == link.to.fault;
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
      labels.push_back({whole.pointAt(0.5) + QPointF(0, 26),
                        tr("%1 %2 %3  %4").arg(fromBroker ? one : other, arrow, fromBroker ? other : one, shown.fault),
                        inkOf(shown.way), softOf(shown.way), true});
    } else if (showsRate(link) && !recordsText(link.from.rate).isEmpty() && link.from.rate > 0) {
      labels.push_back({whole.pointAt(0.62), recordsText(link.from.rate), p.ink, p.panel, false});
    }
    return;
  }
  // No records go to a controller: one thin line is enough while nothing is done to it.
  if (link.ofController && link.from.way == MapWay::Open && link.to.way == MapWay::Open) {
    painter.setPen(QPen(p.axis, 1.2, link.down ? Qt::DotLine : Qt::SolidLine));
    painter.drawLine(whole);
    return;
  }
  for (const bool fromBroker : {true, false}) {
    const MapDirection& direction = fromBroker ? link.from : link.to;
    const QLineF line = m_layout.stroke(link, fromBroker);
    paintStroke(painter, line, direction, link.down, true);
    const QString name = tr("%1 → %2").arg(fromBroker ? one : other, fromBroker ? other : one);
    const QPointF at = line.pointAt(0.42);
    if (direction.way == MapWay::Cut || direction.way == MapWay::Held) {
      painter.setBrush(p.panel);
      painter.setPen(QPen(direction.way == MapWay::Cut ? p.bad : p.warn, 2));
      painter.drawEllipse(line.pointAt(0.72), 9, 9);
      drawShape(painter, direction.way == MapWay::Cut ? StateShape::Cross : StateShape::Bars, line.pointAt(0.72), 8,
                direction.way == MapWay::Cut ? p.bad : p.warn);
    }
    if (direction.way != MapWay::Open)
      labels.push_back(
          {at, tr("%1  %2").arg(name, direction.fault), inkOf(direction.way), softOf(direction.way), true});
    else if (!link.down && showsRate(link) && direction.rate > 0)
      labels.push_back({at, tr("%1  %2").arg(name, recordsText(direction.rate)), p.accent, p.selection, true});
  }
}

void MapView::paintLabels(QPainter& painter, const std::vector<Label>& labels) const {
  const Palette& p = colors();
  std::vector<QRectF> taken;
  for (const Label& label : labels) {
    const QFont font = Theme::body(11.5, label.strong ? QFont::DemiBold : QFont::Normal);
    const double width = textWidth(label.text, font) + 16;
    QRectF box(label.at.x() - width / 2, label.at.y() - 10, width, 20);
    box.moveLeft(std::clamp(box.left(), 6.0, std::max(6.0, this->width() - 6 - width)));
    // A card is not covered: the label stands beside it.
    const auto beside = [&box](const QRectF& card) {
      if (card.isNull() || !box.intersects(card)) return;
      if (box.center().x() < card.center().x())
        box.moveRight(card.left() - 5);
      else
        box.moveLeft(card.right() + 5);
    };
    for (const MapBroker& broker : m_scene.brokers) beside(m_layout.broker(broker.id));
    for (const MapClient& client : m_scene.clients) beside(m_layout.client(client.name));
    // Two that would lie on each other are told one below the other.
    for (int moves = 0;
         moves < 4 && std::ranges::any_of(taken, [&box](const QRectF& one) { return one.intersects(box); }); ++moves)
      box.translate(0, 22);
    taken.push_back(box);
    painter.setPen(QPen(label.ground == p.panel ? p.line : mixed(label.ground, label.ink, 0.25), 1));
    painter.setBrush(label.ground);
    painter.drawRoundedRect(box, 10, 10);
    drawLine(painter, box.left() + 8, box.center().y() + 4.2, label.text, font, label.ink);
  }
}

void MapView::paintBroker(QPainter& painter, const MapBroker& broker) const {
  const Palette& p = colors();
  const QRectF card = m_layout.broker(broker.id);
  const StateLook look = lookOf(broker.state, !broker.failedDirectories.isEmpty());
  const bool fine = broker.state == observe::BrokerState::Running;
  const bool roomy = m_layout.isRoomy();
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

void MapView::paintController(QPainter& painter, const MapBroker& node) const {
  const Palette& p = colors();
  const QRectF card = m_layout.broker(node.id);
  const StateLook look = lookOf(node.state, !node.failedDirectories.isEmpty());
  const bool fine = node.state == observe::BrokerState::Running;
  painter.setBrush(fine ? QBrush(p.panel) : hatch(p.hatchGround, p.hatchLine));
  painter.setPen(fine ? QPen(p.line, 1.2) : QPen(look.color, 1.8, Qt::DashLine));
  painter.drawRoundedRect(card, 8, 8);
  const MapPick self{MapPick::What::Broker, node.id, {}, {}};
  if (m_hovered == self && m_picked != self) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(p.axis, 1.4));
    painter.drawRoundedRect(card, 8, 8);
  }
  if (m_picked == self) drawPicked(painter, card, hasFocus());
  const double left = card.left() + 10;
  const double room = card.right() - 8 - left;
  const QFont title = Theme::body(13, QFont::DemiBold);
  drawShape(painter, look.shape, {left + 5, card.top() + 17}, 10, look.color);
  drawLine(painter, left + 16, card.top() + 21.5, elidedTo(node.name, title, room - 16), title, p.ink);
  // What is worst is told; the tooltip tells all.
  const QFont line = Theme::body(11.5);
  const QFont strong = Theme::body(11.5, QFont::DemiBold);
  const double y = card.top() + 39;
  if (!node.shortTrouble.isEmpty() || !node.failedDirectories.isEmpty()) {
    const QString text = node.shortTrouble.isEmpty()
                             ? tr("%n log dir(s) offline", nullptr, static_cast<int>(node.failedDirectories.size()))
                             : node.shortTrouble;
    drawLine(painter, left + 16, y, elidedTo(text, strong, room - 16), strong, look.textColor);
  } else if (!node.faults.isEmpty()) {
    const StateLook fault = lookOf(node.faultKind);
    drawShape(painter, fault.shape, {left + 5, y - 4}, 9, fault.color);
    // Whose it is the card says.
    QString text = node.faults.front();
    if (text.startsWith(node.name + QLatin1Char(' '))) text = text.mid(node.name.size() + 1);
    drawLine(painter, left + 16, y, elidedTo(text, strong, room - 16), strong, p.warnText);
  } else {
    if (node.isController)
      drawShape(painter, StateShape::Crown, {left + 5, y - 4}, 11, p.controllerCrown);
    else
      drawShape(painter, StateShape::Ring, {left + 5, y - 4}, 9, p.violet);
    const QFont& font = node.isController ? strong : line;
    drawLine(painter, left + 16, y, elidedTo(node.shortController, font, room - 16), font,
             node.isController ? p.violet : p.muted);
  }
}

void MapView::paintFacts(QPainter& painter, const MapBroker& broker, const QRectF& card, double end) const {
  const Palette& p = colors();
  const bool roomy = m_layout.isRoomy();
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
  painter.drawRoundedRect(QRectF(card.left(), card.top() + 10, 4, card.height() - 20), 2, 2);
  if (m_picked == self) drawPicked(painter, card, hasFocus());
  const double left = card.left() + 18;
  const double room = card.right() - 10 - left;
  const QFont title = Theme::body(13, QFont::DemiBold);
  const QFont line = Theme::body(11.5);
  const QString name = client.name.empty() ? tr("without a name") : fromUtf8(client.name);
  drawLine(painter, left, card.top() + 24, elidedTo(name, title, room), title, p.ink);
  drawLine(painter, left, card.top() + 43,
           elidedTo(client.software.isEmpty() ? tr("software not told") : client.software, line, room), line, p.muted);
  if (client.faults.isEmpty()) {
    drawLine(painter, left, card.top() + 61, elidedTo(client.does, line, room), line, p.ink);
    return;
  }
  const StateLook fault = lookOf(client.faultKind);
  drawShape(painter, fault.shape, {left + 5, card.top() + 57}, 9, fault.color);
  const QFont strong = Theme::body(11.5, QFont::DemiBold);
  drawLine(painter, left + 15, card.top() + 61, elidedTo(client.faults.front(), strong, room - 15), strong, p.warnText);
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
    paintStroke(painter, {x, y, x + stroke, y}, sample.direction, false, sample.arrow);
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
