#pragma once

#include <initializer_list>

#include <QString>

class QLabel;
class QScrollArea;
class QWidget;

namespace tidemark::widgets {

// What pages of the window are built of.

/// A label that looks as the style sheet has it for `kind`.
QLabel* kindLabel(const char* kind, const QString& text = {}, QWidget* parent = nullptr);
/// The line at a page's top: its title, a note that gives way, and what acts on what is shown.
QWidget* pageHead(QWidget* page, const QString& title, QLabel* note, std::initializer_list<QWidget*> actions);
/// Shows `view` as wide as there is room for, and lets it be scrolled up and down.
void scrollDown(QScrollArea& area, QWidget* view);
/// A label that says why there is nothing to show, in the middle of where it would be.
void placeNothing(QLabel& label);

}  // namespace tidemark::widgets
