// What the style sheet costs: it is matched on each part of a window once, and again only when it is another one.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "segments/segment_tables.h"
#include "segments_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

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
  launch(3, 1);
  for (const int broker : {1, 2, 3})
    cluster.copyFolders[{NodeId(broker), {"orders", PartitionIndex(0)}}] =
        (golden() + QStringLiteral("/codec-zstd-0")).toStdString();
  makeWindow();
  window->clusterPage().showView(ClusterPage::View::Segments);
  window->showPartition({"orders", PartitionIndex(0)});
  run(100ms);
  settle();
  ASSERT_TRUE(controller().partition()) << controller().problem().toStdString();
  page().showTable(true);
  page().searchField().setFocus();
  ASSERT_EQ(window->focusWidget(), &page().searchField());
  const auto pressed = [this](Qt::Key key) {
    QTest::keyClick(window->focusWidget(), key);
    return window->focusWidget();
  };
  const auto* button = qobject_cast<const QPushButton*>(pressed(Qt::Key_Tab));
  ASSERT_NE(button, nullptr) << window->focusWidget()->metaObject()->className();
  ASSERT_TRUE(page().tables().isAncestorOf(button)) << button->text().toStdString();
  EXPECT_EQ(button->text(), QStringLiteral("Segments"));
  // The buttons choose among each other with the arrows: one of them has the key.
  EXPECT_EQ(pressed(Qt::Key_Tab), &page().tables().view(SegmentTables::Table::Segments));
  EXPECT_EQ(pressed(Qt::Key_Backtab), button);
  EXPECT_EQ(pressed(Qt::Key_Backtab), &page().searchField());
}

}  // namespace
}  // namespace tidemark::widgets
