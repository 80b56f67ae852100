#include "sim/transactional_application.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Of one transaction, records that it takes from its input, and such as it makes something of.
constexpr size_t kMostInputs = 400;
constexpr int kMostTransformed = 30;

ByteVector bytes(std::string_view text) {
  const ByteView view = asBytes(text);
  return {view.begin(), view.end()};
}

}  // namespace

TransactionalApplication::TransactionalApplication(platform::World& world, const std::string& name,
                                                   const std::vector<platform::Endpoint>& bootstrap, Options options,
                                                   uint64_t seed, Journal& journal, TransactionHistory& history,
                                                   Tally& tally)
    : Application(world, name, bootstrap),
      options_(std::move(options)),
      choices_(platform::mix(seed, name)),
      journal_(journal),
      history_(history),
      tally_(tally) {
  executor_->post([this] {
    producer_ = std::make_unique<client::TransactionalProducer>(
        *client_, client::TransactionalProducerOptions{
                      .transactionalId = options_.transactionalId,
                      .transactionTimeout = options_.timeout,
                      .patience = seconds(15),
                      .producer = {.deliveryTimeout = seconds(15), .requestTimeout = milliseconds(2500)}});
    groups_ = std::make_unique<client::GroupAdmin>(*client_, seconds(15));
    if (!options_.input.empty()) {
      consumer_ = std::make_unique<client::Consumer>(
          *client_, client::ConsumerOptions{.isolation = client::IsolationLevel::ReadCommitted},
          [this](const client::ConsumedRecord& record) { consumed(record); });
      std::vector<client::Consumer::Position> positions;
      for (TopicPartition& each : inputPartitions()) positions.push_back({.where = std::move(each)});
      consumer_->assign(positions);
    }
    begin();
  });
}

TransactionalApplication::~TransactionalApplication() {
  end();
}

void TransactionalApplication::later(platform::Duration after, void (TransactionalApplication::*step)()) {
  timer_ = executor_->schedule(after, [this, step] { (this->*step)(); });
}

// --- what it reads
// ----------------------------------------------------------------------------------------------------

void TransactionalApplication::readFromCommitted() {
  groups_->stableOffsets(options_.group, inputPartitions(),
                         [this](const Result<std::vector<client::CommittedOffset>>& committed) {
                           if (!committed) return failed(committed.error());
                           inputs_.clear();
                           history_.moved(name_);
                           std::map<TopicPartition, client::LogPosition> known;
                           for (const client::CommittedOffset& each : *committed)
                             known[each.partition] = {each.offset, each.leaderEpoch};
                           for (const TopicPartition& where : inputPartitions()) {
                             if (const auto at = known.find(where); at != known.end()) {
                               consumer_->seek(where, at->second);
                             } else {
                               consumer_->seekToBeginning(where);
                             }
                           }
                           nextTransaction();
                         });
}

std::vector<TopicPartition> TransactionalApplication::inputPartitions() const {
  std::vector<TopicPartition> all;
  for (int i = 0; i < options_.partitions; ++i) all.push_back({options_.input, PartitionIndex(i)});
  return all;
}

void TransactionalApplication::consumed(const client::ConsumedRecord& record) {
  const std::string_view value = record.record.value ? asText(*record.record.value) : std::string_view();
  const Offset offset = record.record.offset;
  journal_.consumed(record.where, offset, value);
  history_.sawCommitted(name_, record.where, offset, value, consumer_->highWatermark(record.where));
  if (!options_.group.empty()) {
    inputs_.push_back({.where = record.where,
                       .offset = offset,
                       .leaderEpoch = record.leaderEpoch,
                       .used = transactionOf(value).has_value()});
  } else if (open_ && transactionOf(value)) {
    history_.read(*open_, record.where, offset);
  }
}

void TransactionalApplication::askForOffsets() {
  executor_->post([this] {
    groups_->stableOffsets(options_.group, inputPartitions(),
                           [this](const Result<std::vector<client::CommittedOffset>>& committed) {
                             if (!committed) return later(milliseconds(500), &TransactionalApplication::askForOffsets);
                             offsets_.emplace();
                             for (const client::CommittedOffset& each : *committed)
                               (*offsets_)[each.partition] = each.offset;
                           });
  });
}

// --- what it writes
// ---------------------------------------------------------------------------------------------------

void TransactionalApplication::begin() {
  open_.reset();
  if (stopped_) {
    idle_ = true;
    return;
  }
  producer_->begin([this](const Result<void>& begun) {
    if (!begun) return failed(begun.error());
    tally_.count("transactional producer began");
    history_.became(options_.transactionalId, name_, producer_->producerId(), producer_->producerEpoch());
    if (options_.group.empty()) return nextTransaction();
    readFromCommitted();
  });
}

