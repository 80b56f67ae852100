#include "groups/group_words.h"

#include <algorithm>
#include <map>

#include <QCoreApplication>
#include <QDateTime>
#include <QStringList>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct GroupTexts {
  Q_DECLARE_TR_FUNCTIONS(Groups)
};

using namespace events;

constexpr int kShortName = 22;

/// For a shell: in quotes if it has to be.
QString quoted(const QString& text) {
  static const QString kPlain = QStringLiteral("-_.:,/=@+");
  const bool plain = !text.isEmpty() && std::ranges::all_of(text, [](QChar c) {
    return c.unicode() < 128 && (c.isLetterOrNumber() || kPlain.contains(c));
  });
  if (plain) return text;
  return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

/// "--topic orders:0,1 --topic payments:3".
QString topicOptions(const std::vector<TopicPartition>& partitions) {
  std::map<std::string, QStringList> topics;
  for (const TopicPartition& one : partitions) topics[one.topic] << QString::number(one.partition.value());
  QString text;
  for (const auto& [topic, list] : topics)
    text += QStringLiteral(" --topic ") + quoted(fromUtf8(topic) + QLatin1Char(':') + list.join(QLatin1Char(',')));
  return text;
}

QString commandStart(const QString& bootstrap, const char* action, const QString& group) {
  return QStringLiteral("tidemark groups %1 --bootstrap %2 %3").arg(QLatin1String(action), bootstrap, quoted(group));
}

/// "c-2-5f3a…" is c-2: what a client calls itself, without the random part.
QString plainName(QString id) {
  // A UUID in Java's or Kafka's form, or a part of one where the id was cut off.
  for (qsizetype dash = id.indexOf(QLatin1Char('-')); dash > 0; dash = id.indexOf(QLatin1Char('-'), dash + 1)) {
    const QString rest = id.mid(dash + 1);
    const auto hexUpTo = static_cast<qsizetype>(
        std::ranges::find_if(rest, [](QChar c) { return !QStringLiteral("0123456789abcdef").contains(c); }) -
        rest.begin());
    if (hexUpTo >= 8 || (hexUpTo == rest.size() && hexUpTo >= 4)) return id.left(dash);
  }
  return id.size() > kShortName ? id.left(kShortName - 1) + QStringLiteral("…") : id;
}

}  // namespace

QString kindText(GroupKind kind) {
  switch (kind) {
    case GroupKind::Classic:
      return QStringLiteral("classic");
    case GroupKind::Consumer:
      return QStringLiteral("consumer");
    case GroupKind::Share:
      return QStringLiteral("share");
    case GroupKind::Streams:
      return QStringLiteral("streams");
  }
  return {};
}

QString causeText(GroupCause cause, const QString& member) {
  const bool known = !member.isEmpty();
  switch (cause) {
    case GroupCause::Unknown:
      break;
    case GroupCause::MemberJoined:
      return known ? GroupTexts::tr("%1 joined").arg(member) : GroupTexts::tr("a member joined");
    case GroupCause::MemberLeft:
      return known ? GroupTexts::tr("%1 left").arg(member) : GroupTexts::tr("the last member left");
    case GroupCause::SessionMissed:
      return known ? GroupTexts::tr("%1 missed its session").arg(member) : GroupTexts::tr("a session was missed");
    case GroupCause::RebalanceTimedOut:
      return known ? GroupTexts::tr("%1 did not come in time").arg(member) : GroupTexts::tr("the time was over");
    case GroupCause::SyncTimedOut:
      return known ? GroupTexts::tr("%1 did not ask for its assignment in time").arg(member)
                   : GroupTexts::tr("an assignment was not asked for in time");
    case GroupCause::MemberReplaced:
      return known ? GroupTexts::tr("%1 came back under a new id").arg(member)
                   : GroupTexts::tr("a static member came back");
    case GroupCause::SubscriptionChanged:
      return known ? GroupTexts::tr("%1 wants other topics").arg(member) : GroupTexts::tr("a subscription changed");
    case GroupCause::TopicsChanged:
      return GroupTexts::tr("topics changed");
    case GroupCause::AllJoined:
      return GroupTexts::tr("all have joined");
    case GroupCause::Assigned:
      return GroupTexts::tr("the assignment is made");
    case GroupCause::Reconciled:
      return GroupTexts::tr("all own what they are to own");
    case GroupCause::WriteFailed:
      return GroupTexts::tr("the assignment could not be stored");
    case GroupCause::Upgraded:
      return GroupTexts::tr("upgraded to the consumer protocol");
    case GroupCause::Downgraded:
      return GroupTexts::tr("downgraded to the classic protocol");
    case GroupCause::Loaded:
      return GroupTexts::tr("loaded with too many members");
    case GroupCause::Removed:
      return known ? GroupTexts::tr("%1 was removed").arg(member) : GroupTexts::tr("removed");
  }
  return GroupTexts::tr("cause unknown");
}

