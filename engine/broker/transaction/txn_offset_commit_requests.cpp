#include "broker/auto_topics.h"
#include "broker/group_requests.h"
#include "broker/group_service.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

// TxnOffsetCommit 0–6: the group coordinator's partition is part of the transaction like any other, so that is asked
// first.

namespace tidemark::broker {
namespace {

using network::AclOperation;
using network::ResourceType;
using protocol::TxnOffsetCommitRequest;
using protocol::TxnOffsetCommitResponse;

constexpr int16_t kFirstWithTopicIds = 6;

/// Before it COORDINATOR_LOAD_IN_PROGRESS is more than a client takes.
constexpr int16_t kFirstWithLoadInProgress = 2;

VerificationMode modeOf(int16_t version) {
  return version >= 5   ? VerificationMode::Add
         : version == 4 ? VerificationMode::VerifyAbortable
                        : VerificationMode::Verify;
}

/// A commit on its way: what may not be committed is answered already.
struct Commit {
  network::RequestPtr request;
  TxnOffsetCommitRequest message;
  TxnOffsetCommitResponse refused;

  void refuse(const TxnOffsetCommitRequest::TxnOffsetCommitRequestTopic& topic, ErrorCode error) {
    auto& answer = refused.topics.emplace_back();
    answer.name = topic.name;
    answer.topicId = topic.topicId;
    for (const auto& partition : topic.partitions)
      answer.partitions.push_back(
          {.partitionIndex = partition.partitionIndex, .errorCode = static_cast<int16_t>(error)});
  }
  void respond(TxnOffsetCommitResponse response) {
    const bool old = request->apiVersion() < kFirstWithLoadInProgress;
    for (auto& topic : response.topics)
      for (auto& partition : topic.partitions)
        if (old && partition.errorCode == static_cast<int16_t>(ErrorCode::CoordinatorLoadInProgress))
          partition.errorCode = static_cast<int16_t>(ErrorCode::CoordinatorNotAvailable);
    for (auto& topic : refused.topics) response.topics.push_back(std::move(topic));
    request->respond(response);
  }
  void refuseAll(ErrorCode error) {
    for (const auto& topic : message.topics) refuse(topic, error);
    respond({});
  }
};

void commitTo(BrokerContext& broker, std::shared_ptr<Commit> commit, std::optional<uint64_t> verification) {
  broker.groups.groups().commitTransactionalOffsets(
      infoOf(*commit->request), commit->message, verification,
      [commit](TxnOffsetCommitResponse response) { commit->respond(std::move(response)); });
}

/// What an error of the verification is to a client of the group coordinator.
ErrorCode asOfCoordinator(ErrorCode error) {
  return error == ErrorCode::NotEnoughReplicas ? ErrorCode::CoordinatorNotAvailable : error;
}

}  // namespace

void handleTxnOffsetCommit(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<TxnOffsetCommitRequest>(
      std::move(request), [&broker](network::RequestPtr held, const TxnOffsetCommitRequest& message) {
        const auto commit = std::make_shared<Commit>();
        // A copy owns what the frame held.
        commit->message = message;
        commit->request = std::move(held);
        const network::Request& asked = *commit->request;
        commit->request->releaseFrame();
        if (!broker.allows(asked.context(), AclOperation::Write, ResourceType::TransactionalId,
                           commit->message.transactionalId.view()))
          return commit->refuseAll(ErrorCode::TransactionalIdAuthorizationFailed);
        if (!broker.allows(asked.context(), AclOperation::Read, ResourceType::Group, commit->message.groupId.view()))
          return commit->refuseAll(ErrorCode::GroupAuthorizationFailed);
        const metadata::ImagePtr image = broker.image();
        std::erase_if(commit->message.topics, [&](auto& topic) {
          const bool byId = asked.apiVersion() >= kFirstWithTopicIds;
          const metadata::TopicImage* known =
              byId ? image->topics.find(topic.topicId) : image->topics.find(topic.name.view());
          if (known == nullptr) {
            commit->refuse(topic, byId ? ErrorCode::UnknownTopicId : ErrorCode::UnknownTopicOrPartition);
            return true;
          }
          topic.name = protocol::Text(known->name);
          topic.topicId = known->id;
          if (broker.allows(asked.context(), AclOperation::Read, ResourceType::Topic, topic.name.view())) return false;
          commit->refuse(topic, ErrorCode::TopicAuthorizationFailed);
          return true;
        });
        if (commit->message.topics.empty()) return commit->respond({});
        const auto index = broker.groups.groups().partitionFor(commit->message.groupId.view());
        if (!index) {
          broker.autoTopics.request("__consumer_offsets");
          return commit->refuseAll(ErrorCode::CoordinatorNotAvailable);
        }
        const TopicPartition name{"__consumer_offsets", *index};
        const auto partition = broker.replicas.find(name);
        const VerificationMode mode = modeOf(asked.apiVersion());
        const bool asks =
            mode == VerificationMode::Add || broker.config()->getBool("transaction.partition.verification.enable");
        if (!asks) return commitTo(broker, commit, std::nullopt);
        // Not left to the coordinator, which may be here by the time it is its turn.
        if (!partition || !partition->isLeader()) return commit->refuseAll(ErrorCode::NotCoordinator);
        const coordinator::ProducerIdAndEpoch producer{ProducerId(commit->message.producerId),
                                                       ProducerEpoch(commit->message.producerEpoch)};
        const auto guard = partition->log()->beginVerification(producer.id, producer.epoch, records::kNoSequence);
        if (!guard) return commitTo(broker, commit, log::kWasOpen);
        broker.transactions.verification().ask({.transactionalId = commit->message.transactionalId.str(),
                                                .producer = producer,
                                                .partitions = {name},
                                                .mode = mode},
                                               [&broker, commit, guard](const coordinator::PartitionErrors& errors) {
                                                 const ErrorCode error = errors.empty() ? ErrorCode::UnknownServerError
                                                                                        : errors.front().second;
                                                 if (error != ErrorCode::None)
                                                   return commit->refuseAll(asOfCoordinator(error));
                                                 commitTo(broker, commit, guard);
                                               });
      });
}

}  // namespace tidemark::broker
