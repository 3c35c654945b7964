package run.mulligan.businesshours;

import java.time.Clock;
import run.mulligan.plugin.Plugin;

/** Serves the policy. */
public final class Main {
    private Main() {}

    /** Answers a host until it goes away. */
    public static void main(String[] arguments) {
        BusinessHours policy = new BusinessHours(Clock.systemUTC());
        String version = Main.class.getPackage().getImplementationVersion();
        Plugin.of(policy::decide)
                .name("java-business-hours")
                .version(version == null ? "unpackaged" : version)
                .configSchema(Settings.SCHEMA)
                .configure(json -> policy.configure(Settings.parse(json)))
                .serve();
    }
}
