import Foundation
import Testing

extension Interop {
    /// The system's sleep as reported by logind. The logind of these tests is a program on a private bus; the machine stays awake.
    @Suite(
        "Bonjour and sleep",
        .enabled(if: TwoHosts.isAvailable && PythonMember.path != nil, "needs root, ip and python3"))
    struct BonjourSleepTests {
        @Test("C62 C109: services send a goodbye before sleep and are silent; after waking they are found again")
        func sleeps() async throws {
            try await TwoHosts.run { hosts, scratch in
                let place = try scratch.newDirectory("logind").appending(path: "bus").path
                let python = try #require(PythonMember.path)
                let logind = try scratch.start(
                    python, ["-u", "-c", FakeLogind.script, place], on: hosts.near, input: .held)
                try await logind.prints("listening\n")
                let browser = try scratch.start(try Built.nw(), ["browse", "_sleep._tcp"], on: hosts.far)
                let registrar = try scratch.start(
                    "/usr/bin/env",
                    [
                        "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(place)", try Built.nw(), "register", "s", "_sleep._tcp",
                        "9",
                    ],
                    on: hosts.near)
                let line = "s  _sleep._tcp local. [\(TwoHosts.link)]\n"
                try await browser.prints("+ \(line)")
                try await eventually("logind is asked for: \(logind.text)") { logind.text.contains("asked") }
                try logind.write("sleep\n")
                try await browser.prints("+ \(line)- \(line)")
                let query = try scratch.start(
                    try Built.nw(), ["query", "s._sleep._tcp.local", "SRV", "-t", "1.5"], on: hosts.far)
                _ = try await query.finished()
                #expect(query.text == "")
                try logind.write("wake\n")
                try await browser.prints("+ \(line)- \(line)+ \(line)")
                #expect(registrar.errors == "")
            }
        }

        @Test(
            "C108 C109: a sleep proxy receives the host's records instead of a goodbye; a proxy that refuses is not used",
            arguments: [0, 5])
        func proxies(_ code: Int) async throws {
            try await TwoHosts.run { hosts, scratch in
                try hosts.ip("link set \(TwoHosts.link) address 02:00:00:00:77:01")
                let place = try scratch.newDirectory("logind").appending(path: "bus").path
                let python = try #require(PythonMember.path)
                let logind = try scratch.start(
                    python, ["-u", "-c", FakeLogind.script, place], on: hosts.near, input: .held)
                try await logind.prints("listening\n")
                let proxy = try scratch.start(python, ["-u", "-c", FakeSleepProxy.script, "\(code)"], on: hosts.far)
                try await proxy.prints("listening\n")
                let name = "10-35-60-63.1 Proxy"
                let offer = try scratch.start(
                    try Built.nw(), ["register", name, "_sleep-proxy._udp", "\(FakeSleepProxy.port)"], on: hosts.far)
                try await offer.prints("registered as \(name)\n")
                let browser = try scratch.start(try Built.nw(), ["browse", "_sleep._tcp"], on: hosts.far)
                let registrar = try scratch.start(
                    "/usr/bin/env",
                    [
                        "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(place)", try Built.nw(), "register", "--sleep-proxy",
                        "s", "_sleep._tcp", "9",
                    ],
                    on: hosts.near)
                let line = "s  _sleep._tcp local. [\(TwoHosts.link)]\n"
                try await browser.prints("+ \(line)")
                try await eventually("logind is asked for: \(logind.text)") { logind.text.contains("asked") }
                // Wait until the first announcements are over, which contain no EDNS owner option. After this wait, the
                // client has also found the sleep proxy.
                try await Task.sleep(for: .seconds(2))
                #expect(proxy.text == "listening\n")
                try logind.write("sleep\n")
                let given = "update 5 zones 1 lease 86400 owner 020000007701 of the host, s 1\n"
                try await eventually("the proxy is given it: \(proxy.text)") {
                    proxy.text.hasPrefix("listening\n" + given)
                }
                if code == 0 {
                    try await Task.sleep(for: .seconds(2))
                    #expect(browser.text == "+ \(line)")
                } else {
                    try await browser.prints("+ \(line)- \(line)")
                }
                try logind.write("wake\n")
                try await eventually("it says that it is awake: \(proxy.text)") {
                    proxy.text.contains("awake 020000007701, 1 later\n")
                }
                let after = code == 0 ? "+ \(line)" : "+ \(line)- \(line)+ \(line)"
                try await browser.prints(after)
                #expect(proxy.text.components(separatedBy: "update").count == 2, "\(proxy.text)")
                #expect(registrar.errors == "")
            }
        }
    }
}

/// A minimal sleep proxy: accepts or refuses updates, and records wake-ups. It does not answer queries for the sleeping host.
private enum FakeSleepProxy {
    static let port = 47_901