QString memberName(std::string_view cutId, const observe::GroupSnapshot* group) {
  if (cutId.empty()) return {};
  if (group != nullptr)
    for (const observe::GroupMemberSnapshot& member : group->members)
      if (member.memberId.starts_with(cutId)) return memberName(member, group->members);
  return plainName(fromUtf8(cutId));
}

QString memberName(const observe::GroupMemberSnapshot& member,
                   const std::vector<observe::GroupMemberSnapshot>& others) {
  if (!member.instanceId.empty()) return plainName(fromUtf8(member.instanceId));
  const std::string& named = member.clientId.empty() ? member.memberId : member.clientId;
  QString name = fromUtf8(named);
  if (name.size() > kShortName) name = name.left(kShortName - 1) + QStringLiteral("…");
  const bool alone = std::ranges::count(others, member.clientId, &observe::GroupMemberSnapshot::clientId) == 1;
  if (alone || member.memberId.size() < 4) return name;
  // Several of one name: the first figures of the random part, or of the id itself.
  const size_t random = member.memberId.starts_with(member.clientId + "-") ? member.clientId.size() + 1 : 0;
  return QStringLiteral("%1 (%2)").arg(name, fromUtf8(std::string_view(member.memberId).substr(random, 4)));
}

QString happeningText(const GroupHappening& happening, const GroupRecord& of) {
  const auto who = [](const auto& text) { return plainName(fromUtf8(text.view())); };
  if (const auto* change = std::get_if<GroupStateChanged>(&happening.what)) {
    // Who did it was told in the same moment.
    QString member;
    for (const GroupHappening& other : of.happenings) {
      const auto away = other.at - happening.at;
      if (away > std::chrono::milliseconds(5) || away < std::chrono::milliseconds(-5)) continue;
      if (const auto* joined = std::get_if<MemberJoined>(&other.what);
          joined && change->cause == GroupCause::MemberJoined)
        member = who(joined->member);
      if (const auto* left = std::get_if<MemberLeft>(&other.what); left && left->cause == change->cause) {
        member = who(left->member);
        if (left->silent > left->allowed && left->allowed > platform::Duration::zero())
          return GroupTexts::tr("%1 → %2: %3 by %4")
              .arg(fromUtf8(nameOf(change->from)), fromUtf8(nameOf(change->to)), causeText(change->cause, member),
                   durationText(left->silent - left->allowed));
      }
      if (const auto* started = std::get_if<RebalanceStarted>(&other.what);
          started && started->cause == change->cause && !started->member.view().empty())
        member = who(started->member);
    }
    return GroupTexts::tr("%1 → %2: %3")
        .arg(fromUtf8(nameOf(change->from)), fromUtf8(nameOf(change->to)), causeText(change->cause, member));
  }
  if (const auto* joined = std::get_if<MemberJoined>(&happening.what))
    return joined->isStatic ? GroupTexts::tr("%1 joins as a static member").arg(who(joined->member))
                            : GroupTexts::tr("%1 joins").arg(who(joined->member));
  if (const auto* left = std::get_if<MemberLeft>(&happening.what)) {
    const QString text =
        causeText(left->cause == GroupCause::Unknown ? GroupCause::MemberLeft : left->cause, who(left->member));
    if (left->silent > left->allowed && left->allowed > platform::Duration::zero())
      return GroupTexts::tr("%1 by %2").arg(text, durationText(left->silent - left->allowed));
    return text;
  }
  if (const auto* step = std::get_if<MemberProgressed>(&happening.what)) {
    const QString name = who(step->member);
    switch (step->step) {
      case MemberStep::Rejoined:
        return GroupTexts::tr("%1 joined again after %2").arg(name, durationText(step->took));
      case MemberStep::Synced:
        // The last ones are told when the rebalance is over already.
        if (step->took <= platform::Duration::zero())
          return GroupTexts::tr("%1 got %2").arg(name, GroupTexts::tr("%n partition(s)", nullptr, step->partitions));
        return GroupTexts::tr("%1 got %2 after %3")
            .arg(name, GroupTexts::tr("%n partition(s)", nullptr, step->partitions), durationText(step->took));
      case MemberStep::Revoking:
        return GroupTexts::tr("%1 is to give back %2; its epoch stays %3 of %4")
            .arg(name, GroupTexts::tr("%n partition(s)", nullptr, step->partitions))
            .arg(step->epoch)
            .arg(step->target);
      case MemberStep::Waiting:
        return GroupTexts::tr("%1 is at epoch %2 and waits for what others still hold").arg(name).arg(step->epoch);
      case MemberStep::Reconciled:
        return GroupTexts::tr("%1 owns all it is to own, %2, at epoch %3, after %4")
            .arg(name, GroupTexts::tr("%n partition(s)", nullptr, step->partitions))
            .arg(step->epoch)
            .arg(durationText(step->took));
    }
  }
  if (const auto* done = std::get_if<RebalanceCompleted>(&happening.what))
    return GroupTexts::tr("the rebalance took %1, generation %2").arg(durationText(done->took)).arg(done->generation);
  return {};
}

