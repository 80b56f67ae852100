#include "launch/setting_chips.h"

#include <QPainter>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

SettingChips::SettingChips(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
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

template <class Each>
int SettingChips::place(int width, Each&& each) const {
  const QFontMetricsF metrics(Theme::mono(11, QFont::Medium));
  double x = 0;
  double y = 0;
  for (const QString& text : m_texts) {
    const double wide = metrics.horizontalAdvance(text) + 20;
    if (x > 0 && x + wide > width) {
      x = 0;
      y += 26;
    }
    each(text, QRectF(x, y, wide, 20));
    x += wide + 8;
  }
  return m_texts.empty() ? 0 : static_cast<int>(y) + 21;
}

int SettingChips::heightForWidth(int width) const {
  return place(width, [](const QString&, const QRectF&) {});
}

void SettingChips::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  painter.setFont(Theme::mono(11, QFont::Medium));
  place(width(), [&](const QString& text, const QRectF& chip) {
    painter.setPen(QPen(p.line, 1));
    painter.setBrush(p.sunken);
    painter.drawRoundedRect(chip.adjusted(0.5, 0.5, -0.5, -0.5), 10, 10);
    painter.setPen(p.muted);
    painter.drawText(QPointF(chip.left() + 10, chip.top() + 14), text);
  });
}

}  // namespace tidemark::widgets
