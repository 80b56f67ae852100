#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ids.h"
#include "client/client_codec.h"
#include "client/log_position.h"
#include "client/running.h"

namespace tidemark::client {

/// Member epochs that say something, in the protocols in which the coordinator assigns.
inline constexpr int32_t kJoinsGroup = 0;
inline constexpr int32_t kLeavesGroup = -1;
/// A static member, which keeps its place.
inline constexpr int32_t kLeavesGroupForAWhile = -2;

/// What members of groups have in common, whichever protocol their group speaks: how one finds its coordinator, talks
/// to it and goes from one step of its membership to the next. What it says there is the protocol's. Executor as the
/// Client's.
class GroupMembership : public Running {
 public:
  /// Only errors that do not pass.
  using ErrorHandler = std::function<void(const Error&)>;
  using Partitions = std::set<TopicPartition>;
  /// What the coordinator assigns, by topic id.
  using Target = std::map<Uuid, std::set<int32_t>>;

  void begin() { later({}, &GroupMembership::findCoordinator); }
  virtual void leave(platform::Task done) = 0;
  void stop() override {
    Running::stop();
    step_.cancel();
  }

  int32_t epoch() const noexcept { return epoch_; }
  const std::string& memberId() const noexcept { return memberId_; }
  std::vector<TopicPartition> assignment() const { return {owned_.begin(), owned_.end()}; }

 protected:
  GroupMembership(Client& client, std::string groupId, ErrorHandler onError);

  /// The coordinator is found: goes on with what was to be said to it.
  virtual void proceed() = 0;

  void findCoordinator();
  /// What an error of the coordinator comes to that means nothing special to the protocol: one that passes has it
  /// looked for again, any other is told.
  void lose(const Error& error);
  void tell(const Error& error) {
    if (onError_) onError_({error.code, fmt::format("group {}: {}", groupId_, error.message)});
  }
  /// By name. Nothing: the metadata lacks a topic of it.
  std::optional<Partitions> named(const Target& target) const;

  /// How long to wait until the next attempt; they begin anew with attempts_ = 0.
  platform::Duration backoff() { return client_.backoff(++attempts_); }

  /// Arms the one next step of becoming and staying a member.
  template <class Derived>
  void later(platform::Duration after, void (Derived::*step)()) {
    step_ = client_.executor().schedule(after, whileRunning([this, step] { (static_cast<Derived&>(*this).*step)(); }));
  }

  /// To the coordinator; `then` is called with the answer or, if there is none, with the error.
  template <class Request, class Then>
  void send(Request request, network::SendOptions how, Then then) {
    sendRaw(network::rawRequest(std::move(request)), how,
            network::rawHandler<typename Request::Response>(std::move(then)));
  }
  /// The same for a step of membership: whoever has left does not come back with the answer of a join that was under
  /// way.
  template <class Request, class Then>
  void ask(Request request, network::SendOptions how, Then then) {
    askRaw(network::rawRequest(std::move(request)), how,
           network::rawHandler<typename Request::Response>(std::move(then)));
  }
  void sendRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then);
  void askRaw(network::RawRequest request, network::SendOptions how, network::RawHandler then);

  /// Says a heartbeat of a member that gives up and takes as it is told (KIP-848, KIP-1071), and hands the answer to
  /// `self`. One at a time: of two the second might not name yet what the answer to the first gives. Whoever is fenced
  /// gives up all and joins again. `self` has heartbeat(), answered(), giveUpAll() and beat(), which comes here.
  template <class Derived>
  void exchangeHeartbeats(Derived& self);
  bool isBeating() const noexcept { return beating_; }

  /// `done` is told with what became of them; heartbeats find out what has become of the group.
  void commitOffsets(const std::map<TopicPartition, LogPosition>& positions, std::optional<protocol::Text> instanceId,
                     Client::Done done);

  const std::string groupId_;
  const ErrorHandler onError_;

  /// A connection of its own: a parked JoinGroup holds up whatever comes behind it.
  std::unique_ptr<network::Channel> coordinator_;
  std::string memberId_;
  int32_t epoch_ = 0;
  Partitions owned_;
  int attempts_ = 0;
  platform::Timer step_;
  bool left_ = false;

 private:
  template <class Derived>
  void refuseHeartbeat(Derived& self, const Error& error);

  bool beating_ = false;
  bool beatsAgain_ = false;
};

template <class Derived>
void GroupMembership::exchangeHeartbeats(Derived& self) {
  step_.cancel();
  if (left_) return;
  if (beating_) {
    beatsAgain_ = true;
    return;
  }
  beating_ = true;
  auto request = self.heartbeat();
  using Response = typename decltype(request)::Response;
  ask(std::move(request), {.timeout = client_.options().requestTimeout / 10},
      [this, &self](const Result<network::Received<Response>>& received) {
        beating_ = false;
        const bool again = std::exchange(beatsAgain_, false);
        if (!received) return refuseHeartbeat(self, received.error());
        const Response& response = received->message;
        if (response.errorCode != 0)
          return refuseHeartbeat(self, errorOf(response.errorCode, response.errorMessage, "a heartbeat"));
        self.answered(response);
        if (again && !stopped_) later({}, &Derived::beat);
      });
}

template <class Derived>
void GroupMembership::refuseHeartbeat(Derived& self, const Error& error) {
  switch (error.code) {
    case ErrorCode::FencedMemberEpoch:
    case ErrorCode::UnknownMemberId:
    // Nobody was left, and it was removed.
    case ErrorCode::GroupIdNotFound:
      self.giveUpAll();
      if (stopped_) return;
      return later(backoff(), &Derived::beat);
    case ErrorCode::UnreleasedInstanceId:
    case ErrorCode::CoordinatorLoadInProgress:
      return later(backoff(), &Derived::beat);
    default:
      return lose(error);
  }
}

}  // namespace tidemark::client
