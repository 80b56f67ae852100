#include "theme/theme.h"

#include <utility>

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QPalette>
#include <QRegularExpression>
#include <QScreen>
#include <QStyle>
#include <QStyleFactory>
#include <QTranslator>
#include <QWidget>

// Resources of a static library are forgotten unless somebody names them, outside of any namespace.
static void useResources() {
  Q_INIT_RESOURCE(resources);
  Q_INIT_RESOURCE(tidemark_widgets_translations);
}

namespace tidemark::widgets {
namespace {

Theme* theTheme = nullptr;

/// The first installed family; empty if none is.
QString firstInstalled(const QStringList& families) {
  const QStringList installed = QFontDatabase::families();
  for (const QString& family : families)
    if (installed.contains(family)) return family;
  return {};
}

/// Pixel sizes are whole numbers in QFont, points are not.
double pointsOf(double pixels) {
  const QScreen* screen = QGuiApplication::primaryScreen();
  return pixels * 72.0 / (screen == nullptr ? 96.0 : screen->logicalDotsPerInchY());
}

/// The family, or where there is none what the system takes instead.
QFont fontOf(const QString& family, QFontDatabase::SystemFont instead, double pixels, int weight) {
  QFont font = family.isEmpty() ? QFontDatabase::systemFont(instead) : QFont(family);
  font.setPointSizeF(pointsOf(pixels));
  font.setWeight(static_cast<QFont::Weight>(weight));
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

}  // namespace

Theme::Theme(QApplication& application, QObject* parent) : QObject(parent), m_application(application) {
  theTheme = this;
  useResources();
  // English for now, for its plurals; a language more is a file more.
  auto* words = new QTranslator(this);
  if (!words->load(QStringLiteral(":/tidemark/i18n/tidemark_en.qm")) || !QApplication::installTranslator(words))
    qWarning("the English plurals are missing");
  // Read before anything of ours is set: this is what the desktop says.
  m_systemIsDark = application.palette().color(QPalette::Window).lightness() < 128;
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  application.installEventFilter(this);
  apply();
}

void Theme::setChoice(ThemeChoice choice) {
  if (choice == m_choice) return;
  m_choice = choice;
  apply();
}

int Theme::motionMs() const {
  const int style = m_application.style()->styleHint(QStyle::SH_Widget_Animation_Duration);
  return style <= 0 ? 0 : 120;
}

QFont Theme::body(double pixels, int weight) {
  static const QString family = firstInstalled({QStringLiteral("Inter"), QStringLiteral("Inter Variable")});
  return fontOf(family, QFontDatabase::GeneralFont, pixels, weight);
}

QFont Theme::mono(double pixels, int weight) {
  static const QString family = firstInstalled({QStringLiteral("JetBrains Mono")});
  QFont font = fontOf(family, QFontDatabase::FixedFont, pixels, weight);
  font.setStyleHint(QFont::Monospace);
  return font;
}

Theme& Theme::instance() {
  Q_ASSERT(theTheme != nullptr);
  return *theTheme;
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
  // The desktop changed between light and dark. Our own palette comes here too, and is told by its colour.
  if (watched == &m_application && event->type() == QEvent::ApplicationPaletteChange) {
    const QColor window = m_application.palette().color(QPalette::Window);
    if (window != m_palette->background) {
      m_systemIsDark = window.lightness() < 128;
      QMetaObject::invokeMethod(this, &Theme::apply, Qt::QueuedConnection);
    }
  }
  return QObject::eventFilter(watched, event);
}

void Theme::apply() {
  const bool dark = m_choice == ThemeChoice::Dark || (m_choice == ThemeChoice::Automatic && m_systemIsDark);
  const Palette* before = std::exchange(m_palette, dark ? &Palette::darkOne() : &Palette::light());
  const Palette& p = *m_palette;
  QPalette palette;
  palette.setColor(QPalette::Window, p.background);
  palette.setColor(QPalette::WindowText, p.ink);
  palette.setColor(QPalette::Base, p.panel);
  palette.setColor(QPalette::AlternateBase, p.sunken);
  palette.setColor(QPalette::Text, p.ink);
  palette.setColor(QPalette::PlaceholderText, p.muted);
  palette.setColor(QPalette::Button, p.panel);
  palette.setColor(QPalette::ButtonText, p.ink);
  palette.setColor(QPalette::BrightText, p.bad);
  palette.setColor(QPalette::ToolTipBase, p.panel);
  palette.setColor(QPalette::ToolTipText, p.ink);
  palette.setColor(QPalette::Highlight, p.selection);
  palette.setColor(QPalette::HighlightedText, p.ink);
  palette.setColor(QPalette::Link, p.accent);
  palette.setColor(QPalette::Light, p.line);
  palette.setColor(QPalette::Mid, p.line);
  palette.setColor(QPalette::Dark, p.line);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, p.muted);
  // Each of them goes through all widgets there are, even if it is the one that they have.
  if (const QFont font = body(13); QApplication::font() != font) m_application.setFont(font);
  if (m_palette != before || QApplication::palette() != m_given) {
    QApplication::setPalette(palette);
    m_given = QApplication::palette();
  }
  if (const QString sheet = styleSheet(p); m_application.styleSheet() != sheet) m_application.setStyleSheet(sheet);
  if (m_palette != before) Q_EMIT changed();
}

QString Theme::styleSheet(const Palette& p) {
  QFile file(QStringLiteral(":/tidemark/style/tidemark.qss"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString text = QString::fromUtf8(file.readAll());
  const std::pair<const char*, const QColor*> names[] = {
      {"@background", &p.background},
      {"@panel", &p.panel},
      {"@sunken", &p.sunken},
      {"@hover", &p.hover},
      {"@statusBar", &p.statusBar},
      {"@softLine", &p.softLine},
      {"@line", &p.line},
      {"@ink", &p.ink},
      {"@muted", &p.muted},
      {"@heads", &p.heads},
      {"@accent", &p.accent},
      {"@onButton", &p.onButton},
      {"@button", &p.button},
      {"@selectionLine", &p.selectionLine},
      {"@selection", &p.selection},
      {"@badText", &p.badText},
      {"@badSoft", &p.badSoft},
      {"@badLine", &p.badLine},
      {"@okText", &p.okText},
      {"@okSoft", &p.okSoft},
      {"@warnText", &p.warnText},
      {"@fencedSoft", &p.fencedSoft},
      {"@fenced", &p.fenced},
      {"@axis", &p.axis},
  };
  for (const auto& [name, color] : names) text.replace(QLatin1String(name), color->name());
  // Style sheets know only whole pixels, but points with a fraction.
  static const QRegularExpression pixels(QStringLiteral("font-size: ([0-9.]+)px"));
  for (QRegularExpressionMatch match = pixels.match(text); match.hasMatch();
       match = pixels.match(text, match.capturedStart() + 1))
    text.replace(match.capturedStart(), match.capturedLength(),
                 QStringLiteral("font-size: %1pt").arg(pointsOf(match.captured(1).toDouble()), 0, 'f', 3));
  return text;
}

void setStyled(QWidget* widget, const char* property, const QVariant& value) {
  if (widget->property(property) == value) return;
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

}  // namespace tidemark::widgets
