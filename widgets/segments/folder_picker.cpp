#include "segments/folder_picker.h"

#include <algorithm>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QScreen>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace tidemark::widgets {

namespace {

constexpr int kFolderRole = Qt::UserRole;
constexpr QSize kPickerSize(440, 420);

}  // namespace

FolderPicker::FolderPicker(QWidget* parent)
    : QFrame(parent, Qt::Popup),
      m_filter(new QLineEdit),
      m_list(new QListView),
      m_count(new QLabel),
      m_folders(new QStandardItemModel(this)),
      m_shown(new QSortFilterProxyModel(this)) {
  setFrameShape(QFrame::StyledPanel);
  m_shown->setSourceModel(m_folders);
  m_shown->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_filter->setPlaceholderText(tr("topic, number or broker"));
  m_filter->setAccessibleName(tr("Narrow the list of partitions"));
  m_filter->setClearButtonEnabled(true);
  m_filter->installEventFilter(this);
  m_list->setModel(m_shown);
  m_list->setUniformItemSizes(true);
  m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_count->setProperty("kind", QStringLiteral("note"));
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(10, 10, 10, 8);
  down->setSpacing(8);
  down->addWidget(m_filter);
  down->addWidget(m_list, 1);
  down->addWidget(m_count);
  setFocusProxy(m_filter);
  connect(m_filter, &QLineEdit::textChanged, this, &FolderPicker::narrow);
  connect(m_filter, &QLineEdit::returnPressed, this, &FolderPicker::take);
  connect(m_list, &QListView::clicked, this, &FolderPicker::take);
}

void FolderPicker::setFolders(const QStringList& folders, const QString& root) {
  m_folders->clear();
  for (const QString& folder : folders) {
    const QFileInfo info(folder);
    const QString above = QDir(root).relativeFilePath(info.path());
    auto* item = new QStandardItem(above == QStringLiteral(".") ? info.fileName()
                                                                : tr("%1   in %2").arg(info.fileName(), above));
    item->setData(folder, kFolderRole);
    item->setToolTip(folder);
    m_folders->appendRow(item);
  }
  narrow(m_filter->text());
}

void FolderPicker::open(const QWidget& anchor, const QString& current) {
  m_filter->clear();
  for (int row = 0; row < m_shown->rowCount(); ++row)
    if (m_shown->index(row, 0).data(kFolderRole).toString() == current) m_list->setCurrentIndex(m_shown->index(row, 0));
  const QRect screen = anchor.screen()->availableGeometry();
  const QPoint below = anchor.mapToGlobal(QPoint(0, anchor.height() + 2));
  const QSize size = kPickerSize.boundedTo(screen.size());
  setGeometry(QRect(QPoint(std::clamp(below.x(), screen.left(), screen.right() + 1 - size.width()),
                           std::clamp(below.y(), screen.top(), screen.bottom() + 1 - size.height())),
                    size));
  show();
  m_list->scrollTo(m_list->currentIndex(), QAbstractItemView::PositionAtCenter);
  m_filter->setFocus();
}

void FolderPicker::narrow(const QString& text) {
  m_shown->setFilterFixedString(text.trimmed());
  // The first that fits is what Enter takes.
  if (!text.isEmpty() || !m_list->currentIndex().isValid()) m_list->setCurrentIndex(m_shown->index(0, 0));
  m_count->setText(m_shown->rowCount() == m_folders->rowCount()
                       ? tr("%n partition(s)", nullptr, m_folders->rowCount())
                       : tr("%1 of %n partition(s)", nullptr, m_folders->rowCount()).arg(m_shown->rowCount()));
}

void FolderPicker::take() {
  const QModelIndex chosen = m_list->currentIndex();
  if (!chosen.isValid()) return;
  hide();
  Q_EMIT folderPicked(chosen.data(kFolderRole).toString());
}

bool FolderPicker::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_filter && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
      case Qt::Key_Up:
      case Qt::Key_Down:
      case Qt::Key_PageUp:
      case Qt::Key_PageDown:
        QCoreApplication::sendEvent(m_list, event);
        return true;
      case Qt::Key_Escape:
        hide();
        return true;
      default:
        break;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace tidemark::widgets
