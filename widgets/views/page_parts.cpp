#include "views/page_parts.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QWidget>

namespace tidemark::widgets {

QLabel* kindLabel(const char* kind, const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("kind", QLatin1String(kind));
  return label;
}

QWidget* pageHead(QWidget* page, const QString& title, QLabel* note, std::initializer_list<QWidget*> actions) {
  auto* head = new QWidget(page);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(24, 14, 24, 12);
  row->setSpacing(14);
  note->setProperty("kind", QStringLiteral("muted"));
  note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(kindLabel("title", title, head));
  row->addWidget(note, 1);
  for (QWidget* action : actions) {
    action->setFocusPolicy(Qt::TabFocus);
    row->addWidget(action);
  }
  return head;
}

void scrollDown(QScrollArea& area, QWidget* view) {
  area.setWidget(view);
  area.setWidgetResizable(true);
  area.setFrameShape(QFrame::NoFrame);
  area.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void placeNothing(QLabel& label) {
  label.setAlignment(Qt::AlignCenter);
  label.setWordWrap(true);
  label.setProperty("kind", QStringLiteral("muted"));
}

}  // namespace tidemark::widgets
