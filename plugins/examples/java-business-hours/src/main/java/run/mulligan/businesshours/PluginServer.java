package run.mulligan.businesshours;

import io.grpc.Server;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Map;

/**
 * The gRPC server on its unix socket.
 *
 * @param socket where it listens
 * @param certificate what a client must trust, as the handshake line has it; empty without TLS
 */
record PluginServer(Path socket, String certificate) {
    /** The largest request, in bytes. */
    private static final int MAX_REQUEST = 64 << 20;

    /** The longest path of a socket, in bytes. */
    private static final int MAX_PATH = 100;

    /** Serves as the environment says; the server accepts connections when this returns. */
    static PluginServer start(Map<String, String> environment, BusinessHours policy)
            throws IOException, GeneralSecurityException {
        Path socket = socket(environment.get("PLUGIN_UNIX_SOCKET_DIR"));
        EventLoopGroup group = new NioEventLoopGroup(1);
        HealthStatusManager health = new HealthStatusManager();
        health.setStatus("plugin", ServingStatus.SERVING);
        Controller controller = new Controller();
        NettyServerBuilder builder = NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioServerDomainSocketChannel.class)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .maxInboundMessageSize(MAX_REQUEST)
                .addService(health.getHealthService())
                .addService(new Recovery(policy))
                .addService(controller)
                .addService(new Stdio());
        String certificate = "";
        String authority = environment.get("PLUGIN_CLIENT_CERT");
        if (authority != null) {
            Identity identity = Identity.create();
            builder.sslContext(mutualTls(identity, authority));
            certificate = Base64.getEncoder().withoutPadding().encodeToString(identity.certificate().getEncoded());
        }
        Server server = builder.build().start();
        controller.stops(server);
        return new PluginServer(socket, certificate);
    }

    /** Returns the path to listen on: in the host's folder, or in a fresh one by hand. */
    private static Path socket(String folder) throws IOException {
        Path path = (folder == null ? Files.createTempDirectory("plugin") : Path.of(folder)).resolve("s");
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH) {
            throw new IOException("the path of the socket has more than " + MAX_PATH + " bytes: " + path);
        }
        return path;
    }

    /** Requires a client certificate by the authority, which is PEM, and trusts no other root. */
    private static SslContext mutualTls(Identity identity, String authority)
            throws IOException, CertificateException {
        X509Certificate root = (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(authority.getBytes(StandardCharsets.UTF_8)));
        return GrpcSslContexts.configure(
                        SslContextBuilder.forServer(identity.key(), identity.certificate()), SslProvider.JDK)
                .trustManager(root)
                .clientAuth(ClientAuth.REQUIRE)
                .protocols("TLSv1.3")
                .build();
    }
}
