#include "views/time_bar.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QSlider>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kSpeeds[] = {0.01, 0.1, 0.5, 1, 4, 16};
constexpr int kUsualSpeed = 3;
constexpr int kSliderSteps = 10'000;

}  // namespace

MomentPill::MomentPill(TimeTravel& travel, QWidget* parent) : QWidget(parent), m_travel(travel) {
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  const auto take = [this] {
    setAccessibleName(text());
    setToolTip(m_travel.isLive()
                   ? tr("The window shows the cluster as it is now. , and . step through what has happened.")
                   : tr("The window shows the cluster as it was then, in all views. L: back to the present"));
    updateGeometry();
    update();
  };
  connect(&travel, &TimeTravel::changed, this, take);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  take();
}

QString MomentPill::text() const {
  if (m_travel.isLive()) return m_travel.isRecorded() ? tr("RECORDING") : tr("LIVE");
  // As the event's own clock tells it, which may be a millisecond apart.
  const QString time = timeText(m_travel.axis().held().value_or(m_travel.at()));
  return m_travel.isRecorded() ? tr("RECORDING %1").arg(time) : tr("HISTORY %1").arg(time);
}

QSize MomentPill::sizeHint() const {
  // In steps, so that digits move nothing.
  const double wide = textWidth(text(), Theme::body(11, QFont::Bold)) + 36;
  return {(qCeil(wide) + 7) / 8 * 8, 22};
}

void MomentPill::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  const bool live = m_travel.isLive() && !m_travel.isRecorded();
  painter.setPen(Qt::NoPen);
  painter.setBrush(live ? p.okSoft : p.fencedSoft);
  painter.drawRoundedRect(rect(), 11, 11);
  if (live) {
    drawShape(painter, StateShape::Disc, {13, 11}, 8, p.ok);
  } else {
    painter.setBrush(p.fenced);
    painter.drawPolygon(QPolygonF({{9, 11}, {16, 6.5}, {16, 15.5}}));
  }
  if (width() > 60) drawLine(painter, 23, 15, text(), Theme::body(11, QFont::Bold), live ? p.okText : p.fenced);
}

void MomentPill::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) Q_EMIT clicked();
}

TimeButton::TimeButton(Sign sign, QWidget* parent) : QPushButton(parent), m_sign(sign) {}

void TimeButton::setSign(Sign sign) {
  if (sign == m_sign) return;
  m_sign = sign;
  update();
}

void TimeButton::paintEvent(QPaintEvent* event) {
  QPushButton::paintEvent(event);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(isEnabled() ? colors().ink : colors().muted);
  const QPointF middle = QRectF(rect()).center();
  const auto bar = [&](double x) { painter.drawRect(QRectF(middle.x() + x, middle.y() - 6, 3, 12)); };
  const auto triangle = [&](double from, double to) {
    painter.drawPolygon(QPolygonF(
        {{middle.x() + from, middle.y() - 6}, {middle.x() + to, middle.y()}, {middle.x() + from, middle.y() + 6}}));
  };
  switch (m_sign) {
    case Sign::Back:
      bar(-7);
      triangle(6, -3);
      break;
    case Sign::Play:
      triangle(-4, 7);
      break;
    case Sign::Stop:
      bar(-5);
      bar(2);
      break;
    case Sign::Forth:
      triangle(-6, 3);
      bar(4);
      break;
  }
}

