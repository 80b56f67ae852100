#include "dialogs/dialog_parts.h"

#include <QComboBox>
#include <QFormLayout>
#include <QFrame>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "theme/theme.h"

namespace tidemark::widgets {

DialogParts::DialogParts(QDialog& dialog, const QString& title, const QString& lead)
    : m_down(new QVBoxLayout(&dialog)), m_form(new QFormLayout) {
  m_down->setContentsMargins(24, 20, 24, 20);
  m_down->setSpacing(0);
  auto* head = new QLabel(title);
  head->setProperty("kind", QStringLiteral("title"));
  m_down->addWidget(head);
  m_down->addSpacing(2);
  auto* under = new QLabel(lead);
  under->setProperty("kind", QStringLiteral("muted"));
  under->setWordWrap(true);
  m_down->addWidget(under);
  m_down->addSpacing(14);
  auto* card = new QFrame;
  card->setProperty("kind", QStringLiteral("card"));
  card->setLayout(m_form);
  m_form->setContentsMargins(16, 14, 16, 14);
  m_form->setHorizontalSpacing(24);
  m_form->setVerticalSpacing(8);
  m_form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  m_down->addWidget(card);
}

void DialogParts::add(const QString& name, QWidget* field) {
  auto* label = new QLabel(name);
  label->setMinimumWidth(130);
  label->setFixedHeight(28);
  label->setBuddy(field);
  field->setAccessibleName(name);
  m_form->addRow(label, field);
}

void DialogParts::add(const QString& name, QLayout* fields) {
  auto* label = new QLabel(name);
  label->setMinimumWidth(130);
  label->setFixedHeight(28);
  m_form->addRow(label, fields);
}

void DialogParts::addWide(QWidget* widget, int stretch) {
  m_down->addSpacing(12);
  m_down->addWidget(widget, stretch);
}

void DialogParts::finish(QLabel* note, std::initializer_list<QPushButton*> buttons) {
  m_down->addSpacing(14);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(note, 1);
  for (QPushButton* button : buttons) row->addWidget(button);
  m_down->addLayout(row);
}

bool offer(QComboBox& box, const QStringList& names) {
  QStringList shown;
  for (int i = 0; i < box.count(); ++i) shown << box.itemText(i);
  if (names == shown) return false;
  const QString current = box.currentText();
  box.clear();
  box.addItems(names);
  if (names.contains(current)) box.setCurrentText(current);
  return true;
}

void setNote(QLabel* note, const QString& text, bool wrong) {
  if (note->text() != text) note->setText(text);
  setStyled(note, "kind", wrong ? QStringLiteral("error") : QStringLiteral("muted"));
}

}  // namespace tidemark::widgets
