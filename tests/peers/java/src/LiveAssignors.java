import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.MemberData;
import org.apache.kafka.common.Cluster;

/** Java's own assignors, which also tell what they take the members to have had. */
public final class LiveAssignors {
    private LiveAssignors() {}

    public static final class Sticky extends StickyAssignor {
        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
            LiveReport.led(claims(group, this::memberData));
            return super.assign(cluster, group);
        }
    }

    public static final class CooperativeSticky extends CooperativeStickyAssignor {
        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
            LiveReport.led(claims(group, this::memberData));
            return super.assign(cluster, group);
        }
    }

    private static Map<String, Object> claims(
            ConsumerPartitionAssignor.GroupSubscription group,
            Function<ConsumerPartitionAssignor.Subscription, MemberData> read) {
        Map<String, Object> claims = new TreeMap<>();
        group.groupSubscription().forEach((member, subscription) -> {
            MemberData had = read.apply(untouched(subscription));
            claims.put(
                    member,
                    Map.of(
                            "generation", had.generation.orElse(-1),
                            "partitions", LiveReport.listed(had.partitions)));
        });
        return claims;
    }

    /** With user data of its own to read from: reading moves the buffer's position. */
    private static ConsumerPartitionAssignor.Subscription untouched(ConsumerPartitionAssignor.Subscription of) {
        ByteBuffer userData = of.userData() == null ? null : of.userData().duplicate();
        return new ConsumerPartitionAssignor.Subscription(
                List.copyOf(of.topics()),
                userData,
                of.ownedPartitions(),
                of.generationId().orElse(StickyAssignor.DEFAULT_GENERATION),
                of.rackId());
    }
}
