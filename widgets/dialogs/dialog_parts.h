#pragma once

#include <QDialog>
#include <QLabel>
#include <initializer_list>

class QComboBox;
class QFormLayout;
class QPushButton;
class QVBoxLayout;

namespace tidemark::widgets {

/// How every dialog is built: a title, a line that says what it does, a card with named fields, a note, buttons.
class DialogParts {
 public:
  DialogParts(QDialog& dialog, const QString& title, const QString& lead);
  void add(const QString& name, QWidget* field);
  void add(const QString& name, QLayout* fields);
  /// A widget below the card, over the whole width; `stretch` lets it grow.
  void addWide(QWidget* widget, int stretch = 0);
  void finish(QLabel* note, std::initializer_list<QPushButton*> buttons);

 private:
  QVBoxLayout* m_down;
  QFormLayout* m_form;
};

/// Offers these and keeps what was chosen, if it is among them. False: they are offered already.
bool offer(QComboBox& box, const QStringList& names);

/// Sets a note's text and whether it tells of something wrong.
void setNote(QLabel* note, const QString& text, bool wrong);

}  // namespace tidemark::widgets
