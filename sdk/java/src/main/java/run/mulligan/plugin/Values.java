package run.mulligan.plugin;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import mulligan.v1.ValueServiceGrpc;
import mulligan.v1.ValueServiceGrpc.ValueServiceBlockingStub;
import mulligan.v1.Values.AddValueRequest;
import mulligan.v1.Values.DeleteValueRequest;
import mulligan.v1.Values.GetValueRequest;
import mulligan.v1.Values.GetValueResponse;
import mulligan.v1.Values.ListValuesRequest;
import mulligan.v1.Values.ListValuesResponse;
import mulligan.v1.Values.SetValueRequest;

/**
 * What the host keeps for the plugin: bytes by key, the same for all of its processes that share the host's store, on
 * this machine or on all machines of a fleet.
 *
 * <pre>{@code
 * if (Values.add("paged", 1) == 1) {
 *     page("the first of today");
 * }
 * }</pre>
 *
 * A key has 1 to 200 bytes of UTF-8, a value at most 64 KiB, all of a plugin 64 MiB. Every change is atomic, and
 * durable before it returns. In a dry run they are empty and thrown away. What fails throws a {@link ValuesException};
 * a call takes 5 s at most, and no longer than the host waits for the plugin's answer.
 */
public final class Values {
    private static final long TIMEOUT = 5; // seconds

    private Values() {}

    /**
     * A value as it was read.
     *
     * @param value its bytes; empty if there is none
     * @param version another one after every change; 0 = there is none
     */
    public record Versioned(Optional<byte[]> value, long version) {}

    /** Gives a value; empty if there is none. */
    public static Optional<byte[]> get(String key) {
        return getWithVersion(key).value();
    }

    /** Gives a value and its version for {@link #compareAndSet}. */
    public static Versioned getWithVersion(String key) {
        GetValueRequest request = GetValueRequest.newBuilder().setKey(key).build();
        GetValueResponse m = call(host -> host.getValue(request));
        boolean isThere = m.getVersion() != 0;
        return new Versioned(isThere ? Optional.of(m.getValue().toByteArray()) : Optional.empty(), m.getVersion());
    }

    /** Writes a value, whatever there is. */
    public static void set(String key, byte[] value) {
        SetValueRequest request = writing(key, value).build();
        call(host -> host.setValue(request));
    }

    /** Writes a value only in the place of that version, 0 for none, and says whether it was written. */
    public static boolean compareAndSet(String key, long version, byte[] value) {
        SetValueRequest request = writing(key, value).setExpected(version).build();
        return call(host -> host.setValue(request)).getDone();
    }

    /** Adds to a number, which is 0 where there is none, and gives the sum. */
    public static long add(String key, long amount) {
        AddValueRequest request =
                AddValueRequest.newBuilder().setKey(key).setAmount(amount).build();
        return call(host -> host.addValue(request)).getSum();
    }

    /** Removes a value, if there is one. */
    public static void delete(String key) {
        DeleteValueRequest request = DeleteValueRequest.newBuilder().setKey(key).build();
        call(host -> host.deleteValue(request));
    }

    /** Lists the keys that begin with prefix, in the order of their bytes. */
    public static List<String> keys(String prefix) {
        List<String> found = new ArrayList<>();
        ListValuesResponse page;
        do {
            String after = found.isEmpty() ? "" : found.get(found.size() - 1);
            ListValuesRequest request = ListValuesRequest.newBuilder()
                    .setPrefix(prefix)
                    .setAfter(after)
                    .build();
            page = call(host -> host.listValues(request));
            found.addAll(page.getKeysList());
        } while (page.getMore() && page.getKeysCount() > 0);
        return List.copyOf(found);
    }

    private static SetValueRequest.Builder writing(String key, byte[] value) {
        return SetValueRequest.newBuilder().setKey(key).setValue(ByteString.copyFrom(value));
    }

    private static <T> T call(Function<ValueServiceBlockingStub, T> method) {
        String socket = System.getenv("MULLIGAN_PLUGIN_VALUES");
        if (socket == null || socket.isEmpty()) {
            throw new ValuesException(
                    ValuesException.Problem.NONE,
                    "the host keeps no values for the plugin (MULLIGAN_PLUGIN_VALUES is not set)");
        }
        try {
            return method.apply(
                    ValueServiceGrpc.newBlockingStub(Connection.TO_HOST).withDeadlineAfter(TIMEOUT, TimeUnit.SECONDS));
        } catch (StatusRuntimeException e) {
            throw ValuesException.of(e.getStatus());
        }
    }

    /** The one connection of the process, made when it is first needed. */
    private static final class Connection {
        static final ManagedChannel TO_HOST = NettyChannelBuilder.forAddress(
                        UnixDomainSocketAddress.of(System.getenv("MULLIGAN_PLUGIN_VALUES")))
                .channelType(NioDomainSocketChannel.class)
                .eventLoopGroup(new NioEventLoopGroup(1, new DefaultThreadFactory("values", true)))
                .withOption(ChannelOption.SO_KEEPALIVE, null) // TCP's
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
    }
}
