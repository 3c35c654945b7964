package run.mulligan.plugin;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;

/**
 * Who the server is for the life of this process.
 *
 * <p>The JDK has no public way to make a certificate. The usual library for it takes as long to load as
 * the rest of the start together, so the few fields that are needed are written here.
 *
 * @param key its private key
 * @param certificate its own signature under its public key
 */
record Identity(PrivateKey key, X509Certificate certificate) {
    /** How far the clocks of the two sides may differ. */
    private static final Duration SKEW = Duration.ofMinutes(1);

    /** Longer than any process is kept. */
    private static final Duration LIFE = Duration.ofDays(3650);

    private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.object(1, 2, 840, 10045, 4, 3, 2));

    /** Makes a P-256 key and a self-signed certificate for localhost. */
    static Identity create() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        byte[] statement = statement(pair.getPublic());
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(pair.getPrivate());
        signature.update(statement);
        byte[] certificate = Der.sequence(statement, ECDSA_WITH_SHA256, Der.bits(signature.sign()));
        return new Identity(pair.getPrivate(), (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(certificate)));
    }

    /** Returns what is signed: RFC 5280's TBSCertificate. */
    private static byte[] statement(PublicKey key) {
        byte[] name = Der.sequence(Der.set(Der.sequence(Der.object(2, 5, 4, 3), Der.text("localhost"))));
        Instant now = Instant.now();
        return Der.sequence(
                Der.tagged(0, Der.integer(BigInteger.TWO)), // X.509 version 3
                Der.integer(new BigInteger(127, new SecureRandom()).setBit(126)),
                ECDSA_WITH_SHA256,
                name,
                Der.sequence(Der.time(now.minus(SKEW)), Der.time(now.plus(LIFE))),
                name,
                key.getEncoded(),
                Der.tagged(3, Der.sequence(subjectAlternativeName())));
    }

    private static byte[] subjectAlternativeName() {
        byte[] dnsName = Der.value(0x82, "localhost".getBytes(StandardCharsets.US_ASCII));
        return Der.sequence(Der.object(2, 5, 29, 17), Der.octets(Der.sequence(dnsName)));
    }
}
