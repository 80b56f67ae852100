#pragma once

#include <QString>

#include "observe/history.h"
#include "observe/snapshot.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// How much an event wants to be seen.
enum class Weight {
  /// Hundreds a second: appends, fetches, index entries.
  Chatty,
  /// With every record, or on each broker of a partition at once: high watermarks, parked produces, roles taken up.
  Frequent,
  Normal,
  /// A row of its own colour: the ISR shrank, a broker died.
  Grave,
};

/// What kind of thing an event is about, for the filter of the table.
enum class EventGroup { Replication, Log, Purgatory, Quorum, Brokers, Clients, Lab };

/// An event in the words of the reader.
struct EventWords {
  /// "broker 1", "controller 2", "lab".
  QString source;
  /// "IsrShrunk": the engine's own name, never translated.
  QString name;
  /// "orders-0", "broker 3", empty.
  QString where;
  QString detail;
  StateShape shape = StateShape::Disc;
  QColor color;
  Weight weight = Weight::Normal;
  EventGroup group = EventGroup::Brokers;
};

/// `cluster` tells which nodes are controllers and nothing else.
EventWords wordsOf(const observe::ObservedEvent& event, const observe::ClusterSnapshot& cluster);
/// What it says, but for where it happened.
QString detailOf(const events::Payload& payload);

/// Only what the filter needs: no text is made.
Weight weightOf(const events::Payload& payload) noexcept;
EventGroup groupOf(const events::Payload& payload) noexcept;

QString nameOf(EventGroup group);

}  // namespace tidemark::widgets
