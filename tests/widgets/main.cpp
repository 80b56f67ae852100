// One QApplication for all tests of the window, without a display.
#include <gtest/gtest.h>

#include <QApplication>
#include <QStandardPaths>

#include "theme/theme.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // No test writes where the user's settings are.
  QStandardPaths::setTestModeEnabled(true);
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  tidemark::widgets::Theme theme(application);
  return RUN_ALL_TESTS();
}
