import Foundation
import Testing

extension Interop {
    /// Tests packets on the link, as seen by a program that uses Python's socket module.
    @Suite("Bonjour on the wire", .enabled(if: TwoHosts.isAvailable, "needs root, ip and python3"))
    struct MulticastWireTests {
        private static let type = "_nwwire._tcp"
        private static let otherLink = "nwother"

        @Test("C8: queries are sent from port 5353 to both groups, and answers to both are received")
        func bothGroups() async throws {
            try await TwoHosts.run { hosts, scratch in
                let watcher = try await Self.watch([TwoHosts.link], on: hosts.far, scratch)
                let nw = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.near)
                try await eventually("queries for both families: \(watcher.text)") {
                    watcher.text.contains("\(TwoHosts.link) 4 5353 question")
                        && watcher.text.contains("\(TwoHosts.link) 6 5353 question")
                }
                for family in ["4", "6"] {
                    _ = try scratch.start(
                        "/usr/bin/python3", ["-c", Self.telling, family, TwoHosts.link], on: hosts.far)
                }
                try await eventually("both are received: \(nw.text)") {
                    nw.text.contains("+ by4 ") && nw.text.contains("+ by6 ")
                }
            }
        }

        @Test(
            "C7: if another program uses the port exclusively, services are found anyway, but none can be registered"
        )
        func oneShot() async throws {
            try await TwoHosts.run { hosts, scratch in
                let holder = try scratch.start("/usr/bin/python3", ["-u", "-c", Self.holding], on: hosts.near)
                try await eventually("the port is taken: \(holder.errors)") { holder.text.contains("ready") }
                let far = try scratch.start(try Built.nw(), ["register", "Far", Self.type, "9"], on: hosts.far)
                try await far.prints("registered as Far\n")
                let watcher = try await Self.watch([TwoHosts.link], on: hosts.far, scratch)
                let browser = try scratch.start(try Built.nw(), ["browse", Self.type, "--first"], on: hosts.near)
                #expect(try await browser.finished() == 0, "\(browser.errors)")
                #expect(browser.text.hasPrefix("+ Far "))
                let questions = watcher.text.split(separator: "\n").filter { $0.contains(" question ") }
                #expect(!questions.isEmpty && questions.allSatisfy { !$0.contains(" 5353 ") })
                let registrar = try scratch.start(try Built.nw(), ["register", "Near", Self.type, "9"], on: hosts.near)
                #expect(try await registrar.finished() == 1)
                #expect(registrar.errors.contains("uses UDP port 5353 exclusively"), "\(registrar.errors)")
                let doctor = try scratch.start(try Built.nw(), ["doctor", "-t", "0.5"], on: hosts.near)
                #expect(try await doctor.finished() == 1)
                #expect(doctor.text.contains("UDP port 5353 is used exclusively by "), "\(doctor.text)")
            }
        }

        @Test(
            "C49: everything is probed and announced at the start, after a link outage, and for a new address")
        func changes() async throws {
            try await TwoHosts.run { hosts, scratch in
                let watcher = try await Self.watch([TwoHosts.link], on: hosts.far, scratch)
                func count(_ what: String) -> Int {
                    watcher.text.split(separator: "\n").count { $0.hasPrefix("\(TwoHosts.link) 4 5353 \(what)") }
                }
                _ = try scratch.start(try Built.nw(), ["register", "Wire", Self.type, "9"], on: hosts.near)
                try await eventually("it is announced: \(watcher.text)") { count("answer") >= 2 }
                #expect(count("probe") == 3)
                try hosts.ip("link set \(TwoHosts.link) down")
                try await Task.sleep(for: .milliseconds(300))
                let before = count("answer")
                try hosts.ip("link set \(TwoHosts.link) up")
                try await eventually("it is probed and announced again: \(watcher.text)") {
                    count("probe") >= 6 && count("answer") >= before + 2
                }
                try hosts.ip("address add 10.77.8.77/24 dev \(TwoHosts.link)")
                try await eventually("the new address is announced") {
                    watcher.text.split(separator: "\n").contains { $0.contains(" answer ") && $0.contains("0a4d084d") }
                }
            }
        }

