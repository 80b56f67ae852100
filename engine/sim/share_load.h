#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/admin.h"
#include "client/share_consumer.h"
#include "sim/applications.h"
#include "sim/share_history.h"

namespace tidemark::sim {

/// What a seed says of share groups (KIP-932).
struct SharePlan {
  /// 0: there is none.
  int members = 0;
  int16_t deliveryCountLimit = 5;
  /// Of share states. The log in front of them is not cut: the checkers take for given that logs begin at 0.
  bool snapshotsOften = false;

  bool any() const noexcept { return members > 0; }
  /// What brokers are to be told; `copies` and `minInsyncReplicas` of the topic with share states.
  std::vector<std::pair<std::string, std::string>> settings(int copies, int minInsyncReplicas) const;
  /// The names of each member's processes, one after the other.
  std::vector<std::vector<std::string>> clients() const;
};

SharePlan drawShares(uint64_t seed);

/// A member of a share group: accepts most of what it is given, some of it late, releases some, rejects a few, and
/// forgets a few.
class ShareMember final : public Application {
 public:
  struct Options {
    std::string topic;
    std::string group;
    /// Sees to it that the group begins with the first record.
    bool configures = false;
    uint64_t seed = 0;
  };
  ShareMember(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
              Options options, Journal& journal, ShareHistory& history);
  ~ShareMember() override;

  /// Accepts everything from now on, at once.
  void calmDown() noexcept { calm_ = true; }
  void leave();
  int32_t epoch() const { return consumer_ ? consumer_->epoch() : 0; }
  std::vector<TopicPartition> assignment() const {
    return consumer_ ? consumer_->assignment() : std::vector<TopicPartition>();
  }
  const std::string& error() const noexcept { return error_; }

 private:
  void start();
  void given(const client::AcquiredRecord& record);
  void say(const client::Delivery& delivery, client::AcknowledgeType type);
  void tick();
  ShareHistory::Time now() const { return process_->clock().monotonic(); }

  const Options options_;
  platform::Generator choices_;
  Journal& journal_;
  ShareHistory& history_;
  std::unique_ptr<client::Admin> admin_;
  std::unique_ptr<client::ShareConsumer> consumer_;
  /// To be accepted later.
  std::multimap<ShareHistory::Time, client::Delivery> waiting_;
  platform::Timer timer_;
  platform::Timer starting_;
  bool calm_ = false;
  std::string error_;
};

/// The share group of a scenario, if it has one: its members die without a word and come back, or leave.
class ShareLoad final : public Checker {
 public:
  struct Setup {
    platform::World& world;
    Judge& judge;
    Tally& tally;
    Journal& journal;
    uint64_t seed;
    std::string topic;
    int partitions;
  };
  ShareLoad(Setup setup, SharePlan plan);

  const SharePlan& plan() const noexcept { return plan_; }
  void begin(const std::vector<platform::Endpoint>& bootstrap);
  /// The next third of the faults begins: members go, and those that went before are back; after the last all are.
  void third(int number);
  /// Records are lost by Kafka's rules: what the group's state says may be among them.
  void lost() noexcept { history_.lost(); }
  /// Nothing breaks any more, and members accept all.
  void calmDown();
  /// "L4: …"; empty if everybody is a member and each partition is somebody's.
  std::string whatIsNotWhole() const;
  /// G9, of what a reader from the beginning was given.
  std::string whatIsNotDone(const Reader::Records& records);
  void on(const Seen& seen) override;

 private:
  void come(size_t place);

  const Setup setup_;
  const SharePlan plan_;
  platform::Generator dice_;
  std::vector<platform::Endpoint> bootstrap_;
  ShareHistory history_;
  std::vector<std::unique_ptr<ShareMember>> members_;
  /// How many processes each place had.
  std::vector<size_t> lives_;
  /// They have said that they leave.
  std::vector<std::unique_ptr<ShareMember>> leaving_;
  ShareHistory::Time calmSince_{};
};

}  // namespace tidemark::sim
