#!/usr/bin/env python3
"""A peer that speaks CWP/1, written from Documentation/Protocols/CWP-1.md alone. Standard library only.

usage: cwp1.py --dial HOST:PORT --key KEY.pem --certificate CERT.pem [--name NAME] [--send TEXT]... [--file PATH]
               [--stream TEXT] [--echo] [--seconds N]

Dials a peer, invites it, and joins. Prints one JSON object per event. KEY and CERT are a P-256 key and a self-signed certificate:

  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout KEY.pem -out CERT.pem -subj /CN=peer -days 1
"""
import argparse
import hashlib
import hmac
import json
import os
import pathlib
import socket
import ssl
import struct
import tempfile
import time

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


def note(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


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
    def __init__(self, options):
        host, _, port = options.dial.rpartition(":")
        certificate = ssl.PEM_cert_to_DER_cert(pathlib.Path(options.certificate).read_text())
        self.key, self.name = public_key(certificate), options.name
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["cw-peers/1"])
        context.load_cert_chain(options.certificate, options.key)
        with tempfile.TemporaryDirectory() as folder:
            context.keylog_filename = os.path.join(folder, "keys")
            plain = socket.create_connection((host.strip("[]"), int(port)), timeout=10)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket = context.wrap_socket(plain)
            self.exporter = exporter(context.keylog_filename)
        self.peer_key = public_key(self.socket.getpeercert(binary_form=True))
        self.input = b""

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


