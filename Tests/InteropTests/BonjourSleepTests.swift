import Foundation
import Testing

extension Interop {
    /// The machine's sleep, as logind tells of it. logind is a program of this test on a bus of its own: the machine stays awake.
    @Suite(
        "Bonjour and sleep",
        .enabled(if: TwoHosts.isAvailable && PythonMember.path != nil, "needs root, ip and python3"))
    struct BonjourSleepTests {
        @Test("C62 C109: before sleep services say goodbye and are silent; on waking they are found again")
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
    }
}

/// As much of a message bus as a client needs that wants to hear of sleep, with logind on it.
private enum FakeLogind {
    /// Listens at the path that is its argument, and tells of sleep what stands on its input.
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
