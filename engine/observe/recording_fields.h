#pragma once

#include "observe/snapshot.h"

// Which members of a snapshot a recording keeps, and under which names: `fieldsOf(visit, value)` calls visit(name,
// member) for each. Batches and index entries are not among them, since the events tell them.
namespace tidemark::observe {

/// Whether one of a list is worth its line: of the cleaner's logs most never held a record.
inline bool isKept(const CleanerSnapshot& log) noexcept {
  return log.logStart != log.logEnd;
}

template <class T, class Of>
concept Either = std::is_same_v<std::remove_const_t<T>, Of>;

template <class Visit, Either<platform::Endpoint> T>
void fieldsOf(Visit& visit, T& v) {
  visit("host", v.host);
  visit("port", v.port);
}

template <class Visit, Either<FailedDirectorySnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("path", v.path);
  visit("reason", v.reason);
}

template <class Visit, Either<BrokerSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("state", v.state);
  // The inverse, as a default is not written: recordings that know no such nodes stay as they are.
  bool controllerOnly = !v.isBroker;
  visit("controllerOnly", controllerOnly);
  bool brokerOnly = !v.isController;
  visit("brokerOnly", brokerOnly);
  if constexpr (!std::is_const_v<T>) {
    v.isBroker = !controllerOnly;
    v.isController = !brokerOnly;
  }
  visit("diedOf", v.diedOf);
  visit("listener", v.listener);
  visit("controller", v.controller);
  visit("epoch", v.epoch);
  visit("inState", v.inState);
  visit("networkThreads", v.networkThreads);
  visit("handlerThreads", v.handlerThreads);
  visit("fetcherThreads", v.fetcherThreads);
  visit("leaderCount", v.leaderCount);
  visit("replicaCount", v.replicaCount);
  visit("diskBytes", v.diskBytes);
  visit("segmentCount", v.segmentCount);
  visit("failedDirectories", v.failedDirectories);
  visit("producedBytes", v.producedBytes);
  visit("fetchedBytes", v.fetchedBytes);
  visit("sinceHeartbeat", v.sinceHeartbeat);
  visit("fencedIn", v.fencedIn);
}

template <class Visit, Either<VoterSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("logEnd", v.logEnd);
  visit("sinceFetch", v.sinceFetch);
  visit("sinceCaughtUp", v.sinceCaughtUp);
  visit("observer", v.observer);
}

template <class Visit, Either<QuorumSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("leader", v.leader);
  visit("epoch", v.epoch);
  visit("highWatermark", v.highWatermark);
  visit("voters", v.voters);
}

template <class Visit, Either<SegmentSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("base", v.baseOffset);
  visit("size", v.sizeInBytes);
}

template <class Visit, Either<ReplicaSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("broker", v.broker);
  visit("leader", v.leader);
  visit("inSync", v.inSync);
  visit("eligible", v.eligible);
  visit("online", v.online);
  visit("offlineReason", v.offlineReason);
  visit("epoch", v.epoch);
  visit("logStart", v.logStart);
  visit("logEnd", v.logEnd);
  visit("lostTo", v.lostTo);
  visit("highWatermark", v.highWatermark);
  visit("lastStable", v.lastStable);
  visit("sinceCaughtUp", v.sinceCaughtUp);
  visit("fetchOffset", v.fetchOffset);
  visit("sinceFetch", v.sinceFetch);
  visit("sizeInBytes", v.sizeInBytes);
  visit("segmentCount", v.segmentCount);
  visit("segments", v.segments);
}

template <class Visit, Either<OpenTransactionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("producer", v.producer);
  visit("epoch", v.epoch);
  visit("first", v.first);
  visit("lastWrite", v.lastWrite);
}

template <class Visit, Either<PartitionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("index", v.index);
  visit("leader", v.leader);
  visit("leaderEpoch", v.leaderEpoch);
  visit("partitionEpoch", v.partitionEpoch);
  visit("replicas", v.replicas);
  visit("isr", v.isr);
  visit("highWatermark", v.highWatermark);
  visit("lastStable", v.lastStable);
  visit("openTransactions", v.openTransactions);
  visit("logStart", v.logStart);
  visit("logEnd", v.logEnd);
  visit("copies", v.copies);
}

template <class Visit, Either<TopicSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("name", v.name);
  visit("internal", v.internal);
  visit("compacted", v.compacted);
  visit("replicationFactor", v.replicationFactor);
  visit("minInSync", v.minInSync);
  visit("partitions", v.partitions);
}

