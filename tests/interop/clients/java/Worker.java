import java.io.*;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** Does what it is told on standard input, and answers each line with "ok" or what went wrong, for tests that break brokers meanwhile. */
final class Worker {
    interface Action { void run(String[] words) throws Exception; }
    interface Action0 { void run() throws Exception; }

    public static void main(String[] args) throws Exception {
        Kit.bootstrap = args[0];
        Kit.brokers = Integer.parseInt(args[1]);
        Action action = switch (args[2]) {
            case "streams" -> counter(args[3], args[4], args[5]);
            case "transactions" -> transactor(args[3], args[4]);
            case "state" -> Coordinated.actions();
            default -> throw new IllegalArgumentException(args[2]);
        };
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String answer = "ok";
            try { action.run(line.split(" ")); } catch (Throwable t) { answer = Kit.root(t).toString().replaceAll("\\s+", " "); }
            System.out.println(answer);
        }
        System.out.flush();
        if (ending != null) ending.run();
        Runtime.getRuntime().halt(0);
    }

    static Runnable ending;

    /** Counts records by key, each exactly once, with the streams protocol. */
    static Action counter(String app, String input, String output) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(input, Consumed.with(Serdes.String(), Serdes.String()))
               .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
               .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts")).withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
               .toStream().mapValues(String::valueOf).to(output, Produced.with(Serdes.String(), Serdes.String()));
        Properties config = new Properties();
        config.putAll(Kit.map("bootstrap.servers", Kit.bootstrap, "application.id", app, "group.protocol", "streams",
                "processing.guarantee", "exactly_once_v2", "commit.interval.ms", 200, "statestore.cache.max.bytes", 0, "num.stream.threads", 1,
                "auto.offset.reset", "earliest", "replication.factor", (int) Kit.replicas(),
                "state.dir", java.nio.file.Files.createTempDirectory("kit-streams").toString()));
        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        ending = () -> streams.close(java.time.Duration.ofSeconds(10));
        return words -> streams.start();
    }

    /** One transactional producer: init, begin, send TOPIC FIRST END, offsets TOPIC N, commit, abort. */
    static Action transactor(String id, String group) {
        KafkaProducer<byte[], byte[]> p = Kit.producer("transactional.id", id, "max.block.ms", 60_000);
        return words -> {
            switch (words[0]) {
                case "init" -> p.initTransactions();
                case "begin" -> p.beginTransaction();
                case "send" -> {
                    List<java.util.concurrent.Future<RecordMetadata>> sent = new ArrayList<>();
                    for (int i = Integer.parseInt(words[2]); i < Integer.parseInt(words[3]); i++)
                        sent.add(p.send(new ProducerRecord<>(words[1], i % 3, null, Kit.bytes("" + i))));
                    for (var f : sent) f.get();
                }
                case "offsets" -> p.sendOffsetsToTransaction(Map.of(new TopicPartition(words[1], 0), new OffsetAndMetadata(Long.parseLong(words[2]))),
                        new ConsumerGroupMetadata(group));
                case "commit" -> p.commitTransaction();
                case "abort" -> p.abortTransaction();
                default -> throw new IllegalArgumentException("unknown: " + words[0]);
            }
        };
    }
}
