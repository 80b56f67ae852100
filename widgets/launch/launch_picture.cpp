#include "launch/launch_picture.h"

#include <algorithm>
#include <utility>

#include <QPainter>

#include "bridge/engine_bridge.h"
#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

LaunchPicture::LaunchPicture(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("What will start"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LaunchPicture::setOptions(observe::LaunchOptions options, double loadPerSecond, bool goesOn) {
  m_topic = options.firstTopic ? fromUtf8(options.firstTopic->name) : QString();
  m_goesOn = goesOn;
  // Where its partitions would lie is not known.
  if (goesOn) options.firstTopic.reset();
  const bool resized = height(options) != height(m_options);
  m_options = std::move(options);
  m_load = loadPerSecond;
  if (resized) updateGeometry();
  update();
}

int LaunchPicture::rows(const observe::LaunchOptions& options) {
  return options.firstTopic ? std::min(options.firstTopic->partitions, 5) : 0;
}

int LaunchPicture::cardHeight(const observe::LaunchOptions& options) {
  const bool more = options.firstTopic && options.firstTopic->partitions > rows(options);
  return std::max(110, 84 + rows(options) * 34 + (more ? 22 : 0));
}

void LaunchPicture::paintBroker(QPainter& painter, const QRectF& card, int number) const {
  const Palette& p = colors();
  QPen dashed(p.axis, 1.4);
  dashed.setDashPattern({4.3, 2.9});
  painter.setPen(dashed);
  painter.setBrush(p.panel);
  painter.drawRoundedRect(card, 10, 10);
  const bool narrow = card.width() < 150;
  const double left = card.left() + (narrow ? 9 : 14);
  const double right = card.right() - (narrow ? 9 : 14);
  painter.setFont(Theme::body(narrow ? 12.5 : 14, QFont::Bold));
  painter.setPen(p.ink);
  painter.drawText(QPointF(left, card.top() + 26), tr("Broker %1").arg(number));
  const QString port = m_options.port == 0 ? tr(":free") : QStringLiteral(":%1").arg(m_options.port + number - 1);
  painter.setFont(Theme::mono(11, QFont::Medium));
  painter.setPen(p.muted);
  const double portWidth = QFontMetricsF(painter.font()).horizontalAdvance(port);
  if (narrow)
    painter.drawText(QPointF(left, card.top() + 65), port);
  else
    painter.drawText(QPointF(right - portWidth, card.top() + 26), port);
  const bool votes = m_options.separateControllers == 0;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(p.controllerCrown, 1.5));
  if (votes) painter.drawEllipse(QPointF(left + 5, card.top() + 45), 4, 4);
  painter.setFont(Theme::body(narrow ? 11 : 11.5));
  painter.setPen(p.muted);
  painter.drawText(QPointF(left + (votes ? 16 : 0), card.top() + 49), !votes   ? tr("broker only")
                                                                      : narrow ? tr("controller")
                                                                               : tr("and controller"));
  if (rows(m_options) == 0) return;

  const observe::TopicOptions& topic = *m_options.firstTopic;
  const int copies = std::min(3, m_options.brokers);
  const double top = card.top() + 92;
  const int shown = rows(m_options);
  for (int partition = 0; partition < shown; ++partition) {
    const double y = top + partition * 34;
    // Round robin from broker 1 on: the first replica leads.
    int place = -1;
    for (int r = 0; r < copies; ++r)
      if ((partition + r) % m_options.brokers + 1 == number) place = r;
    const QFont font = Theme::mono(narrow ? 10 : 11);
    const double blocksLeft = narrow ? right - 42 : right - 60;
    painter.setFont(font);
    painter.setPen(p.muted);
    painter.drawText(QPointF(left, y),
                     QFontMetricsF(font).elidedText(
                         narrow ? tr("P%1").arg(partition) : partitionText({topic.name, PartitionIndex(partition)}),
                         Qt::ElideMiddle, blocksLeft - left - 4));
    if (place < 0) {
      painter.setFont(Theme::body(11));
      painter.drawText(QPointF(blocksLeft, y), QStringLiteral("–"));
      continue;
    }
    const double width = narrow ? 11 : 17;
    for (int block = 0; block < 3; ++block) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(place == 0 ? p.epochs[2] : p.epochsSoft[2]);
      painter.drawRoundedRect(QRectF(blocksLeft + block * (width + 3), y - 10, width, 14), 3, 3);
    }
    if (place == 0) {
      painter.setBrush(p.leaderCrown);
      painter.drawPath(crownPath({blocksLeft, y - 15}, 9.6));
    }
  }
  painter.setFont(Theme::body(11));
  painter.setPen(p.muted);
  if (topic.partitions > shown)
    painter.drawText(QPointF(left, top + shown * 34), tr("+ %n partition(s)", nullptr, topic.partitions - shown));
}

