// What the style sheet costs: it is matched on each part of a window once, and again only when it is another one.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>

#include "segments/segment_tables.h"
#include "segments_fixture.h"

namespace tidemark::widgets {
namespace {

/// Counts how often a widget is told to take its style anew, from its making on.
class StyleChanges : public QObject {
 public:
  StyleChanges() { qApp->installEventFilter(this); }
  ~StyleChanges() override { qApp->removeEventFilter(this); }
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    count += event->type() == QEvent::StyleChange;
    return false;
  }
};

class StylingTest : public SegmentsTest {
 protected:
  void TearDown() override {
    window.reset();
    Theme::instance().setChoice(ThemeChoice::Automatic);
  }
  int widgets() const { return static_cast<int>(window->findChildren<QWidget*>().size()); }
};

TEST_F(StylingTest, PartsOfAWindowAreStyledWhereTheyStay) {
  const StyleChanges changes;
  window = std::make_unique<MainWindow>(cluster, nullptr);
  // Once as each of them is made; what is small may be moved into its row later.
  EXPECT_LT(changes.count, widgets() * 5 / 4);
}

TEST_F(StylingTest, ChosenColoursComeBeforeTheWindowThatHasThem) {
  const QTemporaryDir folder;
  QSettings settings(folder.filePath(QStringLiteral("window.ini")), QSettings::IniFormat);
  settings.setValue(QStringLiteral("theme"), static_cast<int>(ThemeChoice::Dark));
  const qsizetype before = QApplication::allWidgets().size();
  qsizetype styled = -1;
  QObject::connect(&Theme::instance(), &Theme::changed, &settings,
                   [&styled] { styled = QApplication::allWidgets().size(); });
  window = std::make_unique<MainWindow>(cluster, &settings);
  EXPECT_EQ(Theme::instance().choice(), ThemeChoice::Dark);
  EXPECT_EQ(styled, before + 1) << "only the window itself, which has nothing inside yet";
}

TEST_F(StylingTest, TheSameColoursChosenInAnotherWayStyleNothing) {
  makeWindow();
  QCoreApplication::processEvents();
  const bool dark = colors().background == Palette::darkOne().background;
  const StyleChanges changes;
  Theme::instance().setChoice(dark ? ThemeChoice::Dark : ThemeChoice::Light);
  EXPECT_EQ(changes.count, 0);
  Theme::instance().setChoice(dark ? ThemeChoice::Light : ThemeChoice::Dark);
  EXPECT_GT(changes.count, widgets() / 2) << "others style all of it";
}

TEST_F(StylingTest, TheTabKeyComesToTheTablesFromTheSearchField) {
  open(golden() + QStringLiteral("/codec-zstd-0"));
  page().showTable(true);
  const QWidget* next = &page().searchField();
  do next = next->nextInFocusChain();
  while (!next->isVisible() || !(next->focusPolicy() & Qt::TabFocus));
  ASSERT_TRUE(page().tables().isAncestorOf(next)) << next->metaObject()->className();
  const auto* button = qobject_cast<const QPushButton*>(next);
  ASSERT_NE(button, nullptr);
  EXPECT_EQ(button->text(), QStringLiteral("Segments"));
  for (int i = 0; i < SegmentTables::kTables; ++i) {
    do next = next->nextInFocusChain();
    while (!next->isVisible() || !(next->focusPolicy() & Qt::TabFocus));
  }
  EXPECT_EQ(next, &page().tables().view(SegmentTables::Table::Segments));
}

}  // namespace
}  // namespace tidemark::widgets