std::vector<QString> statesOf(GroupKind kind) {
  switch (kind) {
    case GroupKind::Classic:
      return {QStringLiteral("Empty"), QStringLiteral("PreparingRebalance"), QStringLiteral("CompletingRebalance"),
              QStringLiteral("Stable"), QStringLiteral("Dead")};
    case GroupKind::Consumer:
      return {QStringLiteral("Empty"), QStringLiteral("Assigning"), QStringLiteral("Reconciling"),
              QStringLiteral("Stable"), QStringLiteral("Dead")};
    case GroupKind::Share:
      return {QStringLiteral("Empty"), QStringLiteral("Stable"), QStringLiteral("Dead")};
    case GroupKind::Streams:
      return {QStringLiteral("Empty"),       QStringLiteral("NotReady"), QStringLiteral("Assigning"),
              QStringLiteral("Reconciling"), QStringLiteral("Stable"),   QStringLiteral("Dead")};
  }
  return {};
}

QString resetCommand(const QString& bootstrap, const observe::OffsetResetRequest& request, bool execute) {
  QString text = commandStart(bootstrap, "reset-offsets", fromUtf8(request.group));
  text += request.partitions.empty() ? QStringLiteral(" --all-topics") : topicOptions(request.partitions);
  using Kind = observe::OffsetResetRequest::Kind;
  switch (request.kind) {
    case Kind::Earliest:
      text += QStringLiteral(" --to-earliest");
      break;
    case Kind::Latest:
      text += QStringLiteral(" --to-latest");
      break;
    case Kind::Current:
      text += QStringLiteral(" --to-current");
      break;
    case Kind::Offset:
      text += QStringLiteral(" --to-offset %1").arg(request.value);
      break;
    case Kind::ShiftBy:
      text += QStringLiteral(" --shift-by %1").arg(request.value);
      break;
    case Kind::Datetime:
      text += QStringLiteral(" --to-datetime ") +
              QDateTime::fromMSecsSinceEpoch(request.value, Qt::UTC).toString(Qt::ISODateWithMs);
      break;
  }
  return execute ? text + QStringLiteral(" --execute") : text;
}

QString deleteOffsetsCommand(const QString& bootstrap, const QString& group,
                             const std::vector<TopicPartition>& partitions) {
  return commandStart(bootstrap, "delete-offsets", group) + topicOptions(partitions);
}

QString deleteGroupCommand(const QString& bootstrap, const QString& group) {
  return commandStart(bootstrap, "delete", group);
}

}  // namespace tidemark::widgets