        @Test("C70: on each interface, the host's name has the addresses of that interface and is defended")
        func interfaces() async throws {
            try await TwoHosts.run { hosts, scratch in
                try hosts.ip("link add \(Self.otherLink) type veth peer name \(Self.otherLink) netns \(hosts.far)")
                try hosts.ip("address add 10.77.9.1/24 dev \(Self.otherLink)")
                try hosts.farIP("address add 10.77.9.2/24 dev \(Self.otherLink)")
                try hosts.ip("link set \(Self.otherLink) up")
                try hosts.farIP("link set \(Self.otherLink) up")
                let watcher = try await Self.watch([TwoHosts.link, Self.otherLink], on: hosts.far, scratch)
                let nw = try scratch.start(try Built.nw(), ["register", "Wire", Self.type, "9"], on: hosts.near)
                try await eventually("it is registered") { nw.text.contains("registered as Wire") }
                func answers(_ link: String) -> [Substring] {
                    watcher.text.split(separator: "\n").filter { $0.hasPrefix("\(link) 4 5353 answer") }
                }
                for (link, own, foreign) in [
                    (TwoHosts.link, "0a4d0801", "0a4d0901"), (Self.otherLink, "0a4d0901", "0a4d0801"),
                ] {
                    try await eventually("\(link) has its address announced: \(watcher.text)") {
                        answers(link).contains { $0.contains(own) }
                    }
                    #expect(answers(link).allSatisfy { !$0.contains(foreign) })
                    let before = answers(link).count
                    _ = try scratch.start("/usr/bin/python3", ["-c", Self.claiming, link], on: hosts.far)
                    try await eventually("\(link) receives the defence") {
                        // An announcement also contains the service, whose name is "Wire". So exclude packets with this
                        // name.
                        answers(link).dropFirst(before).contains { $0.contains(own) && !$0.contains("57697265") }
                    }
                }
            }
        }

        private static func watch(_ links: [String], on host: String, _ scratch: Scratch) async throws -> Child {
            let watcher = try scratch.start("/usr/bin/python3", ["-u", "-c", watching] + links, on: host)
            try await eventually("the watcher listens: \(watcher.errors)") { watcher.text.contains("ready") }
            return watcher
        }

        /// A script that prints the link, the family, the port, the type and the bytes of each message.
        private static let watching = """
            import select, socket, struct, sys
            sockets = {}
            for link in sys.argv[1:]:
                index = socket.if_nametoindex(link)
                for family in (4, 6):
                    s = socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, socket.SOCK_DGRAM)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode() + b"\\0")
                    if family == 4:
                        s.bind(("", 5353))
                        group = struct.pack("@4s4si", socket.inet_aton("224.0.0.251"), b"", index)
                        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
                    else:
                        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                        s.bind(("", 5353))
                        group = socket.inet_pton(socket.AF_INET6, "ff02::fb") + struct.pack("@I", index)
                        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
                    sockets[s] = f"{link} {family}"
            print("ready")
            while True:
                for s in select.select(list(sockets), [], [])[0]:
                    data, sender = s.recvfrom(9000)
                    flags, _, _, authorities = struct.unpack("!2x4H2x", data[:12])
                    kind = "answer" if flags & 0x8000 else "probe" if authorities else "question"
                    print(sockets[s], sender[1], kind, data.hex())
            """

        /// A Python script that uses port 5353 exclusively, for IPv4 and IPv6.
        private static let holding = """
            import socket, time
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            s.bind(("::", 5353))
            print("ready")
            time.sleep(36000)
            """

        private static let sending = """
            import socket, struct, sys, time
            def name(text): return b"".join(bytes([len(l)]) + l.encode() for l in text.split(".")) + b"\\0"
            def send(family, link, message):
                index = socket.if_nametoindex(link)
                s = socket.socket(socket.AF_INET if family == "4" else socket.AF_INET6, socket.SOCK_DGRAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == "4":
                    s.bind(("", 5353))
                    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("@4s4si", b"", b"", index))
                    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
                    s.sendto(message, ("224.0.0.251", 5353))
                else:
                    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    s.bind(("", 5353))
                    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
                    s.sendto(message, ("ff02::fb", 5353, 0, index))

            """

        /// A Python program that announces a service over one address family, IPv4 or IPv6.
        private static let telling =
            sending + """
                label = f"by{sys.argv[1]}".encode()
                instance = bytes([len(label)]) + label + name("\(type).local")
                record = name("\(type).local") + struct.pack("!HHIH", 12, 1, 4500, len(instance)) + instance
                send(sys.argv[1], sys.argv[2], struct.pack("!6H", 0, 0x8400, 0, 1, 0, 0) + record)
                """

        /// Sends probes that claim this machine's host name. Both simulated hosts use this name.
        private static let claiming =
            sending + """
                label = socket.gethostname().split(".")[0][:32] or "linux"
                host = name(("linux" if label == "localhost" else label) + ".local")
                record = host + struct.pack("!HHIH", 1, 1, 120, 4) + socket.inet_aton("10.77.200.200")
                # Three probes, as RFC 6762 §8.1 has them: a record that was multicast within 250 ms is not repeated for the first.
                for _ in range(3):
                    send("4", sys.argv[1], struct.pack("!6H", 0, 0, 1, 0, 1, 0) + host + struct.pack("!HH", 255, 1) + record)
                    time.sleep(0.25)
                """
    }
}
