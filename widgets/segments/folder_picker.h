#pragma once

#include <QFrame>
#include <QStringList>

class QLabel;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace tidemark::widgets {

/// Which of many partitions' folders is shown: a list that drops down from a button, with a field above it; what is
/// typed there narrows it. Keys go on from the field: ↑/↓ and Page up/down choose, Enter takes, Esc closes.
class FolderPicker : public QFrame {
  Q_OBJECT

 public:
  explicit FolderPicker(QWidget* parent);

  /// In the order in which they are to be listed. What of a path comes before a partition's folder and after `root` is
  /// told beside its name: the broker.
  void setFolders(const QStringList& folders, const QString& root);
  /// Below `anchor`, within the screen; `current` is chosen at first.
  void open(const QWidget& anchor, const QString& current);

  QLineEdit& filter() noexcept { return *m_filter; }
  QListView& list() noexcept { return *m_list; }

 Q_SIGNALS:
  void folderPicked(const QString& folder);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void narrow(const QString& text);
  void take();

  QLineEdit* m_filter;
  QListView* m_list;
  QLabel* m_count;
  QStandardItemModel* m_folders;
  QSortFilterProxyModel* m_shown;
};

}  // namespace tidemark::widgets
