package run.mulligan.businesshours;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;

/** Starts the plugin, prints the handshake line and waits for the end. */
public final class Main {
    private static final String COOKIE = "4b3f6c1e-run-error";

    private static final String USAGE = """
            This program is a Mulligan recovery plugin; a Mulligan host starts it.
            Name it in mulligan.yaml, see README.md beside its sources.""";

    private Main() {}

    /** Runs the plugin until the host, or the way to it, goes. */
    public static void main(String[] arguments) {
        OutputStream handshake = takeStandardOutput();
        if (!COOKIE.equals(System.getenv("MULLIGAN_PLUGIN"))) {
            fail(USAGE);
        }
        LifeLine lifeLine = LifeLine.note();
        try {
            PluginServer server = PluginServer.start(System.getenv(), new BusinessHours(Clock.systemUTC()));
            print(handshake, server);
        } catch (Exception e) {
            fail("the plugin cannot serve: " + e + (e.getCause() == null ? "" : ": " + e.getCause()));
        }
        lifeLine.await();
        end();
    }

    /**
     * Ends the process at once, whatever is running. Hooks would only delay it: nothing here outlives the
     * process but the socket, which the host removes.
     */
    static void end() {
        Runtime.getRuntime().halt(0);
    }

    /** Keeps standard output for the handshake line: what is printed otherwise goes to standard error. */
    private static OutputStream takeStandardOutput() {
        System.setOut(System.err);
        return new FileOutputStream(FileDescriptor.out);
    }

    private static void print(OutputStream out, PluginServer server) throws IOException {
        String line = String.join("|", "1", "1", "unix", server.socket().toString(), "grpc", server.certificate());
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static void fail(String why) {
        System.err.println(why);
        System.exit(1);
    }
}
