import Foundation
import Testing

extension Interop {
    /// Tests the packet commands of `nw` on a link between two hosts.
    @Suite("Packets on a link", .enabled(if: TwoHosts.isAvailable, "no namespaces"))
    struct PacketSendTests {
        private static func text(_ child: Child) -> String { String(decoding: child.output, as: UTF8.self) }

        /// Prints the sender and the content of the first datagram for an address.
        private static let receiver = """
            import socket, sys
            host = sys.argv[1]
            s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
            s.bind((host, 7777))
            print("ready", flush=True)
            data, peer = s.recvfrom(2048)
            print(data.decode(), "from", peer[0], flush=True)
            """

        @Test(
            "A generated packet has the source address of its route, and a correct checksum",
            arguments: [(TwoHosts.far4, TwoHosts.near4), (TwoHosts.far6, TwoHosts.near6)])
        func source(_ target: String, _ expected: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let python = try #require(Peer.find("python3"), "python3 is not installed")
                let server = try scratch.start(python, ["-c", Self.receiver, target], on: hosts.far)
                try await server.prints("ready\n")
                let place = target.contains(":") ? "[\(target)]:7777" : "\(target):7777"
                let nw = try scratch.start(
                    try Built.nw(), ["packet", "udp", place, "--data", "Hello", "--send"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                try await eventually("the datagram arrives") { Self.text(server).contains("Hello from \(expected)") }
            }
        }

        @Test("Without a route and without a source address, nothing is sent")
        func noRoute() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["packet", "tcp", "198.51.100.7:80", "--send"], on: hosts.near)
                #expect(try await nw.finished() == 1)
                #expect(nw.errors.contains("no route to 198.51.100.7"), "\(nw.errors)")
                let trace = try scratch.start(try Built.nw(), ["trace", "198.51.100.7"], on: hosts.near)
                #expect(try await trace.finished() == 1)
                #expect(trace.errors.contains("cannot send to 198.51.100.7"), "\(trace.errors)")
            }
        }

        @Test("An ARP request has the interface's own addresses, so that it is answered")
        func question() async throws {
            try await TwoHosts.run { hosts, scratch in
                let capture = try scratch.start(
                    try Built.nw(), ["capture", "-i", TwoHosts.link, "-t", "-c", "1", "arp[6:2] = 2"], on: hosts.near)
                try await eventually("the capture begins") { capture.errors.contains("listening") }
                let nw = try scratch.start(
                    try Built.nw(), ["packet", "arp", TwoHosts.far4, "--interface", TwoHosts.link, "--send"],
                    on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                #expect(Self.text(capture).hasPrefix("ARP, Reply \(TwoHosts.far4) is-at "), "\(Self.text(capture))")
                #expect(Self.text(nw).contains("tell \(TwoHosts.near4)"), "\(Self.text(nw))")
            }
        }

        @Test(
            "A network scan probes only the ports of hosts that are present", arguments: ["--syn", "--connect"])
        func discovery(_ technique: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["scan", technique, "--json", "10.77.8.0/29"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let lines = try Self.text(nw).split(separator: "\n").map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
                let down = lines.filter { $0["state"] as? String == "down" }.compactMap { $0["address"] as? String }
                let asked = lines.filter { $0["state"] == nil }.compactMap { $0["address"] as? String }
                #expect(asked == [TwoHosts.near4, TwoHosts.far4, TwoHosts.other4])
                #expect(down == ["10.77.8.0", "10.77.8.4", "10.77.8.5", "10.77.8.6", "10.77.8.7"])
                let all = try scratch.start(
                    try Built.nw(), ["scan", technique, "--no-discovery", "-p", "80", "--json", "10.77.8.2-5"],
                    on: hosts.near)
                #expect(try await all.finished() == 0, "\(all.errors)")
                #expect(Self.text(all).split(separator: "\n").count == 4 && !Self.text(all).contains("\"down\""))
            }
        }

        @Test("A broadcast address is derived from the mask of the named interface")
        func broadcast() async throws {
            try await TwoHosts.run { hosts, scratch in
                let capture = try scratch.start(
                    try Built.nw(),
                    ["capture", "-i", TwoHosts.link, "-t", "-c", "1", "ip broadcast and udp port 7778"], on: hosts.far)
                try await eventually("the capture begins: \(capture.errors)") {
                    capture.errors.contains("listening")
                }
                for target in [TwoHosts.far4, "10.77.8.255"] {
                    let nw = try scratch.start(
                        try Built.nw(), ["packet", "udp", "\(target):7778", "--send"], on: hosts.near)
                    #expect(try await nw.finished() == 0, "\(nw.errors)")
                }
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                #expect(Self.text(capture).contains("> 10.77.8.255.7778"), "\(Self.text(capture))")
            }
        }

        private static let sender = """
            import socket
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for n in range(20): s.sendto(b"%d" % n, ("\(TwoHosts.far4)", 7779))
            """

        @Test("Packets captured before an interrupt are kept", arguments: 0..<5)
        func interrupt(_ round: Int) async throws {
            try await TwoHosts.run { hosts, scratch in
                let file = scratch.directory.appendingPathComponent("last.pcap").path
                let capture = try scratch.start(
                    try Built.nw(), ["capture", "-i", TwoHosts.link, "-w", file, "udp port 7779"], on: hosts.near)
                try await eventually("the capture begins") { capture.errors.contains("listening") }
                let python = try #require(Peer.find("python3"), "python3 is not installed")
                let sender = try scratch.start(python, ["-c", Self.sender], on: hosts.near)
                #expect(try await sender.finished() == 0, "\(sender.errors)")
                try capture.interrupt()
                _ = try await capture.finished()
                #expect(capture.errors.contains("20 packets captured"), "\(capture.errors)")
            }
        }

        @Test("A reader that closes the pipe early is not a failure", arguments: [[], ["--json"]])
        func head(_ options: [String]) async throws {
            try await Scratch.run { scratch in
                let file = try scratch.newFile("pcap")
                var content: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8)
                content += [0, 0, 4, 0, 101, 0, 0, 0]
                let record: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 20, 0, 0, 0, 0x45, 0, 0, 20]
                let packet = record + [0, 0, 0, 0, 64, 59, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]
                for _ in 0..<20_000 { content += packet }
                try Data(content).write(to: file)
                let command = "\"$0\" read \(options.joined(separator: " ")) \"$1\" | head -n 1"
                let shell = try scratch.startProgram("sh", ["-c", command, try Built.nw(), file.path])
                #expect(try await shell.finished() == 0)
                #expect(shell.errors.isEmpty, "\(shell.errors)")
                #expect(Self.text(shell).split(separator: "\n").count == 1)
            }
        }
    }
}
