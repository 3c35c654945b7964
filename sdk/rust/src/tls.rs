//! Mutual TLS: a certificate of this process, and the one authority that clients come from.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P256_SHA256};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::Error;

const MINUTE: Duration = Duration::from_secs(60);

/// How long a certificate is good for: longer than any process lives.
const VALID: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Makes what a server needs that takes only clients of the given authority (PEM), and its
/// own certificate (DER), new and in memory alone.
pub(crate) fn mutual(authority: &str) -> Result<(Arc<ServerConfig>, Vec<u8>), Error> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(authority.as_bytes())
        .map_err(|error| format!("PLUGIN_CLIENT_CERT holds no certificate: {error}"))?;
    roots
        .add(authority)
        .map_err(|error| format!("PLUGIN_CLIENT_CERT: {error}"))?;

    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = parameters()?.self_signed(&key)?.der().to_vec();

    let provider = Arc::new(ring::default_provider());
    // Without allow_unauthenticated, it requires and verifies.
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider)).build()?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(clients)
        .with_single_cert(
            vec![certificate.clone().into()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((Arc::new(config), certificate))
}

fn parameters() -> Result<CertificateParams, rcgen::Error> {
    let now = SystemTime::now();
    let mut parameters = CertificateParams::new(["localhost".to_owned()])?;
    parameters.not_before = (now - MINUTE).into();
    parameters.not_after = (now + VALID).into();
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn an_authority_that_is_no_certificate_is_refused() {
        let no_der = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for pem in ["", "garbage", no_der] {
            let error = mutual(pem).expect_err(pem);
            assert!(error.to_string().starts_with("PLUGIN_CLIENT_CERT"), "{error}");
        }
    }

    #[test]
    fn every_start_has_a_new_certificate() {
        let key = KeyPair::generate().unwrap();
        let der = parameters().unwrap().self_signed(&key).unwrap().der().to_vec();
        let text = STANDARD.encode(der);
        let authority = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
        let (_, first) = mutual(&authority).unwrap();
        let (_, second) = mutual(&authority).unwrap();
        assert_ne!(first, second);
    }
}
