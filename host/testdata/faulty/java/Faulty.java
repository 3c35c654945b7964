import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Plugin;

/** A plugin that misbehaves as FAULT says; ../README.md lists how. */
public final class Faulty {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "");
    private static final long PID = ProcessHandle.current().pid();

    public static void main(String[] arguments) throws Exception {
        leaveTrace(PID);
        switch (FAULT) {
            case "garbage" -> say("Welcome to my plugin!");
            case "version" -> say("1|99|unix|" + System.getenv("PLUGIN_UNIX_SOCKET_DIR") + "/s|grpc|" + "A".repeat(60));
            case "silent" -> forever();
            default -> {}
        }
        Plugin.of(Faulty::advise).name("faulty").version("1.2.3").serve();
    }

    private static Decision advise(Event event) throws Exception {
        switch (FAULT) {
            case "crash" -> signal("-ABRT");
            case "exit" -> {
                System.err.println("last words");
                System.err.flush();
                Runtime.getRuntime().halt(3);
            }
            case "hang" -> forever();
            case "stop" -> signal("-STOP");
            case "deaf" -> new Thread(() -> {
                try {
                    Thread.sleep(50);
                    signal("-STOP");
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }).start();
            case "slow" -> Thread.sleep(200);
            case "print" -> {
                System.out.print("x".repeat(1 << 20));
                System.out.flush();
            }
            case "grandchild" -> {
                leaveTrace(new ProcessBuilder("sleep", "300").inheritIO().start().pid());
                Runtime.getRuntime().halt(4);
            }
            case "nonsense" -> {
                return Decision.switchTo("");
            }
            default -> {}
        }
        return Decision.retry().after(Duration.ofSeconds(1));
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
        forever();
    }

    /** Whatever interrupts it. */
    private static void forever() {
        while (true) {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                continue;
            }
        }
    }

    private static void signal(String name) throws Exception {
        new ProcessBuilder("kill", name, Long.toString(PID)).start().waitFor();
        forever();
    }

    private static void leaveTrace(long pid) throws IOException {
        String folder = System.getenv("TRACE");
        if (folder != null) {
            Files.createFile(Path.of(folder, Long.toString(pid)));
        }
    }
}
