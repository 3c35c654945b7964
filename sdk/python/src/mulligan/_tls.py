"""The plugin's half of mutual TLS."""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True, slots=True)
class Identity:
    """A server that trusts one authority."""

    credentials: grpc.ServerCredentials
    certificate: str
    """The sixth field of the handshake line."""


def identity(authority: str) -> Identity:
    """Make a certificate for this start, and demand one of the authority (PEM) from every client.

    An authority that cannot be read is a ValueError.
    """
    x509.load_pem_x509_certificate(authority.encode())
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(key)
    credentials = grpc.ssl_server_credentials(
        [(_key_pem(key), certificate.public_bytes(serialization.Encoding.PEM))],
        root_certificates=authority.encode(),
        require_client_auth=True,
    )
    der = certificate.public_bytes(serialization.Encoding.DER)
    return Identity(credentials, base64.b64encode(der).decode().rstrip("="))


def _certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=30 * 365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
