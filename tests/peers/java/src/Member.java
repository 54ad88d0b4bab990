/** A live member; see the Rust side for what is said over standard input and output. */
public final class Member {
    private Member() {}

    public static void main(String[] arguments) {
        System.out.println("{}");
    }
}
