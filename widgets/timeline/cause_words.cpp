#include "timeline/cause_words.h"

#include <algorithm>

#include <QCoreApplication>

#include "models/log_breaks.h"
#include "text/event_words.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

using platform::WallTime;

struct CauseNames {
  Q_DECLARE_TR_FUNCTIONS(Timeline)
};

std::optional<int64_t> settingOf(const observe::ClusterSnapshot& cluster, std::string_view key) {
  for (const observe::Setting& setting : cluster.settings)
    if (setting.key == key) return fromUtf8(setting.value).toLongLong();
  return std::nullopt;
}

/// What the high watermark did within the moment after it, in one step or several; empty: nothing.
QString watermarkAfter(const TimelinePartition& past, WallTime at) {
  using namespace std::chrono_literals;
  constexpr auto kSoon = 400ms;
  const auto before = past.highWatermark.at(at - 1ms);
  const auto after = past.highWatermark.at(at + kSoon);
  if (!before || !after || *before == *after) return {};
  return CauseNames::tr("high watermark %1 → %2 within %3").arg(grouped(*before), grouped(*after), durationText(kSoon));
}

/// Since when the high watermark had not moved; empty if that is nothing to be told.
QString stoodStill(const TimelinePartition& past, WallTime at) {
  using namespace std::chrono_literals;
  const auto& points = past.highWatermark.points();
  const auto after = std::ranges::upper_bound(points, at - 1ms, {}, &TimelineSeries::Point::at);
  if (after == points.begin()) return {};
  const auto still = at - std::prev(after)->at;
  if (still < 700ms) return {};
  return CauseNames::tr("before that the high watermark stood still for %1: acks=all waited").arg(durationText(still));
}

void tellShrunk(const events::IsrShrunk& shrunk, const observe::ClusterSnapshot& cluster, CauseWords& words) {
  words.title = CauseNames::tr("%1 left the ISR").arg(shrunk.removed.value());
  const auto allowed = settingOf(cluster, "replica.lag.time.max.ms");
  words.lines << CauseNames::tr("last caught up %1").arg(agoText(shrunk.behindFor));
  if (allowed && *allowed > 0) {
    words.lines.back() += CauseNames::tr(", replica.lag.time.max.ms %1").arg(grouped(*allowed));
    const double used =
        std::chrono::duration<double, std::milli>(shrunk.behindFor).count() / static_cast<double>(*allowed);
    words.part = std::clamp(used, 0.0, 1.0);
    words.barLeft =
        CauseNames::tr("caught up at %1")
            .arg(timeText(words.at - std::chrono::duration_cast<std::chrono::milliseconds>(shrunk.behindFor)));
    words.barRight =
        used < 1 ? CauseNames::tr("before its time: it was fenced or shut down") : CauseNames::tr("its time was over");
  }
  words.lines << CauseNames::tr("ISR %1 → %2 · partition epoch %3")
                     .arg(nodesText(shrunk.before.view()), nodesText(shrunk.after.view()))
                     .arg(shrunk.epoch.value());
}

}  // namespace

