#pragma once

#include <QString>

#include "groups/group_past.h"

namespace tidemark::widgets {

/// "classic", "consumer", "share", "streams": Kafka's words, never translated.
QString kindText(events::GroupKind kind);
/// "a member joined", "c-2 missed its session", …; `member` empty: nobody in particular.
QString causeText(events::GroupCause cause, const QString& member = {});
/// "c-2 missed its session by 1.3 s", "Stable → PreparingRebalance: c-3 joined", …; empty for what is no news of a
/// group.
QString happeningText(const GroupHappening& happening, const GroupRecord& of);
/// A member as it is called in few words: the name that its client has given itself, with what tells it from others of
/// the same name. `others`: all members.
QString memberName(const observe::GroupMemberSnapshot& member, const std::vector<observe::GroupMemberSnapshot>& others);
/// A member of the past, by the beginning of its id.
QString memberName(std::string_view cutId, const observe::GroupSnapshot* group);
/// The states of a group of this kind in the order in which a group goes through them.
std::vector<QString> statesOf(events::GroupKind kind);

/// What a shell would be told to do the same: "tidemark groups reset-offsets …".
QString resetCommand(const QString& bootstrap, const observe::OffsetResetRequest& request, bool execute);
QString deleteOffsetsCommand(const QString& bootstrap, const QString& group,
                             const std::vector<TopicPartition>& partitions);
QString deleteGroupCommand(const QString& bootstrap, const QString& group);

}  // namespace tidemark::widgets
