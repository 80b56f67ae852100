#include "dock_layouts.h"

#include <algorithm>

#include <QDockWidget>
#include <QMainWindow>
#include <QSettings>

namespace tidemark::widgets {

DockLayouts::DockLayouts(QMainWindow& window, const Docks& docks) : m_window(window), m_docks(docks) {
  // What each layout is before anybody changed it, to come back to.
  const auto make = [this](Layout layout, std::initializer_list<QDockWidget*> shown) {
    showOnly(shown);
    m_defaults[layout] = m_window.saveState(kVersion);
  };
  make(kBelts, {m_docks.tree, m_docks.inspector, m_docks.events});
  make(kWide, {m_docks.tree});
  make(kMap, {m_docks.tree, m_docks.faults});
  make(kTimeline, {m_docks.tree, m_docks.events});
  m_layouts = m_defaults;
  m_window.restoreState(m_defaults[kBelts], kVersion);
}

DockLayouts::Layout DockLayouts::layoutOf(ClusterPage::View view) {
  switch (view) {
    case ClusterPage::View::Belts:
      return kBelts;
    case ClusterPage::View::Map:
      return kMap;
    case ClusterPage::View::Timeline:
      return kTimeline;
    default:
      return kWide;
  }
}

QString DockLayouts::keyOf(Layout layout) {
  static const QString kKeys[] = {QStringLiteral("layout"), QStringLiteral("wideLayout"), QStringLiteral("mapLayout"),
                                  QStringLiteral("timelineLayout")};
  return kKeys[layout];
}

void DockLayouts::showOnly(std::initializer_list<QDockWidget*> shown) {
  for (QDockWidget* dock : docks()) dock->setVisible(std::ranges::find(shown, dock) != shown.end());
}

void DockLayouts::keep() {
  m_layouts[layoutOf(m_view)] = m_window.saveState(kVersion);
}

void DockLayouts::take() {
  const Layout which = layoutOf(m_view);
  if (!m_window.restoreState(m_layouts[which], kVersion)) m_window.restoreState(m_defaults[which], kVersion);
  applySizes();
}

void DockLayouts::reset() {
  m_layouts = m_defaults;
  m_sizes = {};
}

void DockLayouts::applySizes() {
  // On a small window the middle has the first right to what there is.
  const int width = m_window.width();
  // Views that need the room have a layout of their own; the tree is as wide in all of them.
  if (m_view != ClusterPage::View::Belts) {
    m_window.resizeDocks({m_docks.tree}, {std::min(m_sizes.tree, width * 24 / 100)}, Qt::Horizontal);
    return;
  }
  const int height = m_window.height();
  const int events = m_sizes.events > 0 ? m_sizes.events : std::clamp(height * 24 / 100, 150, 250);
  m_window.resizeDocks({m_docks.tree, m_docks.inspector},
                       {std::min(m_sizes.tree, width * 24 / 100), std::min(m_sizes.inspector, width * 34 / 100)},
                       Qt::Horizontal);
  m_window.resizeDocks({m_docks.events}, {std::min(events, height * 40 / 100)}, Qt::Vertical);
}

void DockLayouts::noteSizes() {
  const auto docked = [](const QDockWidget* dock) { return dock->isVisible() && !dock->isFloating(); };
  if (docked(m_docks.tree)) m_sizes.tree = m_docks.tree->width();
  if (m_view != ClusterPage::View::Belts) return;
  if (docked(m_docks.inspector)) m_sizes.inspector = m_docks.inspector->width();
  if (docked(m_docks.events)) m_sizes.events = m_docks.events->height();
}

void DockLayouts::restore(QSettings& settings) {
  for (const Layout which : {kBelts, kWide, kMap, kTimeline}) {
    const QByteArray layout = settings.value(keyOf(which)).toByteArray();
    if (layout.isEmpty()) continue;
    // Of another version, or damaged: it would only come back at each start.
    if (m_window.restoreState(layout, kVersion))
      m_layouts[which] = layout;
    else
      settings.remove(keyOf(which));
  }
  m_window.restoreState(m_layouts[kBelts], kVersion);
  const auto size = [&settings](const char* name, int usual, int most) {
    const int kept = settings.value(QLatin1String(name), usual).toInt();
    return kept >= 0 && kept <= most ? kept : usual;
  };
  m_sizes.tree = std::max(120, size("docks/tree", m_sizes.tree, 1000));
  m_sizes.inspector = std::max(160, size("docks/inspector", m_sizes.inspector, 1200));
  m_sizes.events = size("docks/events", m_sizes.events, 1200);
}

void DockLayouts::save(QSettings& settings) const {
  for (const Layout which : {kBelts, kWide, kMap, kTimeline}) settings.setValue(keyOf(which), m_layouts[which]);
  settings.setValue(QStringLiteral("docks/tree"), m_sizes.tree);
  settings.setValue(QStringLiteral("docks/inspector"), m_sizes.inspector);
  settings.setValue(QStringLiteral("docks/events"), m_sizes.events);
}

}  // namespace tidemark::widgets
