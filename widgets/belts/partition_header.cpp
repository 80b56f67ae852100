#include "belts/partition_header.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

PartitionFigures::PartitionFigures(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void PartitionFigures::setFigures(const observe::TopicSnapshot* topic, const observe::PartitionSnapshot* partition) {
  std::vector<Figure> figures;
  if (topic != nullptr && partition != nullptr) {
    const bool below = observe::isBelowMinInSync(*topic, *partition);
    if (partition->leader == kNoNode) figures.push_back({tr("leader"), tr("none"), false, true});
    figures.push_back({tr("leader epoch"), QString::number(partition->leaderEpoch.value())});
    figures.push_back({tr("high watermark"), offsetText(partition->highWatermark), true});
    figures.push_back({tr("ISR"), nodesText(partition->isr), false, below});
    figures.push_back(
        {below ? tr("below min.insync") : tr("min.insync"), QString::number(topic->minInSync), false, below});
    figures.push_back({tr("last stable"), offsetText(partition->lastStable)});
    figures.push_back({tr("log start"), offsetText(partition->logStart)});
  }
  if (figures == m_figures) return;
  m_figures = std::move(figures);
  QStringList words;
  for (const Figure& figure : m_figures) words << figure.name + QLatin1Char(' ') + figure.value;
  setAccessibleName(words.join(QStringLiteral(", ")));
  update();
}

void PartitionFigures::setLegend(std::vector<LeaderEpoch> epochs) {
  if (epochs == m_legend) return;
  m_legend = std::move(epochs);
  update();
}

void PartitionFigures::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  const QFont nameFont = Theme::body(11);
  const QFont valueFont = Theme::mono(13.5, QFont::DemiBold);
  const QFontMetricsF nameMetrics(nameFont);
  const QFontMetricsF valueMetrics(valueFont);
  double x = 0;
  const double middle = height() / 2.0;
  // Where two epochs are in sight their colours must be told: figures that matter less give way.
  double legendWidth = 0;
  for (const LeaderEpoch epoch : m_legend)
    legendWidth += 18 + QFontMetricsF(Theme::body(11.5)).horizontalAdvance(tr("epoch %1").arg(epoch.value())) + 22;
  const double forFigures = m_legend.size() > 1 && legendWidth < width() * 0.5 ? width() - legendWidth : width();
  for (const Figure& figure : m_figures) {
    // Room grows in steps, so that the figures to the right do not tremble with each digit.
    const double needed = std::max(nameMetrics.horizontalAdvance(figure.name),
                                   std::ceil(valueMetrics.horizontalAdvance(figure.value) / 18) * 18);
    if (x + needed > forFigures) break;
    painter.setFont(nameFont);
    painter.setPen(p.muted);
    painter.drawText(QPointF(x, middle - 3), figure.name);
    painter.setFont(valueFont);
    painter.setPen(figure.bad ? p.badText : figure.strong ? p.highWatermark : p.ink);
    painter.drawText(QPointF(x, middle + 13), figure.value);
    x += needed + 32;
  }
  const QFont legendFont = Theme::body(11.5);
  const QFontMetricsF legendMetrics(legendFont);
  for (const LeaderEpoch epoch : m_legend) {
    const QString text = tr("epoch %1").arg(epoch.value());
    if (x + 18 + legendMetrics.horizontalAdvance(text) > width()) break;
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.epoch(epoch));
    painter.drawRoundedRect(QRectF(x, middle - 5, 12, 12), 3, 3);
    painter.setFont(legendFont);
    painter.setPen(p.muted);
    painter.drawText(QPointF(x + 18, middle + 5), text);
    x += 18 + legendMetrics.horizontalAdvance(text) + 22;
  }
  const QString tick = tr("index entry");
  if (m_legend.empty() || x + 10 + legendMetrics.horizontalAdvance(tick) > width()) return;
  painter.setPen(QPen(p.indexTick, 2));
  painter.drawLine(QPointF(x + 2, middle - 3), QPointF(x + 2, middle + 5));
  painter.setFont(legendFont);
  painter.setPen(p.muted);
  painter.drawText(QPointF(x + 10, middle + 5), tick);
}

