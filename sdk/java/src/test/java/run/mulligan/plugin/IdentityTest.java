package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdentityTest {
    @Test
    void certifiesLocalhost() throws Exception {
        X509Certificate certificate = Identity.create().certificate();
        certificate.verify(certificate.getPublicKey());
        certificate.checkValidity();
        certificate.checkValidity(Date.from(Instant.now().minus(Duration.ofSeconds(50))));
        assertEquals(List.of(List.of(2, "localhost")), List.copyOf(certificate.getSubjectAlternativeNames()));
        assertEquals("CN=localhost", certificate.getSubjectX500Principal().getName());
    }

    @Test
    void isAnotherOneEachTime() throws Exception {
        assertNotEquals(Identity.create().certificate(), Identity.create().certificate());
    }
}
