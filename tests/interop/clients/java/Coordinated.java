import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;

/** Everything that coordinators keep: made by clients that stay, and looked at as an administrator does. */
final class Coordinated {
    static final String CONSUMERS = "members-848", SHARERS = "members-share", STREAMS = "members-streams", OPEN = "still-open", DONE = "done";

    /** occupy TOPIC: a member of each kind of group, an open and a finished transaction. look: prints it all, line by line. */
    static Worker.Action actions() {
        Kit.admin = Admin.create(Kit.map("bootstrap.servers", Kit.bootstrap, "request.timeout.ms", 20_000, "default.api.timeout.ms", 30_000));
        return words -> {
            switch (words[0]) {
                case "occupy" -> occupy(words[1]);
                case "look" -> look();
                default -> throw new IllegalArgumentException("unknown: " + words[0]);
            }
        };
    }

    private static void occupy(String topic) throws Exception {
        Administration.alter(new ConfigResource(ConfigResource.Type.GROUP, SHARERS), AlterConfigOp.OpType.SET, "share.auto.offset.reset", "earliest");
        var done = Kit.producer("transactional.id", DONE);
        done.initTransactions();
        for (int i = 0; i < 3; i++) {
            done.beginTransaction();
            done.send(new ProducerRecord<>(topic, 0, null, Kit.bytes("done" + i))).get();
            done.commitTransaction();
        }
        var open = Kit.producer("transactional.id", OPEN, "transaction.timeout.ms", 800_000);
        open.initTransactions();
        open.beginTransaction();
        open.send(new ProducerRecord<>(topic, 0, null, Kit.bytes("open"))).get();
        open.sendOffsetsToTransaction(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(2)), new ConsumerGroupMetadata("by-transaction"));
        staying("consumer", () -> {
            var c = Kit.consumer("group.id", CONSUMERS, "group.protocol", "consumer", "client.id", "one");
            c.subscribe(List.of(topic));
            while (c.assignment().isEmpty()) c.poll(Duration.ofMillis(100));
            c.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(3, "noted")));
            return () -> c.poll(Duration.ofMillis(100));
        });
        staying("share", () -> {
            var c = Sharing.sharer(SHARERS, "client.id", "two");
            c.subscribe(List.of(topic));
            int taken = 0;
            while (taken < 3)
                for (var r : c.poll(Duration.ofMillis(200))) c.acknowledge(r, taken++ < 2 ? AcknowledgeType.ACCEPT : AcknowledgeType.RELEASE);
            c.commitSync();
            return () -> { c.poll(Duration.ofMillis(100)).forEach(r -> c.acknowledge(r, AcknowledgeType.RELEASE)); };
        });
        Worker.counter(STREAMS, topic, topic + "-counts").run(null);
        Kit.await("the streams group is stable", 60, () -> Kit.admin.describeStreamsGroups(List.of(STREAMS)).all().get().get(STREAMS).groupState() == GroupState.STABLE);
    }

    interface Beginning { Worker.Action0 begin() throws Exception; }

    /** Begins something in a thread of its own and goes on with it there; returns when it has begun. */
    private static void staying(String name, Beginning beginning) throws Exception {
        var begun = new java.util.concurrent.CompletableFuture<Void>();
        Thread thread = new Thread(() -> {
            try {
                var goOn = beginning.begin();
                begun.complete(null);
                while (true) goOn.run();
            } catch (Throwable t) { begun.completeExceptionally(t); }
        }, name);
        thread.setDaemon(true);
        thread.start();
        begun.get(60, java.util.concurrent.TimeUnit.SECONDS);
    }

    private static void look() throws Exception {
        List<String> lines = new ArrayList<>();
        for (GroupListing g : Kit.admin.listGroups().all().get())
            lines.add("group " + g.groupId() + " " + g.type().map(Object::toString).orElse("?") + " " + g.protocol() + " " + g.groupState().map(Object::toString).orElse("?"));
        ConsumerGroupDescription c = Kit.admin.describeConsumerGroups(List.of(CONSUMERS)).all().get().get(CONSUMERS);
        lines.add("consumer " + c.groupState() + " " + c.partitionAssignor() + " epoch " + c.groupEpoch() + " target " + c.targetAssignmentEpoch());
        for (MemberDescription m : c.members())
            lines.add("consumer member " + m.consumerId() + " " + m.clientId() + " " + m.host() + " has " + sorted(m.assignment().topicPartitions())
                    + " to have " + m.targetAssignment().map(a -> sorted(a.topicPartitions())).orElse("?") + " epoch " + m.memberEpoch());
        ShareGroupDescription s = Kit.admin.describeShareGroups(List.of(SHARERS)).all().get().get(SHARERS);
        lines.add("share " + s.groupState() + " epoch " + s.groupEpoch() + " target " + s.targetAssignmentEpoch());
        for (ShareMemberDescription m : s.members())
            lines.add("share member " + m.consumerId() + " " + m.clientId() + " has " + sorted(m.assignment().topicPartitions()) + " epoch " + m.memberEpoch());
        lines.add("share offsets " + new TreeMap<>(Kit.admin.listShareGroupOffsets(Map.of(SHARERS, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(SHARERS).get()
                .entrySet().stream().collect(java.util.stream.Collectors.toMap(e -> e.getKey().toString(), e -> e.getValue().startOffset()))));
        StreamsGroupDescription t = Kit.admin.describeStreamsGroups(List.of(STREAMS)).all().get().get(STREAMS);
        lines.add("streams " + t.groupState() + " epoch " + t.groupEpoch() + " target " + t.targetAssignmentEpoch() + " topology " + t.topologyEpoch() + " of "
                + t.subtopologies().toString().replaceAll("partitions=\\d+", ""));     // a broker that has just started does not know how many
        for (StreamsGroupMemberDescription m : t.members())
            lines.add("streams member " + m.memberId() + " " + m.processId() + " epoch " + m.memberEpoch() + " has " + m.assignment() + " to have " + m.targetAssignment());
        for (String group : List.of(CONSUMERS, "by-transaction"))
            lines.add("offsets of " + group + " " + Kit.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get());
        for (String id : List.of(OPEN, DONE)) {
            TransactionDescription d = Kit.admin.describeTransactions(List.of(id)).all().get().get(id);
            lines.add("transaction " + id + " " + d.state() + " " + d.producerId() + " " + d.producerEpoch() + " " + d.transactionTimeoutMs() + " "
                    + d.transactionStartTimeMs() + " " + sorted(d.topicPartitions()));
        }
        Collections.sort(lines);
        lines.forEach(System.out::println);
    }

    private static String sorted(Collection<TopicPartition> partitions) { return new TreeSet<>(partitions.stream().map(TopicPartition::toString).toList()).toString(); }
}
