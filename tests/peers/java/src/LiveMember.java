import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer in a group. Its one argument says where it belongs, as JSON; what it sees goes to standard output, a JSON
 * value a line; "stop" on standard input makes it leave, and the end of standard input ends it at once.
 */
public final class LiveMember {
    private LiveMember() {}

    public static void main(String[] arguments) throws IOException {
        JsonNode place = new ObjectMapper().readTree(arguments[0]);
        AtomicBoolean stop = new AtomicBoolean();
        listen(stop);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(place))) {
            Set<String> topics = new TreeSet<>();
            place.get("topics").forEach(topic -> topics.add(topic.asText()));
            consumer.subscribe(topics, new Watch(consumer, topics));
            while (!stop.get()) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    LiveReport.read(record, consumer.groupMetadata().generationId());
                }
            }
        } catch (RuntimeException error) {
            LiveReport.failed(error);
            System.exit(1);
        }
    }

    private static Properties properties(JsonNode place) {
        Properties properties = new Properties();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, place.get("bootstrap_servers").asText());
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, place.get("group").asText());
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, place.get("name").asText());
        if (place.hasNonNull("instance_id")) {
            properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, place.get("instance_id").asText());
        }
        if (place.hasNonNull("rack")) {
            properties.put(ConsumerConfig.CLIENT_RACK_CONFIG, place.get("rack").asText());
        }
        List<Class<?>> assignors = new ArrayList<>();
        place.get("strategies").forEach(name -> assignors.add(assignor(name.asText())));
        properties.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, assignors);
        properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, place.get("session_timeout_ms").asInt());
        properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, place.get("heartbeat_interval_ms").asInt());
        properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, place.get("metadata_max_age_ms").asInt());
        properties.put(ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG, place.get("commit_interval_ms").asInt());
        // For so long it keeps a rebalance waiting while it cannot commit, as where a topic was deleted.
        properties.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 15_000);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        return properties;
    }

    private static Class<?> assignor(String name) {
        return switch (name) {
            case "sticky" -> LiveAssignors.Sticky.class;
            case "cooperative-sticky" -> LiveAssignors.CooperativeSticky.class;
            case "range" -> RangeAssignor.class;
            case "roundrobin" -> RoundRobinAssignor.class;
            default -> throw new IllegalArgumentException("no strategy " + name);
        };
    }

    private static void listen(AtomicBoolean stop) {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Thread listener = new Thread(() -> {
            try {
                for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                    stop.compareAndSet(false, line.equals("stop"));
                }
            } catch (IOException error) {
                LiveReport.failed(error);
            }
            Runtime.getRuntime().halt(1);
        });
        listener.setDaemon(true);
        listener.start();
    }

    /** Reports what the callbacks are handed. */
    private static final class Watch implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Set<String> topics;

        Watch(KafkaConsumer<byte[], byte[]> consumer, Set<String> topics) {
            this.consumer = consumer;
            this.topics = topics;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> added) {
            ConsumerGroupMetadata group = consumer.groupMetadata();
            LiveReport.assigned(group.generationId(), group.memberId(), topics, consumer.assignment());
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            LiveReport.say(Map.of("Revoked", LiveReport.listed(revoked)));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> lost) {
            LiveReport.say(Map.of("Lost", LiveReport.listed(lost)));
        }
    }
}