template <class Visit, Either<ParkedSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("broker", v.broker);
  visit("kind", v.kind);
  visit("client", v.client);
  visit("correlation", v.correlation);
  visit("topic", v.partition.topic);
  visit("partition", v.partition.partition);
  visit("needs", v.needs);
  visit("minBytes", v.minBytes);
  visit("follower", v.follower);
  visit("timeout", v.timeout);
  visit("left", v.left);
}

template <class Visit, Either<ConnectionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("broker", v.broker);
  visit("listener", v.listener);
  visit("client", v.client);
  visit("softwareName", v.softwareName);
  visit("softwareVersion", v.softwareVersion);
  visit("peer", v.peer);
  visit("own", v.own);
}

template <class Visit, Either<ReaderSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("client", v.client);
  visit("group", v.group);
  visit("softwareName", v.softwareName);
  visit("topic", v.partition.topic);
  visit("partition", v.partition.partition);
  visit("fetchOffset", v.fetchOffset);
  visit("sinceFetch", v.sinceFetch);
  visit("external", v.external);
}

template <class Visit, Either<TopicPartition> T>
void fieldsOf(Visit& visit, T& v) {
  visit("topic", v.topic);
  visit("partition", v.partition);
}

template <class Visit, Either<GroupTaskSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("subtopology", v.subtopology);
  visit("partition", v.partition);
  visit("role", v.role);
}

template <class Visit, Either<GroupSubtopologySnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("sources", v.sources);
  visit("repartitionSources", v.repartitionSources);
  visit("changelogs", v.changelogs);
  visit("repartitionSinks", v.repartitionSinks);
}

template <class Visit, Either<GroupMemberSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("memberId", v.memberId);
  visit("instanceId", v.instanceId);
  visit("clientId", v.clientId);
  visit("host", v.host);
  visit("software", v.software);
  visit("rack", v.rack);
  visit("state", v.state);
  visit("classic", v.classic);
  visit("leader", v.leader);
  visit("epoch", v.epoch);
  visit("subscribedTopics", v.subscribedTopics);
  visit("subscribedRegex", v.subscribedRegex);
  visit("assigned", v.assigned);
  visit("target", v.target);
  visit("revoking", v.revoking);
  visit("tasks", v.tasks);
  visit("targetTasks", v.targetTasks);
  visit("revokingTasks", v.revokingTasks);
  visit("processId", v.processId);
  visit("silent", v.silent);
  visit("sessionTimeout", v.sessionTimeout);
}

template <class Visit, Either<GroupPartitionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("partition", v.partition);
  visit("committed", v.committed);
  visit("committedAt", v.committedAt);
  visit("highWatermark", v.highWatermark);
  visit("firstPending", v.firstPending);
  visit("metadata", v.metadata);
}

template <class Visit, Either<ShareBatchSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("first", v.first);
  visit("last", v.last);
  visit("state", v.state);
  visit("deliveryCount", v.deliveryCount);
  visit("member", v.member);
  visit("lockLeft", v.lockLeft);
}

template <class Visit, Either<SharePartitionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("partition", v.partition);
  visit("broker", v.broker);
  visit("start", v.start);
  visit("end", v.end);
  visit("inFlight", v.inFlight);
  visit("batches", v.batches);
}

template <class Visit, Either<GroupSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("kind", v.kind);
  visit("state", v.state);
  visit("protocolType", v.protocolType);
  visit("protocol", v.protocol);
  visit("generation", v.generation);
  visit("assignmentEpoch", v.assignmentEpoch);
  visit("subtopologies", v.subtopologies);
  visit("problem", v.problem);
  visit("coordinator", v.coordinator);
  visit("coordinatorPartition", v.coordinatorPartition);
  visit("members", v.members);
  visit("partitions", v.partitions);
  visit("shared", v.shared);
}

template <class Visit, Either<TransactionSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("state", v.state);
  visit("producer", v.producer);
  visit("epoch", v.epoch);
  visit("timeout", v.timeout);
  visit("start", v.start);
  visit("lastUpdate", v.lastUpdate);
  visit("version", v.version);
  visit("partitions", v.partitions);
  visit("pendingMarkers", v.pendingMarkers);
  visit("coordinatorPartition", v.coordinatorPartition);
  visit("coordinator", v.coordinator);
}

template <class Visit, Either<faults::End> T>
void fieldsOf(Visit& visit, T& v) {
  visit("node", v.node);
  visit("port", v.port);
  visit("client", v.client);
}