CauseWords causeOf(const observe::ObservedEvent& event, const TimelinePartition& past,
                   const observe::ClusterSnapshot& cluster) {
  const EventWords usual = wordsOf(event, cluster);
  CauseWords words;
  words.shape = usual.shape;
  words.color = usual.color;
  words.at = event.event.wall;
  words.event = event.number;
  const events::Payload& payload = event.event.payload;
  if (const auto* shrunk = std::get_if<events::IsrShrunk>(&payload)) {
    tellShrunk(*shrunk, cluster, words);
    if (const QString still = stoodStill(past, words.at); !still.isEmpty()) words.lines << still;
    if (const QString moved = watermarkAfter(past, words.at); !moved.isEmpty()) words.lines << moved;
    return words;
  }
  if (const auto* grown = std::get_if<events::IsrExpanded>(&payload)) {
    words.title = CauseNames::tr("%1 is in the ISR again").arg(grown->added.value());
    words.lines << CauseNames::tr("it caught up with the leader's log end")
                << CauseNames::tr("ISR %1 → %2 · partition epoch %3")
                       .arg(nodesText(grown->before.view()), nodesText(grown->after.view()))
                       .arg(grown->epoch.value());
    return words;
  }
  if (const auto* elected = std::get_if<events::LeaderElected>(&payload)) {
    words.title =
        elected->to == kNoNode ? CauseNames::tr("No leader") : CauseNames::tr("%1 leads").arg(elected->to.value());
    const QStringList parts = usual.detail.split(QStringLiteral("   "), Qt::SkipEmptyParts);
    words.lines << parts;
    if (const QString still = stoodStill(past, words.at); !still.isEmpty()) words.lines << still;
    return words;
  }
  if (const auto* lost = std::get_if<events::RecordsLost>(&payload)) {
    const Offset to = lost->to == kNoOffset ? highestSeen(past, words.at) : lost->to;
    words.title = to > lost->from
                      ? CauseNames::tr("%n acknowledged record(s) lost", nullptr, static_cast<int>(to - lost->from))
                      : CauseNames::tr("Unclean election");
    words.lines << CauseNames::tr("%1 leads in epoch %2 although it need not hold all that was committed")
                       .arg(lost->leader.value())
                       .arg(lost->epoch.value());
    words.lines << (to > lost->from
                        ? CauseNames::tr("offsets %1 – %2 had been acknowledged")
                              .arg(offsetText(lost->from), offsetText(to - 1))
                        : CauseNames::tr(
                              "whatever others hold from %1 on goes; none of it is known to have been acknowledged")
                              .arg(offsetText(lost->from)));
    return words;
  }
  if (const auto* parted = std::get_if<events::LogDiverged>(&payload)) {
    words.title = CauseNames::tr("%1 parts from its leader's log").arg(event.event.broker.value());
    words.lines << CauseNames::tr("with leader %1, epoch %2 ends at %3")
                       .arg(QString::number(parted->leader.value()), QString::number(parted->inEpoch.value()),
                            offsetText(parted->leaderEnd))
                << CauseNames::tr("it gives up %1 – %2 and fetches on")
                       .arg(offsetText(parted->from), offsetText(parted->logEnd - 1));
    return words;
  }
  if (const auto* cut = std::get_if<events::LogTruncated>(&payload)) {
    words.title = CauseNames::tr("%1 gave up %n record(s)", nullptr, static_cast<int>(cut->from - cut->to))
                      .arg(event.event.broker.value());
    words.lines << CauseNames::tr("offsets %1 – %2: its leader does not have them")
                       .arg(offsetText(cut->to), offsetText(cut->from - 1));
    return words;
  }
  if (const auto* failed = std::get_if<events::LogDirectoryFailed>(&payload)) {
    words.title = CauseNames::tr("A log directory of %1 failed").arg(event.event.broker.value());
    // An event holds the beginning of what the snapshot tells whole.
    const auto* broker = observe::findBroker(cluster, event.event.broker);
    const observe::FailedDirectorySnapshot* whole = nullptr;
    if (broker != nullptr)
      for (const observe::FailedDirectorySnapshot& one : broker->failedDirectories)
        if (one.path.starts_with(failed->directory.view())) whole = &one;
    words.lines << (whole != nullptr ? QStringList{fromUtf8(whole->path), fromUtf8(whole->reason)}
                                     : usual.detail.split(QStringLiteral("   "), Qt::SkipEmptyParts))
                << CauseNames::tr("its copies there are offline until the broker starts anew");
    return words;
  }
  words.title = usual.name;
  if (!usual.where.isEmpty()) words.title = CauseNames::tr("%1 · %2").arg(usual.name, usual.where);
  words.lines << usual.detail.split(QStringLiteral("   "), Qt::SkipEmptyParts);
  return words;
}

CauseWords causeOf(const TimelineFault& fault) {
  CauseWords words;
  words.title = fault.title;
  words.shape = fault.shape;
  words.color = fault.severe ? colors().bad : colors().fault;
  words.at = fault.begin;
  words.event = fault.event;
  if (fault.end)
    words.lines
        << (*fault.end == fault.begin
                ? CauseNames::tr("over at once")
                : CauseNames::tr("until %1, for %2").arg(timeText(*fault.end), durationText(*fault.end - fault.begin)));
  else if (fault.expected)
    words.lines << CauseNames::tr("until %1").arg(timeText(*fault.expected));
  else
    words.lines << CauseNames::tr("until healed");
  return words;
}

}  // namespace tidemark::widgets
