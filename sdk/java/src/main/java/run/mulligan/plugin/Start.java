package run.mulligan.plugin;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** How a plugin starts: what its host says in the environment, and the handshake line. */
final class Start {
    private static final String COOKIE = "4b3f6c1e-run-error";

    private static final String USAGE =
            """
            This program is a Mulligan recovery plugin: it is not run by hand, a host starts it.
            Name it in mulligan.yaml

                plugins:
                  - name: my-rules
                    command: [/the/path/of/my-rules]

            and see with "mulligan plugin list" whether it starts.""";

    private static final boolean HAS_HOST = COOKIE.equals(System.getenv("MULLIGAN_PLUGIN"));

    private static boolean serving;

    private Start() {}

    /** Keeps standard output for the handshake line, if a host is there: what is printed goes to standard error. */
    static void takeStandardOutput() {
        if (HAS_HOST) {
            System.setOut(System.err);
        }
    }

    /** Runs the plugin until the host, or the way to it, goes. */
    static void serve(Plugin plugin) {
        if (!HAS_HOST) {
            fail(USAGE);
        }
        once();
        ignoreInterrupts();
        LifeLine lifeLine = LifeLine.note();
        try {
            print(PluginServer.start(System.getenv(), plugin));
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

    private static synchronized void once() {
        if (serving) {
            throw new IllegalStateException("serve is called a second time: a process is one plugin");
        }
        serving = true;
    }

    /** A terminal sends SIGINT to everybody in it. */
    private static void ignoreInterrupts() {
        try {
            Signal.handle(new Signal("INT"), SignalHandler.SIG_IGN);
        } catch (IllegalArgumentException e) {
            // The JVM was told to leave signals alone (-Xrs): then it is for who starts it, as the launcher does.
        }
    }

    private static void print(PluginServer server) throws IOException {
        // Version 1 of the service is the only one there is, whatever the host offers.
        String line = String.join("|", "1", "1", "unix", server.socket().toString(), "grpc", server.certificate());
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static void fail(String why) {
        System.err.println(why);
        System.exit(1);
    }
}
