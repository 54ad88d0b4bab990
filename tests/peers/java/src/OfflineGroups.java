import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The groups to assign, as tests/peers/src/groups.rs writes them. */
final class OfflineGroups implements AutoCloseable {
    record Topic(String name, int partitions, int[][] racks) {}

    record Claim(int topic, int[] partitions) {}

    record Member(String id, List<Integer> subscription, int rack, int claimed, List<Claim> claims) {}

    record Group(int generation, List<String> racks, List<Topic> topics, List<Member> members) {}

    private final DataInputStream input;
    private int left;

    OfflineGroups(Path path) throws IOException {
        input = new DataInputStream(new BufferedInputStream(Files.newInputStream(path), 1 << 20));
        byte[] magic = input.readNBytes(8);
        if (!new String(magic).equals("KSGROUPS")) {
            throw new IOException(path + " is no file of groups");
        }
        left = input.readInt();
    }

    boolean hasNext() {
        return left > 0;
    }

    Group next() throws IOException {
        left -= 1;
        int generation = input.readInt();
        List<String> racks = list(this::string);
        List<Topic> topics = list(this::topic);
        List<List<Integer>> subscriptions = list(() -> list(input::readInt));
        return new Group(generation, racks, topics, list(() -> member(subscriptions)));
    }

    private Topic topic() throws IOException {
        String name = string();
        int[][] racks = new int[input.readInt()][input.readInt()];
        for (int[] ofPartition : racks) {
            for (int replica = 0; replica < ofPartition.length; replica += 1) {
                ofPartition[replica] = input.readInt();
            }
        }
        return new Topic(name, racks.length, racks);
    }

    private Member member(List<List<Integer>> subscriptions) throws IOException {
        String id = string();
        List<Integer> subscription = subscriptions.get(input.readInt());
        return new Member(id, subscription, input.readInt(), input.readInt(), list(this::claim));
    }

    private Claim claim() throws IOException {
        int topic = input.readInt();
        int[] partitions = new int[input.readInt()];
        for (int index = 0; index < partitions.length; index += 1) {
            partitions[index] = input.readInt();
        }
        return new Claim(topic, partitions);
    }

    private String string() throws IOException {
        return new String(input.readNBytes(input.readUnsignedShort()), "UTF-8");
    }

    private interface Reading<T> {
        T read() throws IOException;
    }

    private <T> List<T> list(Reading<T> item) throws IOException {
        int count = input.readInt();
        List<T> items = new ArrayList<>(count);
        for (int index = 0; index < count; index += 1) {
            items.add(item.read());
        }
        return items;
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
