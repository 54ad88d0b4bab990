import java.util.ArrayList;
import java.util.List;

/**
 * How often a call is made after its first time: until {@code warm} ms have passed since the first began,
 * untimed; then for {@code measure} ms, timed, and at least three times unless these take ten seconds. No
 * calls if {@code measure} is 0.
 */
record OfflineSchedule(double warm, double measure) {
    private static final int MOST_CALLS = 1000;

    double[] run(long start, Runnable call) {
        List<Double> times = new ArrayList<>();
        if (measure == 0) {
            return new double[0];
        }
        while (since(start) < warm) {
            call.run();
        }
        long measuring = System.nanoTime();
        while (times.size() < MOST_CALLS
                && (since(measuring) < measure || (times.size() < 3 && since(measuring) < 10_000))) {
            long began = System.nanoTime();
            call.run();
            times.add(since(began));
        }
        return times.stream().mapToDouble(Double::doubleValue).toArray();
    }

    static double since(long start) {
        return (System.nanoTime() - start) / 1e6;
    }
}