void LaunchPicture::paintControllers(QPainter& painter, const QRectF& room) const {
  const Palette& p = colors();
  const int count = m_options.separateControllers;
  const double gap = count > 3 ? 10 : 16;
  const double width = std::min(150.0, (room.width() - gap * (count - 1)) / count);
  const bool narrow = width < 124;
  const double begin = room.center().x() - (count * width + (count - 1) * gap) / 2;
  for (int i = 0; i < count; ++i) {
    const QRectF card(begin + i * (width + gap) + 0.7, room.top(), width - 1.4, room.height());
    QPen dashed(p.axis, 1.4);
    dashed.setDashPattern({4.3, 2.9});
    painter.setPen(dashed);
    painter.setBrush(p.panel);
    painter.drawRoundedRect(card, 10, 10);
    const double left = card.left() + (narrow ? 7 : 14);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(p.controllerCrown, 1.5));
    const double first = card.top() + (narrow ? 17 : 22.5);
    painter.drawEllipse(QPointF(left + 5, first - 4.5), 4, 4);
    const int number = m_options.brokers + i + 1;
    painter.setFont(Theme::body(13, QFont::DemiBold));
    painter.setPen(p.ink);
    // Where there is little room the number has a line and what it is another: one that is cut tells them apart by
    // nothing.
    painter.drawText(QPointF(left + 15, first), narrow ? QString::number(number) : tr("Controller %1").arg(number));
    painter.setPen(p.muted);
    if (narrow) {
      painter.setFont(Theme::body(11));
      painter.drawText(QPointF(left, first + 14), tr("controller"));
    }
    painter.setFont(Theme::mono(narrow ? 10.5 : 11, QFont::Medium));
    painter.drawText(narrow ? QPointF(left, first + 27.5) : QPointF(left + 15, card.top() + 40),
                     m_options.port == 0 ? tr(":free") : QStringLiteral(":%1").arg(m_options.port + 99 + number));
  }
}

void LaunchPicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  painter.setPen(QPen(p.line, 1));
  painter.setBrush(p.panel);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  const double left = 20;
  const double right = width() - 20;
  painter.setFont(Theme::body(14, QFont::DemiBold));
  painter.setPen(p.ink);
  painter.drawText(QPointF(left, 30), tr("What will start"));
  // Measured as resident: 63 MB idle and 76 MB under load for three brokers; the brokers alone are 10 to 12 MB.
  const QString memory = tr("about %1 MB of memory, this window included")
                             .arg(66 + 2 * (m_options.brokers + m_options.separateControllers));
  painter.setFont(Theme::body(12));
  painter.setPen(p.muted);
  painter.drawText(QPointF(right - QFontMetricsF(painter.font()).horizontalAdvance(memory), 30), memory);

  const QRectF address(left, 46, right - left, 34);
  painter.setPen(QPen(p.selectionLine, 1));
  painter.setBrush(p.selection);
  painter.drawRoundedRect(address.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  painter.setFont(Theme::body(12));
  painter.setPen(p.muted);
  painter.drawText(QPointF(left + 14, 67.5), tr("bootstrap"));
  const QString clients = tr("for kcat, Java, Python, Go …");
  painter.drawText(QPointF(right - 14 - QFontMetricsF(painter.font()).horizontalAdvance(clients), 67.5), clients);
  painter.setFont(Theme::mono(13, QFont::DemiBold));
  painter.setPen(p.accent);
  painter.drawText(QPointF(left + 86, 67.5),
                   m_options.port == 0
                       ? tr("%1:a free port").arg(fromUtf8(m_options.host))
                       : fromUtf8(fmt::format("{}", platform::Endpoint{m_options.host, m_options.port})));

  const int brokers = std::max(1, m_options.brokers);
  const double gap = brokers > 3 ? 10 : 16;
  const double cardWidth = std::min(220.0, (right - left - gap * (brokers - 1)) / brokers);
  const double begin = left + (right - left - brokers * cardWidth - (brokers - 1) * gap) / 2;
  for (int i = 0; i < brokers; ++i) {
    const QRectF card(begin + i * (cardWidth + gap) + 0.7, 112, cardWidth - 1.4, cardHeight(m_options));
    QPen dotted(p.axis, 1.4);
    dotted.setDashPattern({2.1, 2.9});
    painter.setPen(dotted);
    painter.drawLine(QPointF(card.center().x(), 80), QPointF(card.center().x(), 112));
    paintBroker(painter, card, i + 1);
    if (i + 1 == brokers || gap < 14) continue;
    // Each fetches from the other.
    for (const bool toRight : {true, false}) {
      const double y = card.center().y() + (toRight ? -8 : 8);
      const double from = toRight ? card.right() + 1 : card.right() + gap;
      const double to = toRight ? card.right() + gap : card.right() + 1;
      const double side = toRight ? -1 : 1;
      painter.setPen(QPen(p.heads, 1.4));
      painter.drawLine(QPointF(from, y), QPointF(to + side * 5, y));
      painter.setPen(Qt::NoPen);
      painter.setBrush(p.heads);
      painter.drawPolygon(QPolygonF({{to, y}, {to + side * 5, y + 3}, {to + side * 5, y - 3}}));
    }
  }

  painter.setPen(QPen(p.line, 1));
  if (m_options.separateControllers > 0) {
    painter.setBrush(Qt::NoBrush);
    paintControllers(painter, {left, 112.0 + cardHeight(m_options) + kAboveControllers, right - left,
                               static_cast<double>(kControllerHeight)});
    painter.setPen(QPen(p.line, 1));
  }
  const double below = 112 + cardHeight(m_options) + controllersHeight(m_options) + 20;
  painter.drawLine(QPointF(left, below + 0.5), QPointF(right, below + 0.5));
  const int copies = std::min(3, brokers);
  struct Line {
    QString name, text;
  };
  std::vector<Line> lines;
  lines.push_back({tr("topic"), m_goesOn && m_topic.isEmpty() ? tr("those that the folder holds")
                                : m_goesOn ? tr("those that the folder holds; %1 if it is not one of them").arg(m_topic)
                                : m_options.firstTopic ? tr("%1 %2 × RF %3, min.insync %4")
                                                             .arg(fromUtf8(m_options.firstTopic->name))
                                                             .arg(m_options.firstTopic->partitions)
                                                             .arg(copies)
                                                             .arg(std::min(2, copies))
                                                       : tr("none yet; topics are created on first use")});
  lines.push_back(
      {tr("load"), m_load > 0
                       ? tr("%1 record(s)/s, acks=all", nullptr, pluralOf(static_cast<int64_t>(m_load))).arg(m_load)
                       : tr("none; begin one with Produce…")});
  const int apart = m_options.separateControllers;
  const int voters = apart > 0 ? apart : brokers;
  lines.push_back(
      {tr("quorum"), voters == 1 ? tr("one controller: no loss survived")
                     : apart > 0
                         ? tr("%1 controllers of their own: survives the loss of %2").arg(voters).arg((voters - 1) / 2)
                         : tr("%1 controllers: survives the loss of %2").arg(voters).arg((voters - 1) / 2)});
  lines.push_back({tr("memory"), tr("and up to %1 more for snapshots of what was, until it stops")
                                     .arg(bytesText(static_cast<int64_t>(EngineBridge::kRememberedBytes)))});
  lines.push_back({tr("data"), m_options.dataFolder.empty() ? tr("a temporary folder, removed at the end")
                                                            : fromUtf8(m_options.dataFolder)});
  double y = below + 26;
  for (const Line& line : lines) {
    painter.setFont(Theme::body(12));
    painter.setPen(p.muted);
    painter.drawText(QPointF(left, y), line.name);
    painter.setPen(p.ink);
    painter.drawText(QPointF(left + 64, y),
                     QFontMetricsF(painter.font()).elidedText(line.text, Qt::ElideMiddle, right - left - 64));
    y += 26;
  }
  painter.setFont(Theme::body(11.5));
  painter.setPen(p.muted);
  painter.drawText(QPointF(left, y), tr("Full colour: the leader of that partition. Pale: a follower’s copy."));
}

}  // namespace tidemark::widgets