void TransactionalApplication::failed(const Error& error) {
  open_.reset();
  const bool isFenced = error.code == ErrorCode::ProducerFenced || error.code == ErrorCode::InvalidProducerEpoch;
  if (isFenced) tally_.count("transactional producer told that it is fenced");
  later(isFenced ? choices_.between(seconds(1), seconds(5)) : choices_.around(milliseconds(400)),
        &TransactionalApplication::begin);
}

void TransactionalApplication::nextTransaction() {
  open_.reset();
  if (stopped_) {
    idle_ = true;
    return;
  }
  later(choices_.around(options_.pause), &TransactionalApplication::transaction);
}

void TransactionalApplication::transaction() {
  if (stopped_) return nextTransaction();
  open_ = history_.began(options_.transactionalId, name_, producer_->producerId(), producer_->producerEpoch());
  ++round_;
  unanswered_ = 0;
  refused_ = false;
  for (uint64_t left = 1 + choices_.below(5); left > 0; --left) write({});
  if (!options_.group.empty()) transform();
  const uint64_t dice = choices_.below(100);
  commit_ = dice >= options_.aborts;
  // The coordinator ends it first.
  if (dice >= 100 - options_.leavesOpen)
    return later(options_.timeout + choices_.between(seconds(1), seconds(4)), &TransactionalApplication::awaitAnswers);
  later(choices_.between(milliseconds(1), milliseconds(120)), &TransactionalApplication::awaitAnswers);
}

void TransactionalApplication::write(const std::string& from) {
  const std::string value = history_.valueFor(*open_, from);
  ++unanswered_;
  producer_->send({.topic = options_.output,
                   .partition = static_cast<int32_t>(choices_.below(static_cast<uint64_t>(options_.partitions))),
                   .key = {},
                   .value = bytes(value),
                   .headers = {},
                   .timestampMs = {}},
                  [this, value, number = *open_, round = round_](const Result<client::Delivered>& delivered) {
                    if (delivered && delivered->offset >= Offset(0)) {
                      journal_.acknowledged(delivered->where, delivered->offset, value, true);
                      history_.wrote(number, delivered->where, delivered->offset);
                    }
                    if (round != round_) return;
                    --unanswered_;
                    refused_ |= !delivered;
                  });
}

void TransactionalApplication::transform() {
  TransactionHistory::Offsets offsets;
  client::TransactionalProducer::Offsets positions;
  int made = 0;
  for (size_t taken = 0; taken < kMostInputs && made < kMostTransformed && !inputs_.empty(); ++taken) {
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    offsets[input.where] = input.offset.next();
    positions[input.where] = {input.offset.next(), input.leaderEpoch};
    if (!input.used) continue;
    ++made;
    history_.read(*open_, input.where, input.offset);
    write(fmt::format("{}@{}", input.where, input.offset));
  }
  if (offsets.empty()) return;
  history_.sends(*open_, offsets);
  sendingOffsets_ = true;
  producer_->sendOffsets(options_.group, positions, [this](const Result<void>& sent) {
    if (sent) tally_.count("offsets in a transaction");
    sendingOffsets_ = false;
    refused_ |= !sent;
  });
}

void TransactionalApplication::awaitAnswers() {
  if (stopped_ && choices_.chance(50)) {
    tally_.count("transaction nobody ends");
    idle_ = true;
    return;
  }
  // Who aborts does not wait for records that are on their way.
  if (sendingOffsets_ || (commit_ && unanswered_ > 0))
    return later(milliseconds(5), &TransactionalApplication::awaitAnswers);
  finish();
}

void TransactionalApplication::finish() {
  commit_ &= unanswered_ == 0 && !refused_;
  history_.asked(*open_, commit_);
  ++round_;
  const bool raisesEpoch = producer_->transactionVersion() >= kFirstVersionThatRaisesEpochs;
  const std::pair before{producer_->producerId(), producer_->producerEpoch()};
  producer_->end(commit_, [this, number = *open_, raisesEpoch, before](const Result<void>& ended) {
    history_.answered(number, ended.has_value());
    if (!ended) return failed(ended.error());
    // Below that version it stays who it was, but for a transaction of which something failed.
    if (raisesEpoch || before != std::pair{producer_->producerId(), producer_->producerEpoch()})
      history_.became(options_.transactionalId, name_, producer_->producerId(), producer_->producerEpoch());
    // What it took from its input is to be taken again.
    if (!commit_ && !options_.group.empty()) {
      open_.reset();
      return readFromCommitted();
    }
    nextTransaction();
  });
}

}  // namespace tidemark::sim
