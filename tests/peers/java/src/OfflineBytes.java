import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/**
 * Answers each line on standard input with Java's codec: a message with its bytes, bytes with their message.
 *
 * <p>tests/peers/src/bytes/message.rs describes the messages.
 */
final class OfflineBytes {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (asked.has("write")) {
                    answer.put("bytes", hex(write(asked.get("write"))));
                } else {
                    JsonNode read = asked.get("read");
                    String kind = read.get("kind").asText();
                    ObjectNode message = read(kind, bytes(read.get("bytes")));
                    answer.set("message", message.put("kind", kind));
                }
            } catch (RuntimeException error) {
                answer.removeAll();
                answer.put("cannot", error.toString());
            }
            System.out.println(answer);
        }
    }

    private static ByteBuffer write(JsonNode message) {
        String kind = message.get("kind").asText();
        short version = (short) message.get("version").asInt();
        List<TopicPartition> partitions = partitions(message.get("partitions"));
        switch (kind) {
            case "subscription":
                List<String> topics = new ArrayList<>();
                message.get("topics").forEach(topic -> topics.add(topic.asText()));
                Optional<String> rack = Optional.ofNullable(message.get("rack").textValue());
                Subscription subscription = new Subscription(
                        topics, bytes(message.get("user_data")), partitions, message.get("generation").asInt(), rack);
                return ConsumerProtocol.serializeSubscription(subscription, version);
            case "assignment":
                Assignment assignment = new Assignment(partitions, bytes(message.get("user_data")));
                return ConsumerProtocol.serializeAssignment(assignment, version);
            case "sticky":
                if (version != 1) {
                    throw new IllegalArgumentException("it writes version 1 alone");
                }
                return userData(new StickyAssignor(), partitions, message.get("generation").asInt());
            case "cooperative":
                return userData(new CooperativeStickyAssignor(), List.of(), message.get("generation").asInt());
            default:
                throw new IllegalArgumentException("it has no " + kind);
        }
    }

    @SuppressWarnings("removal") // Nothing else tells an assignor the generation of its assignment.
    private static ByteBuffer userData(ConsumerPartitionAssignor of, List<TopicPartition> partitions, int generation) {
        of.onAssignment(
                new Assignment(partitions), new ConsumerGroupMetadata("group", generation, "member", Optional.empty()));
        return of.subscriptionUserData(Set.of());
    }

    private static ObjectNode read(String kind, ByteBuffer bytes) {
        ObjectNode message = JSON.createObjectNode();
        switch (kind) {
            case "subscription":
                message.put("version", bytes.getShort(0));
                Subscription subscription = ConsumerProtocol.deserializeSubscription(bytes);
                subscription.topics().forEach(message.putArray("topics")::add);
                message.put("user_data", hex(subscription.userData()));
                message.set("partitions", listed(subscription.ownedPartitions()));
                message.put("generation", subscription.generationId().orElse(-1));
                return message.put("rack", subscription.rackId().orElse(null));
            case "assignment":
                message.put("version", bytes.getShort(0));
                Assignment assignment = ConsumerProtocol.deserializeAssignment(bytes);
                message.set("partitions", listed(assignment.partitions()));
                return message.put("user_data", hex(assignment.userData()));
            case "sticky":
                return new Sticky().read(bytes);
            case "cooperative":
                return new Cooperative().read(bytes);
            default:
                throw new IllegalArgumentException("it has no " + kind);
        }
    }

    /** What its assignors make of user data, which only they know. */
    private static final class Sticky extends StickyAssignor {
        ObjectNode read(ByteBuffer userData) {
            MemberData had = memberData(new Subscription(List.of(), userData));
            ObjectNode message = JSON.createObjectNode();
            message.set("partitions", listed(had.partitions));
            // Absent in version 0; and -1 where it understood nothing.
            message.put("version", had.generation.isPresent() ? 1 : 0);
            return message.put("generation", had.generation.orElse(null));
        }
    }

    private static final class Cooperative extends CooperativeStickyAssignor {
        ObjectNode read(ByteBuffer userData) {
            MemberData had = memberData(new Subscription(List.of(), userData));
            return JSON.createObjectNode().put("generation", had.generation.orElse(null));
        }
    }

    private static List<TopicPartition> partitions(JsonNode listed) {
        List<TopicPartition> partitions = new ArrayList<>();
        if (listed != null) {
            for (JsonNode topic : listed) {
                String name = topic.get(0).asText();
                topic.get(1).forEach(number -> partitions.add(new TopicPartition(name, number.asInt())));
            }
        }
        return partitions;
    }

    private static ArrayNode listed(List<TopicPartition> partitions) {
        Map<String, ArrayNode> byTopic = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            byTopic.computeIfAbsent(partition.topic(), topic -> JSON.createArrayNode()).add(partition.partition());
        }
        ArrayNode listed = JSON.createArrayNode();
        byTopic.forEach((topic, numbers) -> listed.addArray().add(topic).add(numbers));
        return listed;
    }

    private static ByteBuffer bytes(JsonNode hex) {
        return hex == null || hex.isNull() ? null : ByteBuffer.wrap(HexFormat.of().parseHex(hex.asText()));
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
