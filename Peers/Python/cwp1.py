#!/usr/bin/env python3
"""A peer that speaks CWP/1, written from Documentation/Protocols/CWP-1.md alone. Standard library only.

usage: cwp1.py --dial HOST:PORT --key KEY.pem --certificate CERT.pem [--accept] [--id HEX] [--name NAME] [--send TEXT]...
               [--file PATH] [--until BYTES] [--part PATH] [--stream TEXT] [--echo] [--seconds N]

Dials a peer, invites it, and joins. With --accept it only reads the peer's certificate, then listens, and accepts the peer's invitation.
--until leaves after so many bytes of the file were sent; --part has the first bytes of the file that the peer will send.

Prints one JSON object per event. KEY and CERT are a P-256 key and a self-signed certificate:

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
import time

from cwp1_link import *

def note(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


class Peer:
    def __init__(self, link, options):
        self.link, self.options = link, options
        self.id, self.handle = bytes.fromhex(options.id) if options.id else os.urandom(8), os.urandom(16)
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
        payload += field(5, self.link.key) + field(6, self.options.name.encode()) + field(7, self.handle)
        role = 1 if self.link.is_dialler else 2
        payload += field(9, self.proof(role, self.handle, self.link.key)) + field(10, b"cwp1.py") + field(13, b"\0\0")
        self.link.send(HELLO, payload)

    def check_hello(self, payload):
        found = fields(payload)
        handle, key = found[7][0], found[5][0]
        if key != self.link.peer_key or found[9][0] != self.proof(2 if self.link.is_dialler else 1, handle, key):
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

    def invite(self, context=b"from Python"):
        self.hello()
        self.check_hello(self.expect(HELLO)[1])
        parts = b"".join(field(1, context[start : start + 32_768]) for start in range(0, len(context), 32_768))
        self.link.send(INVITE, parts + field(2, (30_000).to_bytes(4, "big")))

    def be_invited(self):
        self.check_hello(self.expect(HELLO)[1])
        self.hello()
        note("invited", context=b"".join(fields(self.expect(INVITE)[1]).get(1, [])).decode())
        self.link.send(ACCEPT, field(1, self.handle))

    def join(self):
        if self.link.is_dialler:
            self.invite()
            self.expect(ACCEPT)
            note("accepted")
        else:
            self.be_invited()
        self.link.send(CERTIFICATE)
        self.expect(CERTIFICATE)
        self.link.send(CERTIFIED)
        self.expect(CERTIFIED)
        note("connected")

    def message(self, data):
        for start in range(0, max(1, len(data)), PAYLOAD):
            while self.sent + PAYLOAD + OVERHEAD > self.credit:
                self.step(1)
            part = data[start : start + PAYLOAD]
            self.sent += len(part) + OVERHEAD
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
        elif kind in (STREAM_OPEN, STREAM_DATA, STREAM_END, STREAM_RESET):
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
            self.message_bytes += len(payload) + OVERHEAD
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
        elif channel in self.streams:
            data = self.streams.pop(channel)
            event = "stream" if kind == STREAM_END else "stream reset"
            note(event, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
            self.link.send(STREAM_END, b"", channel)

    def resource_frame(self, kind, channel, payload):
        if kind == OFFER:
            part = pathlib.Path(self.options.part).read_bytes() if self.options.part else b""
            self.files[channel] = [fields(payload)[1][0].decode(), part, None, None]
            self.link.send(GET, field(1, len(part).to_bytes(8, "big")) + field(2, (1 << 40).to_bytes(8, "big")), channel)
        elif kind == PART and channel in self.files:
            if int.from_bytes(payload[:8], "big") == len(self.files[channel][1]):
                self.files[channel][1] += payload[8:]
            self.finish_file(channel)
        elif kind == DONE and channel in self.files:
            found = fields(payload)
            self.files[channel][2:] = [int.from_bytes(found[1][0], "big"), found.get(2, [None])[0]]
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
        name, data, size, digest = self.files[channel]
        if len(data) != size:
            return
        own = hashlib.sha256(data).digest()
        if digest not in (None, own):
            note("damaged", name=name)
            self.link.send(CANCEL, field(1, b"\x05"), channel)
        else:
            note("file", name=name, bytes=size, sha256=own.hex(), compared=digest is not None)
            self.link.send(DONE, b"", channel)
        del self.files[channel]

    def send_parts(self, channel, wanted):
        data, position = self.offers[channel]
        if 1 in wanted:
            position[0] = int.from_bytes(wanted[1][0], "big")
            note("wanted", offset=position[0])
        limit = min(len(data), int.from_bytes(wanted[2][0], "big"))
        while position[0] < limit:
            part = data[position[0] : min(limit, position[0] + PAYLOAD - 8)]
            self.link.send(PART, position[0].to_bytes(8, "big") + part, channel)
            position[0] += len(part)
            if self.options.until is not None and position[0] >= self.options.until:
                note("interrupted", offset=position[0])
                self.bye(0, 0)
        if position[0] == len(data):
            digest = hashlib.sha256(data).digest()
            self.link.send(DONE, field(1, len(data).to_bytes(8, "big")) + field(2, digest), channel)


def parse(words=None):
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("dial", "key", "certificate"):
        parser.add_argument("--" + name, required=True)
    for name in ("id", "file", "part", "stream"):
        parser.add_argument("--" + name)
    parser.add_argument("--name", default="Python")
    parser.add_argument("--send", action="append", default=[])
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--echo", action="store_true")
    parser.add_argument("--until", type=int)
    parser.add_argument("--seconds", type=float, default=10)
    return parser.parse_args(words)


def accepted(options):
    """The link that the peer makes."""
    known = Link.dial(options.dial, options)
    known.socket.close()
    options.id = options.id or os.urandom(8).hex()
    with socket.create_server(("127.0.0.1", 0)) as server:
        fingerprint = hashlib.sha256(known.key).digest()[:16]
        note("listening", port=server.getsockname()[1], id=options.id, fingerprint=fingerprint.hex())
        return Link(server.accept()[0], options, ssl.DER_cert_to_PEM_cert(known.peer_certificate))


def main():
    options = parse()
    peer = Peer(accepted(options) if options.accept else Link.dial(options.dial, options), options)
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


if __name__ == "__main__":
    main()
