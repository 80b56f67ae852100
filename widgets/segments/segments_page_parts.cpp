#include <QButtonGroup>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "segments/batch_panel.h"
#include "segments/check_line.h"
#include "segments/folder_picker.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/past_panel.h"
#include "segments/segment_strip.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "theme/card.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "views/page_parts.h"

// What the Segments view is made of.

namespace tidemark::widgets {

void SegmentsPage::listCopies() {
  QMenu* menu = m_place->menu();
  menu->clear();
  const auto* partition = m_partition ? observe::findPartition(*m_bridge.snapshot(), *m_partition) : nullptr;
  if (partition == nullptr) return;
  for (const observe::ReplicaSnapshot& copy : partition->copies) {
    const auto* broker = observe::findBroker(*m_bridge.snapshot(), copy.broker);
    const QString state = broker == nullptr ? QString() : lookOf(copy, broker->state).word;
    QAction* action = menu->addAction(
        tr("Broker %1, %2, %3").arg(copy.broker.value()).arg(copy.leader ? tr("leader") : tr("follower"), state), this,
        [this, id = copy.broker] { pickCopy(id); });
    action->setCheckable(true);
    action->setChecked(m_controller.place() && m_controller.place()->broker == copy.broker);
  }
}

QWidget* SegmentsPage::makeHead() {
  auto* head = new QWidget(this);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(24, 14, 24, 14);
  row->setSpacing(14);
  if (m_fromDisk) {
    m_back = new QPushButton(tr("◂ Back"), head);
    m_back->setProperty("kind", QStringLiteral("link"));
    m_back->setToolTip(tr("Back (Esc)"));
    connect(m_back, &QPushButton::clicked, this, &SegmentsPage::backWanted);
    row->addWidget(m_back);
  }
  m_title = kindLabel("title", {}, head);
  m_title->setTextFormat(Qt::PlainText);
  // In a small window they give way to the search.
  m_title->setMinimumWidth(30);
  m_place = new QPushButton(head);
  m_place->setMinimumWidth(30);
  m_place->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  m_place->setProperty("kind", QStringLiteral("quiet"));
  if (m_fromDisk) {
    m_picker = new FolderPicker(this);
    connect(m_place, &QPushButton::clicked, this, [this] {
      m_picker->open(*m_place, m_controller.partition() ? m_controller.partition()->folder : QString());
    });
    connect(m_picker, &FolderPicker::folderPicked, this,
            [this](const QString& folder) { m_controller.open({.path = folder.toStdString()}); });
  } else {
    m_place->setMenu(new QMenu(m_place));
    connect(m_place->menu(), &QMenu::aboutToShow, this, &SegmentsPage::listCopies);
  }
  row->addWidget(m_title);
  row->addWidget(m_place);
  m_checked = new CheckLine(m_controller.check(), head);
  row->addWidget(m_checked);
  row->addStretch(2);

  m_searchBox = new QFrame(head);
  m_searchBox->setProperty("kind", QStringLiteral("search"));
  m_searchBox->setFixedHeight(32);
  auto* inside = new QHBoxLayout(m_searchBox);
  inside->setContentsMargins(12, 0, 4, 0);
  inside->setSpacing(8);
  m_searchName = kindLabel("muted", {}, m_searchBox);
  m_search = new QLineEdit(m_searchBox);
  m_search->setProperty("kind", QStringLiteral("inside"));
  m_search->setFont(Theme::mono(13, QFont::DemiBold));
  m_search->setPlaceholderText(tr("1 177 or 14:01:08"));
  m_search->setMinimumWidth(60);
  m_search->setAccessibleName(tr("Offset or time to look for"));
  m_search->setToolTip(
      tr("An offset, a time (14:01:08.970, 2026-11-30 14:01), @ and milliseconds since 1970, earliest, "
         "latest or max (Ctrl+F)"));
  auto* go = new QPushButton(tr("Search"), m_searchBox);
  go->setProperty("kind", QStringLiteral("primary"));
  go->setFocusPolicy(Qt::NoFocus);
  inside->addWidget(m_searchName);
  inside->addWidget(m_search, 1);
  inside->addWidget(go);
  m_searchBox->setMaximumWidth(340);
  row->addWidget(m_searchBox, 3);
  connect(m_search, &QLineEdit::textChanged, this, [this] {
    setStyled(m_search, "wrong", false);
    nameSearch();
  });
  const auto searchNow = [this] { search(m_search->text()); };
  connect(m_search, &QLineEdit::returnPressed, this, searchNow);
  connect(go, &QPushButton::clicked, this, searchNow);
  nameSearch();
  return head;
}

QWidget* SegmentsPage::makePlotCard(QWidget* parent) {
  auto* card = new Card(parent);
  auto* down = new QVBoxLayout(card);
  down->setContentsMargins(16, 10, 12, 6);
  down->setSpacing(4);
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  m_indexTitle = kindLabel("cardtitle", {}, card);
  m_indexNote = kindLabel("muted", {}, card);
  head->addWidget(m_indexTitle);
  head->addWidget(m_indexNote, 1);
  m_indexNote->setMinimumWidth(20);
  m_indexNote->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* choices = new QHBoxLayout;
  choices->setSpacing(4);
  int id = 0;
  for (const QString& name : {tr("Offset"), tr("Time")}) {
    auto* button = new QPushButton(name, card);
    button->setProperty("kind", QStringLiteral("pill"));
    button->setCheckable(true);
    button->setToolTip(id == 0 ? tr("The offset index (I)") : tr("The time index (I)"));
    m_indexChoice->addButton(button, id++);
    choices->addWidget(button);
  }
  connect(m_indexChoice, &QButtonGroup::idClicked, this, [this](int which) { setIndex(which == 1); });
  head->addLayout(choices);
  down->addLayout(head);
  m_plot = new IndexPlot(card);
  down->addWidget(m_plot, 1);
  return card;
}

void SegmentsPage::makeBody(QWidget* body) {
  auto* down = new QVBoxLayout(body);
  down->setContentsMargins(24, 4, 24, 18);
  down->setSpacing(14);
  m_strip = new SegmentStrip(body);
  down->addWidget(m_strip);
  m_rows = new QSplitter(Qt::Vertical, body);
  m_columns = new QSplitter(Qt::Horizontal, m_rows);
  m_columns->setHandleWidth(16);
  m_columns->setChildrenCollapsible(false);
  m_columns->addWidget(makePlotCard(m_columns));
  m_lookup = new LookupPanel(m_controller, m_columns);
  m_columns->addWidget(m_lookup);
  m_columns->setStretchFactor(0, 1);
  m_columns->setStretchFactor(1, 0);
  m_columns->setSizes({900, 392});
  m_columns->setMinimumHeight(256);
  m_rows->setHandleWidth(14);
  m_rows->setChildrenCollapsible(false);
  m_rows->addWidget(m_columns);
  m_below = new QStackedWidget(m_rows);
  m_batch = new BatchPanel(m_controller, m_below);
  m_past = new PastPanel(m_bridge, m_controller, m_below);
  m_below->addWidget(m_batch);
  m_below->addWidget(m_past);
  m_rows->addWidget(m_below);
  m_rows->setStretchFactor(0, 1);
  m_rows->setStretchFactor(1, 1);
  m_rows->setSizes({332, 408});
  down->addWidget(m_rows, 1);
}

}  // namespace tidemark::widgets
