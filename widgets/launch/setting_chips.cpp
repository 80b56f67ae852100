#include "launch/setting_chips.h"

#include <algorithm>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

SettingChips::SettingChips(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setMouseTracking(true);
  setFocusPolicy(Qt::TabFocus);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SettingChips::setSettings(std::vector<observe::Setting> settings) {
  m_texts.clear();
  for (const observe::Setting& setting : settings) {
    bool number = false;
    const qlonglong value = fromUtf8(setting.value).toLongLong(&number);
    m_texts.push_back(fromUtf8(setting.key) + QLatin1Char(' ') + (number ? grouped(value) : fromUtf8(setting.value)));
  }
  QStringList all;
  for (const QString& text : m_texts) all << text;
  setAccessibleName(all.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void SettingChips::setShowsAll(bool all) {
  m_all = all;
  updateGeometry();
  update();
}

namespace {

/// Its arrow is a tiny one in a font for figures.
QFont switchFont() {
  return Theme::body(11.5, QFont::Medium);
}

}  // namespace

template <class Each>
int SettingChips::place(int width, Each&& each) const {
  const QFontMetricsF metrics(Theme::mono(11, QFont::Medium));
  const auto wide = [&metrics](const QString& text) { return metrics.horizontalAdvance(text) + 20; };
  const QFontMetricsF ofSwitch(switchFont());
  const auto wideSwitch = [&ofSwitch](const QString& text) { return ofSwitch.horizontalAdvance(text) + 20; };
  const auto more = [](size_t left) { return SettingChips::tr("%n more ▾", nullptr, static_cast<int>(left)); };
  double x = 0;
  int row = 0;
  for (size_t i = 0; i < m_texts.size(); ++i) {
    const double needed = wide(m_texts[i]);
    const size_t left = m_texts.size() - i;
    const bool wraps = x > 0 && x + needed > width;
    // The switch stands behind the last chip, for which every chip of the last row has left room.
    if (!m_all && wraps && row == kRows - 1) {
      each(more(left), QRectF(x, row * 26.0, wideSwitch(more(left)), 20), true);
      return row * 26 + 21;
    }
    if (wraps) {
      x = 0;
      ++row;
    }
    if (!m_all && row == kRows - 1 && left > 1 && x + needed + 8 + wideSwitch(more(left - 1)) > width) {
      each(more(left), QRectF(x, row * 26.0, wideSwitch(more(left)), 20), true);
      return row * 26 + 21;
    }
    each(m_texts[i], QRectF(x, row * 26.0, needed, 20), false);
    x += needed + 8;
  }
  if (m_all) {
    const QString fewer = SettingChips::tr("fewer ▴");
    if (x > 0 && x + wideSwitch(fewer) > width) {
      x = 0;
      ++row;
    }
    each(fewer, QRectF(x, row * 26.0, wideSwitch(fewer), 20), true);
  }
  return m_texts.empty() ? 0 : row * 26 + 21;
}

int SettingChips::heightForWidth(int width) const {
  return place(width, [](const QString&, const QRectF&, bool) {});
}

QRectF SettingChips::switchRect() const {
  QRectF found;
  place(width(), [&found](const QString&, const QRectF& chip, bool isSwitch) {
    if (isSwitch) found = chip;
  });
  return found;
}

void SettingChips::mousePressEvent(QMouseEvent* event) {
  if (switchRect().contains(event->position())) setShowsAll(!m_all);
}

void SettingChips::mouseMoveEvent(QMouseEvent* event) {
  setCursor(switchRect().contains(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void SettingChips::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space)
    setShowsAll(!m_all);
  else
    QWidget::keyPressEvent(event);
}

void SettingChips::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  place(width(), [&](const QString& text, const QRectF& chip, bool isSwitch) {
    painter.setFont(isSwitch ? switchFont() : Theme::mono(11, QFont::Medium));
    painter.setPen(QPen(isSwitch && hasFocus() ? p.accent : p.line, 1));
    painter.setBrush(isSwitch ? p.panel : p.sunken);
    painter.drawRoundedRect(chip.adjusted(0.5, 0.5, -0.5, -0.5), 10, 10);
    painter.setPen(isSwitch ? p.accent : p.muted);
    painter.drawText(QPointF(chip.left() + 10, chip.top() + 14), text);
  });
}

}  // namespace tidemark::widgets
