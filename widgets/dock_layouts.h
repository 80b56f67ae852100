#pragma once

#include <array>
#include <initializer_list>

#include <QByteArray>

#include "views/cluster_page.h"

class QDockWidget;
class QMainWindow;
class QSettings;

namespace tidemark::widgets {

/// Which docks stand where beside the view that is shown, and how large they are: a view that needs the room has a
/// layout of its own. What the reader changes is kept, and comes back at the next start.
class DockLayouts {
 public:
  struct Docks {
    QDockWidget* tree;
    QDockWidget* inspector;
    QDockWidget* events;
    QDockWidget* faults;
  };
  /// The docks are in place as at the first start.
  DockLayouts(QMainWindow& window, const Docks& docks);

  std::array<QDockWidget*, 4> docks() const {
    return {m_docks.tree, m_docks.inspector, m_docks.events, m_docks.faults};
  }
  /// Whose layout the docks have.
  ClusterPage::View view() const noexcept { return m_view; }
  void setView(ClusterPage::View view) noexcept { m_view = view; }
  /// Keeps the layout as it is, for the view that is shown.
  void keep();
  /// Gives the docks the layout of that view.
  void take();
  void hideAll() { showOnly({}); }
  void reset();
  /// Gives the docks the sizes that the reader chose, or less where the window has no room for them.
  void applySizes();
  /// Keeps what the reader has dragged.
  void noteSizes();
  void restore(QSettings& settings);
  void save(QSettings& settings) const;

 private:
  static constexpr int kVersion = 2;
  enum Layout { kBelts, kWide, kMap, kTimeline, kLayouts };
  static Layout layoutOf(ClusterPage::View view);
  static QString keyOf(Layout layout);
  void showOnly(std::initializer_list<QDockWidget*> docks);

  QMainWindow& m_window;
  const Docks m_docks;
  ClusterPage::View m_view = ClusterPage::View::Belts;
  /// Widths of tree and inspector, height of the events; 0: by the size of the window.
  struct Sizes {
    int tree = 236;
    int inspector = 300;
    int events = 0;
  };
  Sizes m_sizes;
  std::array<QByteArray, kLayouts> m_defaults;
  std::array<QByteArray, kLayouts> m_layouts;
};

}  // namespace tidemark::widgets