    /// A script that acts as a sleep proxy. Its argument is the response code of its answers.
    static let script = """
        import select, socket, struct, sys

        def name(data, at):
            labels, end = [], None
            while data[at]:
                if data[at] >= 0xC0:
                    end = end or at + 2
                    at = (data[at] & 0x3F) << 8 | data[at + 1]
                    continue
                labels.append(data[at + 1:at + 1 + data[at]])
                at += 1 + data[at]
            return labels, end or at + 1

        def options(data):
            found = {}
            while len(data) >= 4:
                code, count = struct.unpack(">HH", data[:4])
                found[code], data = data[4:4 + count], data[4 + count:]
            return found

        # What each section has, and the options of the last.
        def read(data):
            head = struct.unpack(">6H", data[:12])
            at, records, found = 12, [], {}
            for _ in range(head[2]):
                _, at = name(data, at)
                at += 4
            for section in (3, 4, 5):
                for _ in range(head[section]):
                    labels, at = name(data, at)
                    kind, _, _, count = struct.unpack(">HHIH", data[at:at + 10])
                    if kind == 41: found = options(data[at + 10:at + 10 + count])
                    else: records.append((labels, kind))
                    at += 10 + count
            return head, records, found

        code = int(sys.argv[1])
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("", \(port)))
        link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        link.bind(("", 5353))
        link.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
            socket.inet_aton("224.0.0.251") + socket.inet_aton("\(TwoHosts.far4)"))
        print("listening", flush=True)
        last = None
        while True:
            for ready in select.select([server, link], [], [])[0]:
                data, peer = ready.recvfrom(9000)
                head, records, found = read(data)
                owner = found.get(4)
                if ready is link:
                    if owner and last is not None:
                        print(f"awake {owner[2:8].hex()}, {(owner[1] - last) % 256} later", flush=True)
                    elif owner: print("awake already", flush=True)
                    continue
                last = owner[1]
                lease = struct.unpack(">I", found[2])[0]
                services = sum(1 for labels, kind in records if labels[:1] == [b"s"] and kind == 33)
                hosts = sum(1 for labels, kind in records if kind in (1, 28))
                print(f"update {head[1] >> 11} zones {head[2]} lease {lease} owner {owner[2:8].hex()}"
                    f" of {'the' if hosts > 1 else 'no'} host, s {services}", flush=True)
                granted = b"\\0\\0\\x29\\x05\\xa0\\0\\0\\0\\0\\0\\x08\\0\\x02\\0\\x04" + struct.pack(">I", 600)
                server.sendto(struct.pack(">6H", head[0], 0xA800 | code, 0, 0, 0, 1) + granted, peer)
        """
}

/// Simulates a message bus with logind. It implements only what a client of sleep signals needs.
private enum FakeLogind {
    /// A script that listens at the path in its argument. It emits the sleep signals that it reads from its input.
    static let script = """
        import os, socket, struct, sys, threading

        def message(kind, sender, fields, signature, body):
            rest = b""
            for code, kind_of, value in fields + [(7, b"s", sender), (8, b"g", signature)]:
                rest += b"\\0" * (-len(rest) % 8) + bytes([code, 1]) + kind_of + b"\\0"
                if kind_of == b"g":
                    rest += bytes([len(value)]) + value + b"\\0"
                    continue
                rest += b"\\0" * (-len(rest) % 4)
                rest += struct.pack("<I", value) if kind_of == b"u" else struct.pack("<I", len(value)) + value + b"\\0"
            head = b"l" + bytes([kind, 1, 1]) + struct.pack("<III", len(body), 9, len(rest)) + rest
            return head + b"\\0" * (-len(head) % 8) + body

        def signal(is_beginning):
            fields = [(1, b"o", b"/org/freedesktop/login1"), (2, b"s", b"org.freedesktop.login1.Manager"),
                      (3, b"s", b"PrepareForSleep")]
            return message(4, b":1.5", fields, b"b", struct.pack("<I", is_beginning))

        clients = []
        def serve(client):
            data = b""
            while b"\\n" not in data: data += client.recv(1000)
            client.sendall(b"OK 0123456789abcdef\\r\\n")
            data = data[data.index(b"\\n") + 1:]
            while len(data) < 7: data += client.recv(1000)
            data = data[7:]
            while True:
                while len(data) >= 16:
                    body, serial, rest = struct.unpack("<III", data[4:16])
                    whole = 16 + (rest + 7) // 8 * 8 + body
                    if len(data) < whole: break
                    if b"GetNameOwner" in data[:whole] and b"org.freedesktop.login1" in data[:whole]:
                        name = struct.pack("<I", 4) + b":1.5" + b"\\0"
                        client.sendall(message(2, b"org.freedesktop.DBus", [(5, b"u", serial)], b"s", name))
                        clients.append(client)
                        print("asked", flush=True)
                    data = data[whole:]
                more = client.recv(1000)
                if not more: return
                data += more

        def accept():
            while True: threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1])
        server.listen()
        print("listening", flush=True)
        threading.Thread(target=accept, daemon=True).start()
        for line in sys.stdin:
            for client in clients: client.sendall(signal(line.strip() == "sleep"))
        """
}
