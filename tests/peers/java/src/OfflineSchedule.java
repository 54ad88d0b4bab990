import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * How often a call is made after its first time: until {@code warm} ms have passed since the first began,
 * untimed; then for {@code measure} ms, timed, and at least three times unless these take five seconds. No
 * calls if {@code measure} is 0.
 */
record OfflineSchedule(double warm, double measure) {
    private static final int MOST_CALLS = 1000;
    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /** Wall times, and the mean CPU time that all threads together took meanwhile. */
    record Times(List<Double> warm, double cpu) {}

    Times run(long start, Runnable call) {
        List<Double> times = new ArrayList<>();
        if (measure == 0) {
            return new Times(times, 0);
        }
        while (since(start) < warm) {
            call.run();
        }
        long measuring = System.nanoTime();
        long cpu = PROCESS.getProcessCpuTime();
        while (times.size() < MOST_CALLS
                && (since(measuring) < measure || (times.size() < 3 && since(measuring) < 5_000))) {
            long began = System.nanoTime();
            call.run();
            times.add(since(began));
        }
        return new Times(times, (PROCESS.getProcessCpuTime() - cpu) / 1e6 / times.size());
    }

    static double since(long start) {
        return (System.nanoTime() - start) / 1e6;
    }
}
