#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/share_consumer.h"
#include "sim/checker.h"
#include "sim/tally.h"

namespace tidemark::sim {

/// What the members of one share group were given and told, as it happens. Members are known by name. A delivery is as
/// old as the fetch that brought it: what was acquired before something else was known may be told after it.
///
/// G7: what is accepted or rejected, and was confirmed to be, is never given out again. (By the partition's leader. One
/// that was paused, and has not heard yet that there is another, knows only what was confirmed by itself.) G8: no
/// record is held by two members at once. G9: in the end every record is accepted, rejected or given up at the limit of
/// deliveries. G10: the number of a delivery rises with each that was confirmed to be over, and never exceeds the
/// limit.
class ShareHistory {
 public:
  using Time = platform::MonotonicTime;
  using Records = std::map<TopicPartition, std::map<Offset, std::string>>;
  struct Settings {
    /// `share.delivery.count.limit`
    int16_t deliveryCountLimit = 5;
    /// Shorter than any lock lasts, however wrong the leader's clock is.
    platform::Duration lockedFor = std::chrono::seconds(15);
  };

  ShareHistory(Judge& judge, Tally& tally, std::string group, Settings settings)
      : judge_(judge), tally_(tally), group_(std::move(group)), settings_(settings) {}

  /// Records that the group's state is made of, or that members read, are lost: nothing is asked any more.
  void lost() noexcept { whole_ = false; }

  void given(const std::string& member, const client::Delivery& delivery, Time now);
  /// The member says it; it may still be on its way.
  void said(const std::string& member, const client::Delivery& delivery, client::AcknowledgeType type, Time now);
  void told(const std::string& member, const client::Acknowledged& acknowledged, Time now);
  /// It came to a member that has the partition no longer, which counts as a delivery.
  void passedOn(const client::ShareConsumer::PassedOn& passed);
  /// Of each request to a leader; before what it brought.
  void answered(const std::string& member, const client::ShareConsumer::Answer& answer, Time now);
  /// Without a word, or with one: nothing that it holds is its own any more.
  void gone(const std::string& member, Time now);
  /// Another leads the partition, or the same anew: locks are forgotten.
  void moved(const TopicPartition& partition, NodeId leader, LeaderEpoch epoch);

  /// G9: the first of the topic's records among these with which the group is not done; empty if it is done with all.
  /// `excuses`: fetches whose answers nobody has seen may have delivered it, too, until it was given up.
  std::string whatIsNotDone(const Records& records, std::string_view topic, bool excuses);

 private:
  struct Turn {
    std::string member;
    client::Delivery delivery;
    Time told;
    std::optional<Time> said = {};
    client::AcknowledgeType type = client::AcknowledgeType::Gap;
    /// What it said is known not to count.
    bool refused = false;
    /// It is known, or must be feared, not to hold the record any more.
    bool over = false;

    bool saidFinal() const noexcept {
      return said && !refused && (type == client::AcknowledgeType::Accept || type == client::AcknowledgeType::Reject);
    }
  };
  struct Record {
    /// In the order in which they were told.
    std::vector<Turn> turns;
    /// Accepted or rejected, as was confirmed, and when.
    std::optional<Time> done;
    /// The highest number of a delivery whose release was confirmed, and when.
    int16_t released = 0;
    Time releasedAt{};
    /// The highest number of a delivery that nobody was given.
    int16_t passedOn = 0;
  };
  struct Leader {
    NodeId node;
    LeaderEpoch epoch;
  };
  struct Suspicion {
    Time since;
    std::string text;
  };

  /// Unless something is lost.
  void breach(std::string_view invariant, std::string text) const;
  std::string textOf(const TopicPartition& where, Offset offset) const;
  static Turn* find(Record& record, const std::string& member, const client::Delivery& delivery);
  void checkOneHolder(const Record& record, const Turn& turn, Time now) const;
  bool isDeposed(const client::Delivery& delivery) const;
  bool isDone(const Record* record, bool excuses) const;
  /// How often the record may have been delivered, counting what nobody was told of.
  int64_t mostDeliveries(const Record* record) const;

  Judge& judge_;
  Tally& tally_;
  const std::string group_;
  const Settings settings_;
  bool whole_ = true;
  std::map<TopicPartition, std::map<Offset, Record>> records_;
  /// The newest, as far as one has begun.
  std::map<TopicPartition, Leader> leaders_;
  /// Until a session is known to have gone on.
  std::map<std::pair<std::string, uint64_t>, std::vector<Suspicion>> suspicions_;
  /// When requests ended without an answer.
  std::vector<Time> unanswered_;
  /// Up to where the group was done when that was asked last.
  std::map<TopicPartition, Offset> doneTo_;
};

}  // namespace tidemark::sim
