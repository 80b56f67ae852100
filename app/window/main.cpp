// tidemark-window: the window, and nothing but the wiring of it.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTextStream>
#include <QTimer>

#include "cluster/cluster.h"
#include "main_window.h"
#include "scene_shot.h"
#include "signals.h"
#include "theme/theme.h"

using namespace tidemark;  // NOLINT(google-build-using-namespace)

namespace {

/// Qt ends with a core where the display cannot be reached: a sentence and an exit code say it as well.
void endInWords(QtMsgType type, const QMessageLogContext&, const QString& text) {
  std::fprintf(stderr, "%s\n", qUtf8Printable(text));
  if (type != QtFatalMsg) return;
  std::fprintf(stderr, "tidemark: the window cannot be opened; `tidemark serve` runs a cluster without one.\n");
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  // The scale must be known before the application object is made.
  for (int i = 1; i + 1 < argc; ++i)
    if (qstrcmp(argv[i], "--scale") == 0) qputenv("QT_SCALE_FACTOR", argv[i + 1]);
  // A picture can be taken where there is no display.
  bool wantsShot = false;
  for (int i = 1; i < argc; ++i) wantsShot = wantsShot || qstrncmp(argv[i], "--offscreen-shot", 16) == 0;
  if (wantsShot && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // Where no window can be opened, help and version are still told, and the rest says so in words.
  bool display = false;
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    display = display || !qEnvironmentVariableIsEmpty(name);
  qInstallMessageHandler(endInWords);
  std::unique_ptr<QCoreApplication> core;
  std::unique_ptr<QApplication> gui;
  if (display)
    gui = std::make_unique<QApplication>(argc, argv);
  else
    core = std::make_unique<QCoreApplication>(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("tidemark"));
  QCoreApplication::setOrganizationName(QStringLiteral("tidemark"));
  QCoreApplication::setApplicationVersion(QStringLiteral(TIDEMARK_VERSION));

  QCommandLineParser parser;
  parser.setApplicationDescription(
      QApplication::translate("main", "A lab for clusters that speak Kafka's protocol, in a window."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption shot(QStringLiteral("offscreen-shot"),
                                QApplication::translate("main", "Write a picture of the window to <file> and end."),
                                QStringLiteral("file"));
  const QCommandLineOption after(QStringLiteral("after"),
                                 QApplication::translate("main", "When the picture is taken: %1.")
                                     .arg(widgets::SceneShot::conditions().join(QStringLiteral(", "))),
                                 QStringLiteral("condition"), QStringLiteral("launch"));
  const QCommandLineOption scale(QStringLiteral("scale"),
                                 QApplication::translate("main", "1 or 2 pixels for each pixel."),
                                 QStringLiteral("factor"));
  const QCommandLineOption theme(QStringLiteral("theme"),
                                 QApplication::translate("main", "light or dark; else as the desktop."),
                                 QStringLiteral("name"));
  const QCommandLineOption port(
      QStringLiteral("port"),
      QApplication::translate("main", "Port of broker 1 for the picture's cluster; 0: free ones."),
      QStringLiteral("port"), QStringLiteral("0"));
  const QCommandLineOption size(QStringLiteral("size"),
                                QApplication::translate("main", "Size of the window for the picture."),
                                QStringLiteral("WxH"), QStringLiteral("1680x1020"));
  const QCommandLineOption open(
      QStringLiteral("open"),
      QApplication::translate("main", "Open a recording and replay it; with --offscreen-shot, its picture."),
      QStringLiteral("recording"));
  const QCommandLineOption at(
      QStringLiteral("at"),
      QApplication::translate("main", "Show the recording as it was so long after its beginning, such as 12.5s."),
      QStringLiteral("moment"));
  parser.addOptions({open, at});
  parser.addOptions({shot, after, scale, theme, port, size});
  parser.addPositionalArgument(QStringLiteral("recording"), QApplication::translate("main", "The same as --open."),
                               QStringLiteral("[recording]"));
  parser.process(*QCoreApplication::instance());
  const auto refuse = [](const QString& text) {
    QTextStream(stderr) << text << Qt::endl;
    return 2;
  };
  if (!display) {
    refuse(QApplication::translate("main",
                                   "tidemark: there is no display here (DISPLAY and WAYLAND_DISPLAY are empty); "
                                   "`tidemark serve` runs a cluster without a window."));
    return 1;
  }
  QApplication& application = *gui;

  const QStringList recordings = parser.values(open) + parser.positionalArguments();
  if (recordings.size() > 1)
    return refuse(
        QApplication::translate("main", "One recording can be opened, not %1 as well").arg(recordings.last()));
  if (parser.isSet(scale) && parser.value(scale) != QStringLiteral("1") && parser.value(scale) != QStringLiteral("2"))
    return refuse(QApplication::translate("main", "--scale: 1 or 2, not “%1”").arg(parser.value(scale)));
  if (!recordings.isEmpty() && parser.isSet(after))
    return refuse(QApplication::translate("main", "--after is for a cluster that is launched, not for a recording"));
  if (recordings.isEmpty() && parser.isSet(at))
    return refuse(QApplication::translate("main", "--at is a moment of a recording: name one with --open"));
  const QStringList sides = parser.value(size).split(QLatin1Char('x'));
  const QSize pixels(sides.value(0).toInt(), sides.value(1).toInt());
  if (sides.size() != 2 || pixels.width() < 400 || pixels.height() < 300)
    return refuse(QApplication::translate("main", "--size: like 1680x1020, not “%1”").arg(parser.value(size)));
  widgets::Theme looks(application);
  if (parser.isSet(theme)) {
    if (parser.value(theme) == QStringLiteral("dark"))
      looks.setChoice(widgets::ThemeChoice::Dark);
    else if (parser.value(theme) == QStringLiteral("light"))
      looks.setChoice(widgets::ThemeChoice::Light);
    else
      return refuse(QApplication::translate("main", "--theme: light or dark, not “%1”").arg(parser.value(theme)));
  }
  if (!recordings.isEmpty()) {
    QString problem;
    const std::unique_ptr<widgets::MainWindow> replay(widgets::MainWindow::openRecording(recordings.first(), &problem));
    if (!replay) return refuse(problem);
    replay->setAttribute(Qt::WA_DeleteOnClose, false);
    if (parser.isSet(at))
      if (const QString wrong = replay->lookAt(parser.value(at)); !wrong.isEmpty())
        return refuse(QApplication::translate("main", "--at: %1").arg(wrong));
    if (parser.isSet(shot)) replay->resize(pixels);
    replay->show();
    if (parser.isSet(shot)) {
      // What is drawn a little later is in the picture as well.
      QTimer::singleShot(600, replay.get(), [&] {
        const bool written = replay->grab().save(parser.value(shot));
        if (!written) refuse(QApplication::translate("main", "%1 cannot be written").arg(parser.value(shot)));
        QApplication::exit(written ? 0 : 1);
      });
    }
    return QApplication::exec();
  }
  const auto source = std::make_unique<cluster::Cluster>(cluster::nativePlatform());
  // Without a quorum no broker ever comes back: who heals or starts one hears what it lacks.
  source->setPatience(cluster::Cluster::kUsualPatience);

  if (parser.isSet(shot)) {
    if (!widgets::SceneShot::conditions().contains(parser.value(after)))
      return refuse(QApplication::translate("main", "--after: one of %1")
                        .arg(widgets::SceneShot::conditions().join(QStringLiteral(", "))));
    widgets::MainWindow window(*source, nullptr);
    window.resize(pixels);
    window.show();
    widgets::SceneShot scene(window, parser.value(after), parser.value(shot),
                             static_cast<uint16_t>(parser.value(port).toUInt()));
    QObject::connect(&scene, &widgets::SceneShot::finished, &application, &QApplication::exit, Qt::QueuedConnection);
    QObject::connect(&scene, &widgets::SceneShot::waits, &application,
                     [](const QString& line) { QTextStream(stderr) << line << Qt::endl; });
    scene.begin();
    const int code = QApplication::exec();
    if (code != 0) QTextStream(stderr) << scene.problem() << Qt::endl;
    return code;
  }

  QSettings settings;
  widgets::MainWindow window(*source, &settings);
  window.show();
  const widgets::Signals signals([&window](int count) {
    if (count > 1) return QCoreApplication::exit(0);
    QTextStream(stderr) << QApplication::translate("main",
                                                   "tidemark: the brokers shut down in control; a second "
                                                   "Ctrl-C ends them at once")
                        << Qt::endl;
    window.endInControl([] { QCoreApplication::exit(0); });
  });
  return QApplication::exec();
}