TimeBar::TimeBar(TimeTravel& travel, QWidget* parent)
    : QWidget(parent),
      m_travel(travel),
      m_back(new TimeButton(TimeButton::Sign::Back)),
      m_play(new TimeButton(TimeButton::Sign::Play)),
      m_forth(new TimeButton(TimeButton::Sign::Forth)),
      m_speeds(new QComboBox),
      m_slider(new QSlider(Qt::Horizontal)),
      m_time(new QLabel),
      m_live(new QPushButton) {
  setFixedHeight(40);
  setAccessibleName(tr("The moment that is shown"));
  m_back->setToolTip(tr("One event back (,)"));
  m_back->setAccessibleName(tr("One event back"));
  m_forth->setToolTip(tr("One event on (.)"));
  m_forth->setAccessibleName(tr("One event on"));
  m_play->setToolTip(tr("Play on from here, or stop (Space)"));
  for (TimeButton* button : {m_back, m_play, m_forth}) button->setFixedSize(34, 26);
  for (const double speed : kSpeeds)
    m_speeds->addItem(speed < 1 ? tr("1/%1 ×").arg(qRound(1 / speed)) : tr("%1 ×").arg(speed), speed);
  m_speeds->setCurrentIndex(kUsualSpeed);
  m_speeds->setAccessibleName(tr("Speed"));
  m_speeds->setToolTip(tr("How fast it is played"));
  m_slider->setRange(0, kSliderSteps);
  m_slider->setPageStep(kSliderSteps / 20);
  m_slider->setMinimumWidth(40);
  m_slider->setAccessibleName(tr("Where in what is remembered"));
  m_time->setProperty("kind", QStringLiteral("muted"));
  m_time->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_live->setText(travel.isRecorded() ? tr("To the end ▸") : tr("Go live ▸"));
  m_live->setToolTip(travel.isRecorded() ? tr("The last moment (L)") : tr("Back to the present (L)"));
  m_live->setProperty("kind", QStringLiteral("primary"));
  m_live->setFixedHeight(28);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(24, 0, 14, 0);
  row->setSpacing(8);
  row->addWidget(m_back);
  row->addWidget(m_play);
  row->addWidget(m_forth);
  row->addWidget(m_speeds);
  row->addWidget(m_slider, 3);
  row->addWidget(m_time, 1);
  row->addWidget(m_live);
  connect(m_back, &QPushButton::clicked, this, [this] { m_travel.step(-1); });
  connect(m_forth, &QPushButton::clicked, this, [this] { m_travel.step(1); });
  connect(m_play, &QPushButton::clicked, this, [this] { m_travel.isPlaying() ? m_travel.pause() : m_travel.play(); });
  connect(m_live, &QPushButton::clicked, &travel, &TimeTravel::goLive);
  connect(m_speeds, &QComboBox::currentIndexChanged, this,
          [this](int index) { m_travel.setSpeed(m_speeds->itemData(index).toDouble()); });
  connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
    if (m_taking) return;
    m_travel.pause();
    const auto begin = m_travel.begin();
    m_travel.lookAt(begin + (m_travel.axis().now() - begin) * value / kSliderSteps);
  });
  connect(&travel, &TimeTravel::changed, this, &TimeBar::take);
  take();
}

void TimeBar::take() {
  setVisible(!m_travel.isLive());
  m_play->setSign(m_travel.isPlaying() ? TimeButton::Sign::Stop : TimeButton::Sign::Play);
  m_play->setAccessibleName(m_travel.isPlaying() ? tr("Stop") : tr("Play"));
  if (m_travel.isLive()) return;
  const auto begin = m_travel.begin();
  const auto all = m_travel.axis().now() - begin;
  m_taking = true;
  if (all.count() > 0) m_slider->setValue(static_cast<int>((m_travel.at() - begin) * kSliderSteps / all));
  m_taking = false;
  const auto ago = m_travel.axis().now() - m_travel.at();
  m_time->setText(m_travel.isRecorded() ? tr("%1 of %2").arg(durationText(m_travel.at() - begin), durationText(all))
                                        : agoText(ago));
  // It is never cut; its room only grows, so that digits move nothing.
  m_time->ensurePolished();
  m_time->setMinimumWidth(
      std::max(m_time->minimumWidth(), m_time->fontMetrics().horizontalAdvance(m_time->text()) + 2));
}

void TimeBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colors();
  painter.fillRect(rect(), mixed(p.panel, p.fencedSoft, 0.55));
  painter.setPen(QPen(p.line, 1));
  painter.drawLine(QPointF(0, height() - 0.5), QPointF(width(), height() - 0.5));
}

}  // namespace tidemark::widgets
