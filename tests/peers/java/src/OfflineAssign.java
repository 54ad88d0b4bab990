import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Assigns each group of a file: GROUPS ANSWERS WARM_MS MEASURE_MS sticky|cooperative-sticky.
 *
 * <p>What is timed is the assignor's call, from Subscription objects as read off the wire to lists of partitions.
 */
final class OfflineAssign {
    public static void main(String[] arguments) throws Exception {
        OfflineSchedule schedule =
                new OfflineSchedule(Double.parseDouble(arguments[2]), Double.parseDouble(arguments[3]));
        Path out = Path.of(arguments[1]);
        boolean cooperative = arguments[4].equals("cooperative-sticky");
        try (OfflineGroups groups = new OfflineGroups(Path.of(arguments[0]));
                DataOutputStream answers =
                        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(out), 1 << 20))) {
            while (groups.hasNext()) {
                assign(groups.next(), cooperative, schedule, answers);
            }
        }
    }

    private static void assign(
            OfflineGroups.Group group, boolean cooperative, OfflineSchedule schedule, DataOutputStream answers)
            throws IOException {
        ConsumerPartitionAssignor assignor = assignor(cooperative);
        Cluster cluster = cluster(group);
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (OfflineGroups.Member member : group.members()) {
            subscriptions.put(member.id(), subscription(group, member, cooperative));
        }
        GroupSubscription asked = new GroupSubscription(subscriptions);
        System.out.println("{\"loaded\":true}");

        GroupAssignment[] last = new GroupAssignment[1];
        Runnable call = () -> last[0] = assignor.assign(cluster, asked);
        long start = System.nanoTime();
        try {
            call.run();
        } catch (RuntimeException error) {
            answers.writeInt(-1);
            answers.flush();
            System.out.println("{\"error\":\"" + error.toString().replaceAll("[\"\\\\\\n]", " ") + "\"}");
            return;
        }
        double first = OfflineSchedule.since(start);
        answer(group, last[0], answers);
        System.out.println("{\"first_ms\":" + first + "}");
        OfflineSchedule.Times times = schedule.run(start, call);
        System.out.println(
                "{\"warm_ms\":" + times.warm() + ",\"cpu_ms\":" + times.cpu() + ",\"peak_kib\":" + peak() + "}");
    }

    static ConsumerPartitionAssignor assignor(boolean cooperative) {
        return cooperative ? new CooperativeStickyAssignor() : new StickyAssignor();
    }

    /** A broker for each rack, or one without a rack. */
    private static Cluster cluster(OfflineGroups.Group group) {
        List<Node> nodes = new ArrayList<>();
        for (String rack : group.racks()) {
            nodes.add(new Node(nodes.size(), "localhost", 9092, rack));
        }
        Node[] alone = {new Node(0, "localhost", 9092)};
        List<PartitionInfo> partitions = new ArrayList<>();
        for (OfflineGroups.Topic topic : group.topics()) {
            for (int number = 0; number < topic.partitions(); number += 1) {
                int[] racks = topic.racks()[number];
                Node[] replicas = alone;
                if (racks.length > 0) {
                    replicas = new Node[racks.length];
                    for (int replica = 0; replica < racks.length; replica += 1) {
                        replicas[replica] = nodes.get(racks[replica]);
                    }
                }
                partitions.add(new PartitionInfo(topic.name(), number, replicas[0], replicas, replicas));
            }
        }
        return new Cluster("cluster", nodes.isEmpty() ? List.of(alone) : nodes, partitions, Set.of(), Set.of());
    }

    /** What the leader reads of the bytes that the member's own assignor and client would write. */
    @SuppressWarnings("removal") // Nothing else tells an assignor the generation of its assignment.
    private static Subscription subscription(
            OfflineGroups.Group group, OfflineGroups.Member member, boolean cooperative) {
        List<String> topics = new ArrayList<>();
        for (int topic : member.subscription()) {
            topics.add(group.topics().get(topic).name());
        }
        List<TopicPartition> claims = new ArrayList<>();
        for (OfflineGroups.Claim claim : member.claims()) {
            String topic = group.topics().get(claim.topic()).name();
            for (int partition : claim.partitions()) {
                claims.add(new TopicPartition(topic, partition));
            }
        }
        ConsumerPartitionAssignor assignor = assignor(cooperative);
        if (member.claimed() >= 0) {
            assignor.onAssignment(
                    new Assignment(claims),
                    new ConsumerGroupMetadata("group", member.claimed(), member.id(), Optional.empty()));
        }
        ByteBuffer userData = assignor.subscriptionUserData(new HashSet<>(topics));
        Optional<String> rack = member.rack() < 0 ? Optional.empty() : Optional.of(group.racks().get(member.rack()));
        List<TopicPartition> owned = cooperative ? claims : List.of();
        Subscription said = new Subscription(topics, userData, owned, member.claimed(), rack);
        return ConsumerProtocol.deserializeSubscription(ConsumerProtocol.serializeSubscription(said));
    }

    private static void answer(OfflineGroups.Group group, GroupAssignment given, DataOutputStream answers)
            throws IOException {
        Map<String, Integer> topics = new HashMap<>();
        for (OfflineGroups.Topic topic : group.topics()) {
            topics.put(topic.name(), topics.size());
        }
        answers.writeInt(group.members().size());
        for (OfflineGroups.Member member : group.members()) {
            Map<Integer, List<Integer>> byTopic = new TreeMap<>();
            Assignment share = given.groupAssignment().get(member.id());
            for (TopicPartition partition : share == null ? List.<TopicPartition>of() : share.partitions()) {
                int topic = topics.get(partition.topic());
                byTopic.computeIfAbsent(topic, unused -> new ArrayList<>()).add(partition.partition());
            }
            answers.writeInt(byTopic.size());
            for (Map.Entry<Integer, List<Integer>> entry : byTopic.entrySet()) {
                answers.writeInt(entry.getKey());
                answers.writeInt(entry.getValue().size());
                for (int partition : entry.getValue()) {
                    answers.writeInt(partition);
                }
            }
        }
        answers.flush();
    }

    /** The most memory that this process had, in KiB. */
    private static String peak() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return line.replaceAll("\\D", "");
            }
        }
        throw new IOException("no VmHWM in /proc/self/status");
    }
}
