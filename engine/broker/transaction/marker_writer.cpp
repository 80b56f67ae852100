#include "broker/transaction/marker_writer.h"

#include <iterator>
#include <memory>

#include "base/mutex.h"
#include "records/control.h"

namespace tidemark::broker {
namespace {

/// As partitions of other topics say it: who sends markers looks for leaders, not for coordinators.
ErrorCode asOfPartition(ErrorCode error) {
  switch (error) {
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::CoordinatorLoadInProgress:
    case ErrorCode::NotCoordinator:
      return ErrorCode::NotLeaderOrFollower;
    default:
      return error;
  }
}

/// Gathers the answers for one marker.
class AnswersToMarker {
 public:
  AnswersToMarker(size_t parts, MarkerWriter::Done done) : left_(parts), done_(std::move(done)) {}

  void add(MarkerWriter::Results results) {
    {
      const Lock lock(mutex_);
      results_.insert(results_.end(), std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
      if (--left_ > 0) return;
    }
    done_(std::move(results_));
  }

 private:
  Mutex mutex_;
  size_t left_;
  MarkerWriter::Results results_;
  MarkerWriter::Done done_;
};

}  // namespace

void MarkerWriter::write(const coordinator::TransactionMarker& marker, const std::vector<TopicPartition>& partitions,
                         Done done) {
  std::vector<TopicPartition> plain;
  std::vector<TopicPartition> offsets;
  for (const TopicPartition& partition : partitions)
    (partition.topic == "__consumer_offsets" ? offsets : plain).push_back(partition);
  const auto gathered = std::make_shared<AnswersToMarker>(1 + offsets.size(), std::move(done));
  for (const TopicPartition& partition : offsets)
    groups_.groups().endTransaction(partition.partition, marker, [gathered, partition](ErrorCode error) {
      gathered->add({{partition, asOfPartition(error)}});
    });
  if (plain.empty()) return gathered->add({});
  // One buffer for all: each append stamps its own copy.
  const ByteVector batch = records::buildEndTxnMarker(
      marker.producerId, marker.producerEpoch, {marker.commit, marker.coordinatorEpoch}, process_.clock().wallMs());
  std::vector<ByteVector> copies(plain.size(), batch);
  std::vector<replication::ProduceItem> items;
  items.reserve(plain.size());
  for (size_t i = 0; i < plain.size(); ++i) items.push_back({.partition = plain[i], .records = copies[i]});
  replicas_.append(
      -1, timeout_, items, {.origin = records::Origin::Coordinator, .transactionVersion = marker.transactionVersion},
      {.client = "transaction-marker", .correlation = 0}, [gathered](std::vector<replication::ProduceResult> results) {
        Results answers;
        answers.reserve(results.size());
        for (replication::ProduceResult& result : results)
          answers.emplace_back(std::move(result.partition), result.error);
        gathered->add(std::move(answers));
      });
}

}  // namespace tidemark::broker