PartitionHeader::PartitionHeader(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_title(new QLabel(this)),
      m_pills(new QWidget(this)),
      m_more(new QPushButton(this)),
      m_figures(new PartitionFigures(this)) {
  m_title->setProperty("kind", QStringLiteral("title"));
  m_title->setTextFormat(Qt::PlainText);
  m_title->setMinimumWidth(40);
  auto* pills = new QHBoxLayout(m_pills);
  pills->setContentsMargins(0, 0, 0, 0);
  pills->setSpacing(8);
  m_more->setProperty("kind", QStringLiteral("pill"));
  m_more->setMenu(new QMenu(m_more));
  m_more->setToolTip(tr("More partitions"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(24, 12, 24, 8);
  layout->setSpacing(0);
  layout->addWidget(m_title);
  layout->addSpacing(24);
  layout->addWidget(m_pills);
  layout->addSpacing(8);
  layout->addWidget(m_more);
  layout->addSpacing(32);
  layout->addWidget(m_figures, 1);
  m_more->hide();
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) take(*frame.snapshot);
  });
}

void PartitionHeader::setPartition(const std::optional<TopicPartition>& partition) {
  if (!m_partition || !partition || m_partition->topic != partition->topic) m_count = -1;
  m_partition = partition;
  take(*m_bridge.snapshot());
}

void PartitionHeader::take(const observe::ClusterSnapshot& cluster) {
  const observe::TopicSnapshot* topic = m_partition ? observe::findTopic(cluster, m_partition->topic) : nullptr;
  const observe::PartitionSnapshot* partition = m_partition ? observe::findPartition(cluster, *m_partition) : nullptr;
  const QString name = topic == nullptr ? QString() : fromUtf8(topic->name);
  // A long name leaves room for the rest.
  m_title->ensurePolished();
  m_title->setText(m_title->fontMetrics().elidedText(name, Qt::ElideMiddle, std::max(90, width() * 3 / 10)));
  m_title->setToolTip(m_title->text() == name ? QString() : name);
  makePills(topic == nullptr ? 0 : static_cast<int>(topic->partitions.size()));
  m_figures->setFigures(topic, partition);
}

void PartitionHeader::makePills(int count) {
  // Pills may take about a third of the row; where that is not enough for two, there is the menu.
  const int room = std::max(1, width() / 3 / 48);
  const int selected = m_partition ? m_partition->partition.value() : -1;
  if (count != m_count || room != m_room) {
    m_count = count;
    m_room = room;
    for (QPushButton* button : m_buttons) {
      // One of them may be what was clicked: it goes later, but is out of sight now.
      button->hide();
      button->deleteLater();
    }
    m_buttons.clear();
    for (int i = 0; i < std::min(count, count <= room ? room : room - 1); ++i) {
      auto* button = new QPushButton(tr("P%1").arg(i), m_pills);
      button->setProperty("kind", QStringLiteral("pill"));
      button->setCheckable(true);
      button->setAccessibleName(tr("Partition %1").arg(i));
      connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT partitionPicked(i); });
      m_pills->layout()->addWidget(button);
      m_buttons.push_back(button);
    }
    m_more->menu()->clear();
    for (int i = static_cast<int>(m_buttons.size()); i < count; ++i)
      m_more->menu()->addAction(tr("Partition %1").arg(i), this, [this, i] { Q_EMIT partitionPicked(i); });
    m_more->setVisible(static_cast<int>(m_buttons.size()) < count);
  }
  for (size_t i = 0; i < m_buttons.size(); ++i) m_buttons[i]->setChecked(static_cast<int>(i) == selected);
  const bool beyond = selected >= static_cast<int>(m_buttons.size());
  m_more->setText(beyond ? tr("P%1 ▾").arg(selected) : QStringLiteral("… ▾"));
  m_more->setCheckable(true);
  m_more->setChecked(beyond);
}

void PartitionHeader::resizeEvent(QResizeEvent*) {
  take(*m_bridge.snapshot());
}

}  // namespace tidemark::widgets
