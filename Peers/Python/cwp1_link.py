"""Frames and connections of CWP/1, for cwp1.py. Standard library only."""
import hashlib
import hmac
import os
import pathlib
import socket
import ssl
import struct
import tempfile

HELLO, INVITE, ACCEPT, DECLINE, WITHDRAW, CERTIFIED, CERTIFICATE, DATA, ACK = range(1, 10)
STREAM_OPEN, STREAM_DATA, STREAM_WINDOW, STREAM_END, STREAM_RESET = range(0x10, 0x15)
OFFER, GET, PART, DONE, CANCEL = range(0x18, 0x1D)
LANE, ROSTER, INTRODUCE, GONE, PING, PONG, BYE = 0x20, 0x28, 0x29, 0x2A, 0x30, 0x31, 0x3F
SAS_COMMIT, SAS_NONCE, SAS_REVEAL, SAS_RESULT = range(0x38, 0x3C)
NUMBERED = {
    DATA, STREAM_OPEN, STREAM_DATA, STREAM_WINDOW, STREAM_END, STREAM_RESET, OFFER, GET, DONE, CANCEL, ROSTER, INTRODUCE, GONE,
    SAS_COMMIT, SAS_NONCE, SAS_REVEAL, SAS_RESULT,
}
PAYLOAD = 16_384
# What each DATA frame counts besides its bytes.
OVERHEAD = 64


def field(tag, value):
    return struct.pack(">BH", tag, len(value)) + value


def fields(payload):
    """All fields of a payload: tag to list of values."""
    found, position = {}, 0
    while position < len(payload):
        tag, length = struct.unpack_from(">BH", payload, position)
        if position + 3 + length > len(payload):
            raise ValueError(f"field {tag} is truncated")
        found.setdefault(tag, []).append(payload[position + 3 : position + 3 + length])
        position += 3 + length
    return found


def der_element(data, position):
    """The header and content range of a DER element."""
    length, start = data[position + 1], position + 2
    if length & 0x80:
        count = length & 0x7F
        length, start = int.from_bytes(data[start : start + count], "big"), start + count
    return start, start + length


def public_key(certificate):
    """The SubjectPublicKeyInfo of a certificate."""
    start, _ = der_element(certificate, 0)
    position, _ = der_element(certificate, start)
    if certificate[position] == 0xA0:
        position = der_element(certificate, position)[1]
    # Serial number, algorithm, issuer, validity, subject.
    for _ in range(5):
        position = der_element(certificate, position)[1]
    return certificate[position : der_element(certificate, position)[1]]


def expand_label(secret, label, context, length, digest):
    """HKDF-Expand-Label (RFC 8446 §7.1)."""
    text = b"tls13 " + label
    info = struct.pack(">HB", length, len(text)) + text + bytes([len(context)]) + context
    block, output, counter = b"", b"", 1
    while len(output) < length:
        block = hmac.new(secret, block + info + bytes([counter]), digest).digest()
        output, counter = output + block, counter + 1
    return output[:length]


def exporter(key_log):
    """The keying material of a connection, from the secret that the TLS library logs (RFC 8446 §7.5)."""
    line = next(line for line in pathlib.Path(key_log).read_text().splitlines() if line.startswith("EXPORTER_SECRET"))
    secret = bytes.fromhex(line.split()[2])
    digest = "sha384" if len(secret) == 48 else "sha256"
    empty = hashlib.new(digest, b"").digest()
    derived = expand_label(secret, b"EXPORTER-cw-peers/1", empty, len(empty), digest)
    return expand_label(derived, b"exporter", empty, 32, digest)


class Link:
    """A TLS connection to another peer.

    Python's ssl module accepts no certificate that it does not know, so the accepting side needs that of the dialler beforehand.
    """

    def __init__(self, plain, files, dialler=None):
        self.key = public_key(ssl.PEM_cert_to_DER_cert(pathlib.Path(files.certificate).read_text()))
        self.is_dialler = dialler is None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if self.is_dialler else ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        if self.is_dialler:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        else:
            context.verify_mode = ssl.CERT_REQUIRED
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.load_verify_locations(cadata=dialler)
        context.set_alpn_protocols(["cw-peers/1"])
        context.load_cert_chain(files.certificate, files.key)
        with tempfile.TemporaryDirectory() as folder:
            context.keylog_filename = os.path.join(folder, "keys")
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket = context.wrap_socket(plain, server_side=not self.is_dialler)
            self.exporter = exporter(context.keylog_filename)
        self.peer_certificate = self.socket.getpeercert(binary_form=True)
        self.peer_key = public_key(self.peer_certificate)
        self.input = b""

    @classmethod
    def dial(cls, place, files, source=None):
        host, _, port = place.rpartition(":")
        source = (source, 0) if source else None
        return cls(socket.create_connection((host.strip("[]"), int(port)), 10, source), files)

    def send(self, kind, payload=b"", channel=0, flags=0):
        flags |= 1 if kind in NUMBERED else 0
        self.socket.sendall(struct.pack(">BBHI", kind, flags, channel, len(payload)) + payload)

    def receive(self, seconds):
        """The next frame, or None if none arrives in time."""
        self.socket.settimeout(max(0.01, seconds))
        try:
            while True:
                if len(self.input) >= 8:
                    kind, flags, channel, length = struct.unpack_from(">BBHI", self.input)
                    if len(self.input) >= 8 + length:
                        payload, self.input = self.input[8 : 8 + length], self.input[8 + length :]
                        return kind, flags, channel, payload
                data = self.socket.recv(65_536)
                if not data:
                    raise SystemExit("the peer closed the link")
                self.input += data
        except TimeoutError:
            return None
