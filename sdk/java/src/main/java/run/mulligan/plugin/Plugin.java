package run.mulligan.plugin;

import com.google.gson.Gson;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * A recovery plugin, made out of a function. A whole program:
 *
 * <pre>{@code
 * public static void main(String[] arguments) {
 *     Plugin.serve(event -> event.kind() == Kind.RATE_LIMIT
 *             ? Decision.retry().after(event.retryAfter().orElse(Duration.ofSeconds(1)))
 *             : null); // no opinion: the next plugin is asked
 * }
 * }</pre>
 *
 * {@link #of} begins one that has more to say: a name, a configuration, and functions for the occasions beside
 * failures. Functions are called from several threads at once, up to 32, and may block; when the host no longer
 * waits for a call its thread is interrupted. What they throw is no opinion, and is recorded; the process lives on.
 */
public final class Plugin {
    private static final Gson JSON = new Gson();

    static {
        Start.takeStandardOutput(); // as early as anything of the plugin's
    }

    final Advise advise;
    String name = "";
    String version = "";
    String configSchema = "";
    Configure configure = json -> {};
    Optional<Judge> beforeCall = Optional.empty();
    Optional<Mend> toolError = Optional.empty();
    Optional<Hear> runEnded = Optional.empty();

    private Plugin(Advise advise) {
        this.advise = advise;
    }

    /** Says what to do about a failure. */
    @FunctionalInterface
    public interface Advise {
        /** Gives advice, or null for no opinion. */
        Decision advise(Event event) throws Exception;
    }

    /** Says whether a model call may begin. */
    @FunctionalInterface
    public interface Judge {
        /** Gives a verdict, or null for no opinion. */
        Verdict judge(ModelCall call) throws Exception;
    }

    /** Says what to do about a tool that failed. */
    @FunctionalInterface
    public interface Mend {
        /** Gives advice, or null for no opinion: the model is told what the tool said. */
        ToolAdvice mend(ToolError error) throws Exception;
    }

    /** Hears that a run has ended. */
    @FunctionalInterface
    public interface Hear {
        /** Is told how it ended. */
        void hear(RunEnded end) throws Exception;
    }

    /** Takes the configuration. */
    @FunctionalInterface
    public interface Configure {
        /**
         * Is called once with one JSON value that the schema allows, before anything is asked; it is {@code {}} if
         * there is none. What it throws refuses the configuration, and its message is shown to people.
         */
        void configure(String json) throws Exception;
    }

    /** Takes a configuration of some type. */
    @FunctionalInterface
    public interface Take<T> {
        /** Is called once, before anything is asked. What it throws refuses the configuration. */
        void take(T config) throws Exception;
    }

    /** Answers a host until it goes away: {@link #serve()} without more. */
    public static void serve(Advise advise) {
        of(advise).serve();
    }

    /** A plugin with this function for failures; one without an opinion about them gives null. */
    public static Plugin of(Advise advise) {
        return new Plugin(Objects.requireNonNull(advise));
    }

    /** Says what it calls itself, in 100 bytes at most; the host's configuration names it anyway. */
    public Plugin name(String name) {
        this.name = name;
        return this;
    }

    /** Says its version, in 100 bytes at most; it is kept with every vote. */
    public Plugin version(String version) {
        this.version = version;
        return this;
    }

    /**
     * Gives the JSON Schema (2020-12, at most 256 KiB) of its configuration, which the host checks before the
     * plugin sees it. Without one any configuration will do.
     */
    public Plugin configSchema(String json) {
        this.configSchema = json;
        return this;
    }

    /** Takes the configuration as JSON. */
    public Plugin configure(Configure configure) {
        this.configure = configure;
        return this;
    }

    /**
     * Takes the configuration as a record or a class with fields of its names, which Gson fills. What is not given
     * is null or 0 in a record, and as the class initializes it otherwise.
     */
    public <T> Plugin configure(Class<T> type, Take<T> take) {
        return configure(json -> take.take(JSON.fromJson(json, type)));
    }

    /**
     * Takes the occasion before_call: the function is asked before every model call, where the plugin's entry in
     * mulligan.yaml names it. It has 500 ms; what it throws is no opinion, or with {@code fail_closed} a refusal.
     */
    public Plugin beforeCall(Judge judge) {
        this.beforeCall = Optional.of(judge);
        return this;
    }

    /**
     * Takes the occasion tool_error: the function is asked about a tool that failed before the model is told, where
     * the plugin's entry in mulligan.yaml names it.
     */
    public Plugin toolError(Mend mend) {
        this.toolError = Optional.of(mend);
        return this;
    }

    /**
     * Takes the occasion run_ended: the function is told when a run has ended, where the plugin's entry in
     * mulligan.yaml names it.
     */
    public Plugin runEnded(Hear hear) {
        this.runEnded = Optional.of(hear);
        return this;
    }

    /**
     * Answers a host until it goes away, and then ends the process with status 0. Started by hand, the program says
     * how it is used and exits with status 1; so it does, with a reason, where it cannot serve.
     */
    public void serve() {
        Start.serve(this);
    }

    /**
     * The plugin's own folder, of mode 0700. Restarts, reloads and pinning keep what is in it; other processes of
     * the same plugin on this machine have the same one. In a dry run it is an empty one that is thrown away. Empty:
     * the host keeps nothing, or there is none, as in a test.
     */
    public static Optional<Path> stateDir() {
        return Optional.ofNullable(System.getenv("MULLIGAN_PLUGIN_STATE"))
                .filter(path -> !path.isEmpty())
                .map(Path::of);
    }
}
