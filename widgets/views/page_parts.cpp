#include "views/page_parts.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QWidget>

namespace tidemark::widgets {

QWidget* pageHead(QWidget* page, const QString& title, QLabel* note, std::initializer_list<QWidget*> actions) {
  auto* head = new QWidget(page);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(24, 14, 24, 12);
  row->setSpacing(14);
  auto* name = new QLabel(title);
  name->setProperty("kind", QStringLiteral("title"));
  note->setProperty("kind", QStringLiteral("muted"));
  note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(name);
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
