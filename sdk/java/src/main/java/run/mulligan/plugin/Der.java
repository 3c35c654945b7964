package run.mulligan.plugin;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Writes the values of X.690's distinguished encoding that a certificate is made of. */
final class Der {
    private static final DateTimeFormatter UTC_TIME =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private Der() {}

    static byte[] sequence(byte[]... values) {
        return value(0x30, values);
    }

    static byte[] set(byte[]... values) {
        return value(0x31, values);
    }

    /** Wraps values in an explicit context tag. */
    static byte[] tagged(int tag, byte[]... values) {
        return value(0xa0 | tag, values);
    }

    static byte[] integer(BigInteger number) {
        return value(0x02, number.toByteArray());
    }

    /** Returns a bit string of whole bytes. */
    static byte[] bits(byte[] bytes) {
        return value(0x03, new byte[1], bytes);
    }

    static byte[] octets(byte[] bytes) {
        return value(0x04, bytes);
    }

    static byte[] text(String text) {
        return value(0x0c, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a UTCTime, which reaches until 2049. */
    static byte[] time(Instant time) {
        return value(0x17, UTC_TIME.format(time).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns an object identifier. */
    static byte[] object(int first, int second, int... rest) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(40 * first + second);
        for (int number : rest) {
            for (int shift = 28; shift > 0; shift -= 7) {
                if (number >>> shift != 0) {
                    out.write(0x80 | number >>> shift & 0x7f);
                }
            }
            out.write(number & 0x7f);
        }
        return value(0x06, out.toByteArray());
    }

    /** Returns contents, which may have up to 65535 bytes, with their tag and length. */
    static byte[] value(int tag, byte[]... contents) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] content : contents) {
            body.writeBytes(content);
        }
        int length = body.size();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (length > 255) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length > 127) {
            out.write(0x81);
        }
        out.write(length);
        out.writeBytes(body.toByteArray());
        return out.toByteArray();
    }
}