template <class Visit, Either<faults::LinkRule> T>
void fieldsOf(Visit& visit, T& v) {
  visit("from", v.from);
  visit("to", v.to);
}

template <class Visit, Either<FaultSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("fault", v.fault);
  visit("broker", v.broker);
  visit("links", v.links);
  visit("waits", v.waits);
  visit("since", v.since);
  visit("left", v.left);
  visit("fired", v.fired);
  visit("held", v.held);
  visit("lasting", v.lasting);
  visit("unmatched", v.unmatched);
}

template <class Visit, Either<faults::Unmatched> T>
void fieldsOf(Visit& visit, T& v) {
  visit("what", v.what);
  visit("name", v.name);
  visit("node", v.node);
}

template <class Visit, Either<faults::Lasting> T>
void fieldsOf(Visit& visit, T& v) {
  visit("flippedByte", v.flippedByte);
  visit("paths", v.paths);
  visit("morePaths", v.morePaths);
  visit("lostBytes", v.lostBytes);
  visit("lostInAll", v.lostInAll);
  visit("wall", v.wall);
  visit("monotonic", v.monotonic);
}

template <class Visit, Either<FaultOverSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("id", v.id);
  visit("fault", v.fault);
  visit("broker", v.broker);
  visit("ending", v.ending);
  visit("reason", v.reason);
  visit("setAt", v.setAt);
  visit("endedAt", v.endedAt);
  visit("fired", v.fired);
  visit("lasting", v.lasting);
  visit("unmatched", v.unmatched);
}

template <class Visit, Either<CleanerPassSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("startedAt", v.startedAt);
  visit("took", v.took);
  visit("throttled", v.throttled);
  visit("firstDirty", v.firstDirty);
  visit("endOffset", v.endOffset);
  visit("keys", v.keys);
  visit("mapSlots", v.mapSlots);
  visit("recordsRead", v.recordsRead);
  visit("recordsKept", v.recordsKept);
  visit("tombstonesKept", v.tombstonesKept);
  visit("tombstonesDropped", v.tombstonesDropped);
  visit("markersDropped", v.markersDropped);
  visit("recordsWithoutKey", v.recordsWithoutKey);
  visit("bytesBefore", v.bytesBefore);
  visit("bytesAfter", v.bytesAfter);
  visit("segmentsBefore", v.segmentsBefore);
  visit("segmentsAfter", v.segmentsAfter);
  visit("earliestHorizon", v.earliestHorizon);
}

template <class Visit, Either<CleanerSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("broker", v.broker);
  visit("partition", v.partition);
  visit("logStart", v.logStart);
  visit("firstDirty", v.firstDirty);
  visit("firstUncleanable", v.firstUncleanable);
  visit("logEnd", v.logEnd);
  visit("cleanBytes", v.cleanBytes);
  visit("dirtyBytes", v.dirtyBytes);
  visit("uncleanableBytes", v.uncleanableBytes);
  visit("dirtyRatio", v.dirtyRatio);
  visit("minDirtyRatio", v.minDirtyRatio);
  visit("overdue", v.overdue);
  visit("running", v.running);
  visit("passes", v.passes);
  visit("lastPass", v.lastPass);
  visit("deleteRetention", v.deleteRetention);
  visit("lookAgainAt", v.lookAgainAt);
  visit("uncleanableReason", v.uncleanableReason);
}

template <class Visit, Either<Setting> T>
void fieldsOf(Visit& visit, T& v) {
  visit("key", v.key);
  visit("value", v.value);
}

template <class Visit, Either<ClusterSnapshot> T>
void fieldsOf(Visit& visit, T& v) {
  visit("version", v.version);
  visit("clusterId", v.clusterId);
  visit("at", v.at);
  visit("wall", v.wall);
  visit("bootstrap", v.bootstrap);
  visit("dataFolder", v.dataFolder);
  visit("settings", v.settings);
  visit("brokers", v.brokers);
  visit("quorum", v.quorum);
  visit("topics", v.topics);
  visit("parked", v.parked);
  visit("connections", v.connections);
  visit("readers", v.readers);
  visit("groups", v.groups);
  visit("transactions", v.transactions);
  visit("faults", v.faults);
  visit("faultsOver", v.faultsOver);
  visit("cleaners", v.cleaners);
  visit("lostEvents", v.lostEvents);
}

}  // namespace tidemark::observe
