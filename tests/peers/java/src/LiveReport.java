import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** What a live member says, as the test reads it. */
final class LiveReport {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Whether this member has computed an assignment since it was last given one. */
    private static boolean leads;

    private LiveReport() {}

    static synchronized void say(Object what) {
        try {
            System.out.println(JSON.writeValueAsString(what));
        } catch (JsonProcessingException error) {
            throw new IllegalStateException(error);
        }
    }

    static synchronized void led(Map<String, Object> claims) {
        leads = true;
        say(Map.of("Led", Map.of("claims", claims)));
    }

    static synchronized void assigned(
            int generation, String memberId, Set<String> topics, Collection<TopicPartition> partitions) {
        say(Map.of(
                "Assigned",
                Map.of(
                        "generation", generation,
                        "member_id", memberId,
                        "subscription", topics,
                        "partitions", listed(partitions),
                        "leader", leads)));
        leads = false;
    }

    static void read(ConsumerRecord<?, ?> record, int generation) {
        say(Map.of(
                "Read",
                Map.of(
                        "topic", record.topic(),
                        "partition", record.partition(),
                        "offset", record.offset(),
                        "generation", generation)));
    }

    static void failed(Exception error) {
        say(Map.of("Failed", error.toString()));
    }

    static List<List<Object>> listed(Collection<TopicPartition> partitions) {
        return partitions.stream().map(of -> List.<Object>of(of.topic(), of.partition())).toList();
    }
}
