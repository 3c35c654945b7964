package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class WireTest {
    @Test
    void anErrorIsItsText() {
        assertEquals("no such region", Wire.message(new IllegalStateException("no such region")));
        assertEquals("NullPointerException", Wire.message(new NullPointerException()));
    }

    @Test
    void aLongErrorIsCutBetweenLetters() {
        String kept = Wire.message(new IllegalStateException("x" + "😀".repeat(1000)));
        assertEquals(1 + 4 * 511, kept.getBytes(StandardCharsets.UTF_8).length);
        assertEquals("x" + "😀".repeat(511), kept);
    }

    @Test
    void aHalfOfALetterIsNoError() {
        assertEquals("\ud83d", Wire.message(new IllegalStateException("\ud83d")));
    }
}
