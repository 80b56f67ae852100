#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

using platform::Duration;
using ClientText = ShortText<40>;

// Each kind of event: plain values, no owner, valid for ever. `fields(visit)` calls visit(name, value) for each of them
// in order, which is what text, JSON and tables are made of.

/// acks=all waits until the high watermark reaches `needs`. `parkedCount`: in this purgatory, with it.
struct ProduceParked {
  static constexpr std::string_view kName = "ProduceParked";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Offset needs;
  Duration timeout{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("needs", needs);
    visit("timeout", timeout);
    visit("parkedCount", parkedCount);
  }
};

/// A parked produce was answered.
struct ProduceCompleted {
  static constexpr std::string_view kName = "ProduceCompleted";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Duration parkedFor{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("parkedFor", parkedFor);
    visit("parkedCount", parkedCount);
  }
};

/// A parked produce ran out of time: REQUEST_TIMED_OUT.
struct ProduceExpired {
  static constexpr std::string_view kName = "ProduceExpired";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Duration parkedFor{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("parkedFor", parkedFor);
    visit("parkedCount", parkedCount);
  }
};

/// A fetch waits for `minBytes` beyond `needs`. `follower`: the broker that fetches, none for a consumer.
struct FetchParked {
  static constexpr std::string_view kName = "FetchParked";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Offset needs;
  int32_t minBytes = 0;
  NodeId follower;
  Duration timeout{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("needs", needs);
    visit("minBytes", minBytes);
    visit("follower", follower);
    visit("timeout", timeout);
    visit("parkedCount", parkedCount);
  }
};

/// A parked fetch was answered before its time.
struct FetchCompleted {
  static constexpr std::string_view kName = "FetchCompleted";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Duration parkedFor{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("parkedFor", parkedFor);
    visit("parkedCount", parkedCount);
  }
};

/// A parked fetch was answered at its time with what there was.
struct FetchExpired {
  static constexpr std::string_view kName = "FetchExpired";
  PartitionTag partition;
  int32_t correlation = 0;
  ClientText client;
  Duration parkedFor{};
  int32_t parkedCount = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("correlation", correlation);
    visit("client", client);
    visit("parkedFor", parkedFor);
    visit("parkedCount", parkedCount);
  }
};

}  // namespace tidemark::events