class Peer:
    def __init__(self, link, options):
        self.link, self.options = link, options
        self.id, self.handle = os.urandom(8), os.urandom(16)
        self.received, self.message_bytes, self.partial = 0, 0, b""
        self.credit, self.sent = 4 << 20, 0
        self.streams, self.files, self.offers = {}, {}, {}
        own, other = hashlib.sha256(link.key).digest()[:16], hashlib.sha256(link.peer_key).digest()[:16]
        self.is_smaller = own < other
        self.next_channel = 1 if self.is_smaller else 2

    def proof(self, role, handle, key):
        return hmac.new(self.link.exporter, b"cw-peers/1 hello" + bytes([role]) + handle + key, "sha256").digest()

    def hello(self):
        payload = field(1, b"\1\0") + field(2, b"\1\0") + field(3, (8).to_bytes(8, "big")) + field(4, self.id)
        payload += field(5, self.link.key) + field(6, self.link.name.encode()) + field(7, self.handle)
        payload += field(9, self.proof(1, self.handle, self.link.key)) + field(10, b"cwp1.py") + field(13, b"\0\0")
        self.link.send(HELLO, payload)

    def check_hello(self, payload):
        found = fields(payload)
        handle, key = found[7][0], found[5][0]
        if key != self.link.peer_key or found[9][0] != self.proof(2, handle, key):
            self.bye(5, "the HELLO is not bound to this connection")
        note("hello", name=found[6][0].decode(), id=found[4][0].hex())

    def bye(self, reason, text):
        self.link.send(BYE, field(1, bytes([reason])))
        raise SystemExit(text)

    def expect(self, *kinds):
        frame = self.link.receive(30)
        if frame is None:
            self.bye(3, "no answer")
        kind, _, _, payload = frame
        if kind == BYE or kind == DECLINE and DECLINE not in kinds:
            raise SystemExit(f"refused with reason {fields(payload)[1][0][0]}")
        if kind not in kinds:
            self.bye(5, f"frame {kind:#x} is unexpected")
        return kind, payload

    def join(self):
        self.hello()
        self.check_hello(self.expect(HELLO)[1])
        self.link.send(INVITE, field(1, b"from Python") + field(2, (30_000).to_bytes(4, "big")))
        self.expect(ACCEPT)
        note("accepted")
        self.link.send(CERTIFICATE)
        self.expect(CERTIFICATE)
        self.link.send(CERTIFIED)
        self.expect(CERTIFIED)
        note("connected")

    def message(self, data):
        for start in range(0, max(1, len(data)), PAYLOAD):
            while self.sent + PAYLOAD > self.credit:
                self.step(1)
            part = data[start : start + PAYLOAD]
            self.sent += len(part)
            self.link.send(DATA, part, flags=2 if start + PAYLOAD < len(data) else 0)

    def stream(self, data):
        channel, self.next_channel = self.next_channel, self.next_channel + 2
        self.link.send(STREAM_OPEN, field(1, b"from Python"), channel)
        # Less than the first window.
        for start in range(0, min(len(data), 262_144), PAYLOAD):
            self.link.send(STREAM_DATA, data[start : start + PAYLOAD], channel)
        self.link.send(STREAM_END, b"", channel)

    def offer(self, path):
        channel, self.next_channel = self.next_channel, self.next_channel + 2
        data = pathlib.Path(path).read_bytes()
        self.offers[channel] = (data, [0])
        self.link.send(OFFER, field(1, os.path.basename(path).encode()) + field(2, len(data).to_bytes(8, "big")), channel)

    def step(self, seconds):
        """Handles one frame. Returns whether there was one."""
        frame = self.link.receive(seconds)
        if frame is None:
            return False
        kind, flags, channel, payload = frame
        if flags & 1:
            self.received += 1
        if kind == DATA:
            self.data(flags, payload)
        elif kind == ACK:
            self.credit = max(self.credit, int.from_bytes(fields(payload)[2][0], "big"))
        elif kind in (STREAM_OPEN, STREAM_DATA, STREAM_END):
            self.stream_frame(kind, channel, payload)
        elif kind in (OFFER, GET, PART, DONE, CANCEL):
            self.resource_frame(kind, channel, payload)
        elif kind == PING:
            self.link.send(PONG)
        elif kind in (ROSTER, INTRODUCE):
            members = fields(payload).get(2, []) if kind == ROSTER else [payload]
            note("members", names=[fields(member)[4][0].decode() for member in members])
        elif kind == BYE:
            note("left", reason=fields(payload)[1][0][0])
            raise SystemExit(0)
        if flags & 1:
            limit = self.message_bytes + (4 << 20)
            self.link.send(ACK, field(1, self.received.to_bytes(8, "big")) + field(2, limit.to_bytes(8, "big")))
        return True

    def data(self, flags, payload):
        if flags & 1:
            self.message_bytes += len(payload)
        self.partial += payload
        if flags & 2:
            return
        message, self.partial = self.partial, b""
        note("message", bytes=len(message), text=message[:200].decode(errors="replace"))
        if self.options.echo:
            self.message(message)

    def stream_frame(self, kind, channel, payload):
        if kind == STREAM_OPEN:
            self.streams[channel] = b""
        elif kind == STREAM_DATA:
            self.streams[channel] += payload
            limit = len(self.streams[channel]) + 262_144
            self.link.send(STREAM_WINDOW, field(1, limit.to_bytes(8, "big")), channel)
        else:
            data = self.streams.pop(channel)
            note("stream", bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def resource_frame(self, kind, channel, payload):
        if kind == OFFER:
            self.files[channel] = [fields(payload)[1][0].decode(), b"", None]
            self.link.send(GET, field(1, bytes(8)) + field(2, (1 << 40).to_bytes(8, "big")), channel)
        elif kind == PART and channel in self.files:
            if int.from_bytes(payload[:8], "big") == len(self.files[channel][1]):
                self.files[channel][1] += payload[8:]
            self.finish_file(channel)
        elif kind == DONE and channel in self.files:
            self.files[channel][2] = int.from_bytes(fields(payload)[1][0], "big")
            self.finish_file(channel)
        elif kind == GET and channel in self.offers:
            self.send_parts(channel, fields(payload))
        elif kind == DONE and channel in self.offers:
            note("delivered", bytes=len(self.offers.pop(channel)[0]))
        elif kind == CANCEL:
            self.files.pop(channel, None)
            self.offers.pop(channel, None)
            note("cancelled")

    def finish_file(self, channel):
        name, data, size = self.files[channel]
        if len(data) == size:
            note("file", name=name, bytes=size, sha256=hashlib.sha256(data).hexdigest())
            self.link.send(DONE, b"", channel)
            del self.files[channel]

    def send_parts(self, channel, wanted):
        data, position = self.offers[channel]
        if 1 in wanted:
            position[0] = int.from_bytes(wanted[1][0], "big")
        limit = min(len(data), int.from_bytes(wanted[2][0], "big"))
        while position[0] < limit:
            part = data[position[0] : min(limit, position[0] + PAYLOAD - 8)]
            self.link.send(PART, position[0].to_bytes(8, "big") + part, channel)
            position[0] += len(part)
        if position[0] == len(data):
            self.link.send(DONE, field(1, len(data).to_bytes(8, "big")), channel)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("dial", "key", "certificate"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--name", default="Python")
    parser.add_argument("--send", action="append", default=[])
    parser.add_argument("--file")
    parser.add_argument("--stream")
    parser.add_argument("--echo", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    peer = Peer(Link(options), options)
    peer.join()
    for text in options.send:
        peer.message(text.encode())
    if options.stream is not None:
        peer.stream(options.stream.encode())
    if options.file:
        peer.offer(options.file)
    end = time.monotonic() + options.seconds
    while (left := end - time.monotonic()) > 0:
        peer.step(left)
    peer.bye(0, 0)


main()
