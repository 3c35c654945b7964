package run.mulligan.plugin;

/**
 * What a million tokens of a model cost, in millionths of a dollar.
 *
 * @param input of input
 * @param output of output
 * @param cacheRead of input that is read from a cache; 0 = as other input
 * @param cacheWrite of input that is written to a cache; 0 = as other input
 */
public record Price(long input, long output, long cacheRead, long cacheWrite) {
    static Price from(mulligan.v1.Decision.Price m) {
        return new Price(m.getInput(), m.getOutput(), m.getCacheRead(), m.getCacheWrite());
    }

    mulligan.v1.Decision.Price toWire() {
        return mulligan.v1.Decision.Price.newBuilder()
                .setInput(input)
                .setOutput(output)
                .setCacheRead(cacheRead)
                .setCacheWrite(cacheWrite)
                .build();
    }
}
