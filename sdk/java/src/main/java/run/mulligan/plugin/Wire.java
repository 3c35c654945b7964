package run.mulligan.plugin;

import com.google.protobuf.Timestamp;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** Turns what the wire has into what Java has, and back. */
final class Wire {
    /** What the message of an error may have, in bytes. */
    private static final int MAX_MESSAGE = 2 << 10;

    private static final BigInteger MILLION = BigInteger.valueOf(1_000_000);

    private Wire() {}

    /**
     * The one string of an enum: by its number, or else by the companion field.
     *
     * @param known the name on the wire if the number has one here, such as KIND_TIMEOUT
     */
    static String name(String prefix, int number, Optional<String> known, String companion) {
        if (number == 0) {
            return companion;
        }
        String name = known.map(all -> all.substring(prefix.length())).orElse(prefix + number);
        return name.toLowerCase(Locale.ROOT);
    }

    static Optional<Instant> time(boolean isSet, Timestamp at) {
        return isSet ? Optional.of(Instant.ofEpochSecond(at.getSeconds(), at.getNanos())) : Optional.empty();
    }

    static Timestamp timestamp(Instant at) {
        return Timestamp.newBuilder().setSeconds(at.getEpochSecond()).setNanos(at.getNano()).build();
    }

    /** A duration of which 0 means that there is none. */
    static Optional<Duration> positive(long ms) {
        return ms == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(ms));
    }

    /** What is left of something: empty without a limit, negative when it is used up. */
    static OptionalLong remaining(long left) {
        return left == 0 ? OptionalLong.empty() : OptionalLong.of(left);
    }

    /**
     * Milliseconds, rounded away from 0, so that a positive delay never becomes none.
     *
     * @throws IllegalArgumentException if they do not fit
     */
    static long milliseconds(Duration duration) {
        BigInteger nanoseconds = BigInteger.valueOf(duration.getSeconds())
                .multiply(BigInteger.valueOf(1_000_000_000))
                .add(BigInteger.valueOf(duration.getNano()));
        BigInteger[] parts = nanoseconds.divideAndRemainder(MILLION);
        BigInteger rounded = parts[0].add(BigInteger.valueOf(parts[1].signum()));
        if (rounded.bitLength() > 63) {
            throw new IllegalArgumentException("the delay is too long to be sent: " + duration);
        }
        return rounded.longValue();
    }

    /** The text of what was thrown as a host may be told it: what it says, or else what it is. */
    static String message(Throwable thrown) {
        String said = thrown.getMessage();
        String text = said == null || said.isEmpty() ? thrown.getClass().getSimpleName() : said;
        int end = 0;
        for (int bytes = 0; end < text.length(); ) {
            int letter = text.codePointAt(end);
            bytes += Character.toString(letter).getBytes(StandardCharsets.UTF_8).length;
            if (bytes > MAX_MESSAGE) {
                break;
            }
            end += Character.charCount(letter);
        }
        return text.substring(0, end);
    }
}
