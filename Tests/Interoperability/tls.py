"""TLS 1.3 in memory: section 1 of Documentation/wire-format.md. Python's own ssl lacks an exporter."""
from OpenSSL import SSL

import identity
import records

PLAIN, COMPACT = b"piconet/1", b"piconet/1-compact"


class HandshakeError(Exception):
    """There is no TLS, or it broke."""


class Channel:
    """Turns ciphertext into plaintext and back; the caller moves the bytes."""

    def __init__(self, own: identity.Identity, is_dialler: bool, protocols: list[bytes], compacts: bool = False):
        """`compacts`: whether it writes compact headers if the other side has agreed to them."""
        context = SSL.Context(SSL.TLS_METHOD)
        context.set_min_proto_version(SSL.TLS1_3_VERSION)
        context.use_privatekey(own.openssl_key)
        context.use_certificate(own.openssl_certificate)
        # Any certificate will do: its key says who it is.
        context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        if is_dialler:
            if protocols:
                context.set_alpn_protos(protocols)
        else:
            context.set_alpn_select_callback(
                lambda _, offered: next((name for name in protocols if name in offered), SSL.NO_OVERLAPPING_PROTOCOLS))
        self.connection = SSL.Connection(context, None)
        if is_dialler:
            self.connection.set_connect_state()
        else:
            self.connection.set_accept_state()
        self.compacts = compacts
        self.records = records.Records()
        self.is_secure = False

    @property
    def protocol(self) -> bytes:
        return self.connection.get_alpn_proto_negotiated()

    @property
    def peer(self) -> bytes:
        return identity.id_of(self.connection.get_peer_certificate().to_cryptography())

    def exported(self, label: bytes, count: int) -> bytes:
        return self.connection.export_keying_material(label, count)

    def advance(self) -> bool:
        """Goes on with the handshake. True when it is done."""
        if not self.is_secure:
            try:
                self.connection.do_handshake()
                self.is_secure = True
            except SSL.WantReadError:
                pass
            except SSL.Error as error:
                raise HandshakeError(str(error)) from error
        return self.is_secure

    def take(self, ciphertext: bytes) -> None:
        # The dialler has chosen its protocol with the acceptor's first flight, before any compact header.
        whole = self.records.take(ciphertext, self.protocol in (COMPACT, b""))
        if whole:
            self.connection.bio_write(whole)

    def outgoing(self) -> bytes:
        """Ciphertext for the other side."""
        data = bytearray()
        while True:
            try:
                data += self.connection.bio_read(65_536)
            except SSL.WantReadError:
                break
        return bytes(data)

    def seal(self, plaintext: bytes) -> bytes:
        place = 0
        while place < len(plaintext):
            place += self.connection.send(plaintext[place:place + 16_384])
        data = self.outgoing()
        return records.compacted(data) if self.compacts and self.protocol == COMPACT else data

    def open(self) -> tuple[bytes, bool]:
        """What has come, and whether the other side has said that no more will come."""
        data = bytearray()
        while True:
            try:
                data += self.connection.recv(65_536)
            except SSL.WantReadError:
                return bytes(data), False
            except SSL.ZeroReturnError:
                return bytes(data), True
            except SSL.Error as error:
                raise HandshakeError(str(error)) from error

    def close(self) -> bytes:
        try:
            self.connection.shutdown()
        except SSL.Error:
            pass
        return self.outgoing()
