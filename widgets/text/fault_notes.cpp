#include "text/fault_notes.h"

#include <algorithm>

#include <QCoreApplication>

#include "text/format.h"
#include "text/node_words.h"

namespace tidemark::widgets {

namespace {

using faults::Ending;
using faults::Kind;
using faults::Unmatched;

struct NoteNames {
  Q_DECLARE_TR_FUNCTIONS(Faults)
};

/// Whether it is not there in that cluster either. Of files a snapshot tells nothing.
bool isMissing(const Unmatched& unmatched, const observe::ClusterSnapshot& cluster) {
  switch (unmatched.what) {
    case Unmatched::What::Client:
      return std::ranges::find(cluster.connections, unmatched.name, &observe::ConnectionSnapshot::client) ==
             cluster.connections.end();
    case Unmatched::What::Topic:
      return observe::findTopic(cluster, unmatched.name) == nullptr;
    case Unmatched::What::Partition:
      return std::ranges::none_of(cluster.topics, [&unmatched](const observe::TopicSnapshot& topic) {
        return unmatched.name.starts_with(topic.name) &&
               std::ranges::any_of(topic.partitions, [&](const observe::PartitionSnapshot& partition) {
                 return partitionText({topic.name, partition.index}) == fromUtf8(unmatched.name);
               });
      });
    case Unmatched::What::Path:
      break;
  }
  return true;
}

/// The last names of a path: the broker's folder, the partition's, the file.
QString endOfPath(const std::string& path, bool whole, int names) {
  const QString text = fromUtf8(path);
  return whole ? text : text.section(QLatin1Char('/'), -names);
}

QString signedTime(platform::Duration offset) {
  const platform::Duration size = std::chrono::abs(offset);
  const QString sign = offset < platform::Duration{} ? QStringLiteral("−") : QStringLiteral("+");
  // Soon after it began a drift is less than a millisecond.
  if (size >= std::chrono::milliseconds(1)) return sign + durationText(size);
  return NoteNames::tr("%1%2 µs").arg(sign).arg(std::chrono::duration_cast<std::chrono::microseconds>(size).count());
}

/// What became of the files or folders that its kind touches.
QString pathsText(Kind kind, const QString& paths) {
  switch (kind) {
    case Kind::Wipe:
      return NoteNames::tr("wiped: %1").arg(paths);
    case Kind::PowerLoss:
      return NoteNames::tr("cut off where it was last synced: %1").arg(paths);
    case Kind::TornWrite:
      return NoteNames::tr("written in part: %1").arg(paths);
    default:
      return NoteNames::tr("changed: %1").arg(paths);
  }
}

}  // namespace

QString unmatchedText(const Unmatched& unmatched, const observe::ClusterSnapshot& cluster) {
  const QString name = fromUtf8(unmatched.name);
  switch (unmatched.what) {
    case Unmatched::What::Client:
      return NoteNames::tr("no client named %1 is connected").arg(name);
    case Unmatched::What::Topic:
      return NoteNames::tr("there is no topic %1").arg(name);
    case Unmatched::What::Partition:
      return NoteNames::tr("there is no partition %1").arg(name);
    case Unmatched::What::Path:
      return NoteNames::tr("%1 has no file or folder %2").arg(nodeText(cluster, unmatched.node), name);
  }
  return {};
}

QString faultNote(const observe::FaultSnapshot& fault, const observe::ClusterSnapshot& cluster) {
  // Whatever it has met it has matched.
  if (fault.fired > 0) return {};
  QStringList missing;
  for (const Unmatched& each : fault.unmatched)
    if (isMissing(each, cluster)) missing << unmatchedText(each, cluster);
  return missing.isEmpty() ? QString()
                           : NoteNames::tr("Matches nothing yet: %1").arg(missing.join(QStringLiteral("; ")));
}

QString faultNote(const observe::FaultOverSnapshot& fault, const observe::ClusterSnapshot& cluster) {
  if (fault.fired > 0) return {};
  QStringList missing;
  for (const Unmatched& each : fault.unmatched) missing << unmatchedText(each, cluster);
  return missing.isEmpty()
             ? QString()
             : NoteNames::tr("Matched nothing when it was set: %1").arg(missing.join(QStringLiteral("; ")));
}

QString endingText(Ending ending) {
  switch (ending) {
    case Ending::Healed:
      return NoteNames::tr("healed");
    case Ending::Expired:
      return NoteNames::tr("time over");
    case Ending::FiredOut:
      return NoteNames::tr("happened");
    case Ending::Dropped:
      return NoteNames::tr("dropped");
  }
  return {};
}

QString endingMeaning(const observe::FaultOverSnapshot& fault) {
  switch (fault.ending) {
    case Ending::Healed:
      return NoteNames::tr("It was healed by hand.");
    case Ending::Expired:
      return NoteNames::tr("Its time was over.");
    case Ending::FiredOut:
      return NoteNames::tr("It happens once, and has happened.");
    case Ending::Dropped:
      return fault.reason.empty() ? NoteNames::tr("It was dropped.")
                                  : NoteNames::tr("It was dropped: %1").arg(fromUtf8(fault.reason));
  }
  return {};
}

QStringList lastingTexts(Kind kind, const faults::Lasting& lasting, bool whole) {
  QStringList texts;
  if (!lasting.paths.empty()) {
    QStringList paths;
    for (size_t i = 0; i < lasting.paths.size(); ++i) {
      // Whose power it was is told already.
      const bool cut = i < lasting.lostBytes.size();
      const QString path = endOfPath(lasting.paths[i], whole, cut ? 2 : 3);
      paths << (cut ? NoteNames::tr("%1 of %2").arg(bytesText(static_cast<int64_t>(lasting.lostBytes[i])), path)
                    : path);
    }
    if (lasting.flippedByte) {
      texts << NoteNames::tr("lowest bit of byte %1 flipped in %2")
                   .arg(grouped(static_cast<int64_t>(*lasting.flippedByte)), paths.front());
    } else {
      // In a list one of them stands for all.
      const auto more = static_cast<int>(lasting.morePaths) + (whole ? 0 : static_cast<int>(paths.size()) - 1);
      QString named = whole ? paths.join(QStringLiteral(", ")) : paths.front();
      if (more > 0) named = NoteNames::tr("%1 and %2 more").arg(named, QString::number(more));
      texts << (lasting.lostInAll > 0 ? NoteNames::tr("%1 lost that were not synced: %2")
                                            .arg(bytesText(static_cast<int64_t>(lasting.lostInAll)), named)
                                      : pathsText(kind, named));
    }
  }
  if (lasting.wall != platform::milliseconds{})
    texts << NoteNames::tr("wall clock %1 until it starts anew").arg(signedTime(lasting.wall));
  if (lasting.monotonic != platform::Duration{})
    texts << NoteNames::tr("monotonic clock %1 until it starts anew").arg(signedTime(lasting.monotonic));
  return texts;
}

}  // namespace tidemark::widgets
