#pragma once

#include <QFont>
#include <QObject>
#include <QPalette>
#include <QVariant>

#include "theme/palette.h"

class QApplication;
class QWidget;

namespace tidemark::widgets {

/// What the user chose in the menu: the system's lightness, or one of the two.
enum class ThemeChoice { Automatic, Light, Dark };

/// Colours and fonts of the whole program: palette, style sheet and fonts of the QApplication follow it. One per
/// program, made right after the QApplication; lives on the window's thread.
class Theme : public QObject {
  Q_OBJECT

 public:
  explicit Theme(QApplication& application, QObject* parent = nullptr);

  const Palette& palette() const noexcept { return *m_palette; }
  ThemeChoice choice() const noexcept { return m_choice; }
  void setChoice(ThemeChoice choice);

  /// Duration of a motion in ms: the style's, 0 if the system asks for none.
  int motionMs() const;

  /// Inter, at a size in device-independent pixels; falls back to the system's font.
  static QFont body(double pixels, int weight = QFont::Normal);
  /// JetBrains Mono; falls back to the system's fixed font.
  static QFont mono(double pixels, int weight = QFont::Normal);

  /// The one of this program. It must have been made.
  static Theme& instance();

 Q_SIGNALS:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void apply();
  static QString styleSheet(const Palette& palette);

  QApplication& m_application;
  ThemeChoice m_choice = ThemeChoice::Automatic;
  const Palette* m_palette = nullptr;
  /// The application's palette as it was once ours was set; another one came from the desktop.
  QPalette m_given;
  bool m_systemIsDark = false;
};

/// Sets a property that the style sheet asks for ("kind", "wrong"), and lets the widget look like it; nothing if it is
/// so.
void setStyled(QWidget* widget, const char* property, const QVariant& value);

inline const Palette& colors() {
  return Theme::instance().palette();
}

}  // namespace tidemark::widgets
