import Foundation
import Testing

extension Interop {
    /// Tests an IPv6-only client and an IPv4-only server behind a router. The router runs a NAT64 translator (tayga)
    /// with DNS64 (unbound).
    @Suite(
        "Translation by tayga",
        .enabled(if: TranslatedNetwork.isPossible || Interop.mustRun, "no namespaces, ip(8), unbound or tayga"))
    struct TranslationTests {
        enum Kind: String, CaseIterable, Sendable {
            case tcp, udp, tls

            func arguments(_ files: TLSFiles) -> [String] {
                switch self {
                case .tcp: []
                case .udp: ["-u"]
                case .tls: ["--tls", "--ca", files.certificate("root"), "--server-name", "server.test"]
                }
            }

            var port: String {
                switch self {
                case .tcp: "7000"
                case .udp: "7001"
                case .tls: "7002"
                }
            }
        }

        @Test(
            "The server is reached by its address and by its name", arguments: Kind.allCases,
            [TranslatedNetwork.server4, "four.made.example", "plain.made.example"])
        func reaches(_ kind: Kind, _ host: String) async throws {
            let files = try await TLSFiles.shared
            try await TranslatedNetwork.run(files) { network, _, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["cat", "-v", "-w", "15"] + kind.arguments(files) + [host, kind.port],
                    on: network.hosts.near, input: .held)
                try await eventually("connected: \(nw.errors)") { nw.errors.contains("connected to") }
                try nw.write("hello\n")
                try await eventually("the echo arrives: \(nw.errors)") { nw.output == Data("hello\n".utf8) }
                #expect(nw.errors.contains("connected to [\(network.prefix)a4d:1402]:\(kind.port)"), "\(nw.errors)")
            }
        }

        @Test("An IPv4 address is pinged, traced, scanned and looked up over the path that connections use")
        func tools() async throws {
            let files = try await TLSFiles.shared
            try await TranslatedNetwork.run(files) { network, _, scratch in
                let translated = "\(network.prefix)a4d:1402"
                for (arguments, expected) in [
                    (["ping", "-c", "2"], "from \(translated)"), (["trace", "-q", "1"], translated),
                    (["scan", "-p", "7000,7003"], "7000/tcp open"), (["resolve"], translated),
                ] {
                    let nw = try scratch.start(
                        try Built.nw(), arguments + [TranslatedNetwork.server4], on: network.hosts.near)
                    #expect(try await nw.finished() == 0, "\(arguments): \(nw.errors)")
                    let text = String(decoding: nw.output, as: UTF8.self)
                    #expect(text.contains(expected), "\(arguments): \(text)")
                }
                let plain = try scratch.start(
                    try Built.nw(), ["ping", "-4", "-c", "1", TranslatedNetwork.server4], on: network.hosts.near)
                #expect(try await plain.finished() == 1)
            }
        }

        @Test("The translator is discovered again in another network")
        func rediscovers() async throws {
            let files = try await TLSFiles.shared
            try await TranslatedNetwork.run(files) { network, nameServer, scratch in
                // Add a route that makes all addresses of the old NAT64 translator unreachable.
                try network.hosts.farIP("-6 route add unreachable \(network.prefix)/96 metric 1")
                let status = try scratch.start(
                    try Built.nw(), ["status", TranslatedNetwork.server4, "7000", "--connect", "--json"],
                    on: network.hosts.near)
                func printed(_ word: String) -> Bool { String(decoding: status.output, as: UTF8.self).contains(word) }
                try await eventually("the connection waits: \(status.errors)") { printed("waiting") }
                #expect(!printed("ready"))
                try await network.move(scratch, from: nameServer)
                try await eventually("connected through the other translator: \(status.output)") { printed("ready") }
            }
        }

        /// Sends the same router advertisement as radvd. It contains the NAT64 prefix with a lifetime of ten minutes.
        /// Its sender is not a default router.
        private static let advertise = """
            import socket, struct, sys
            s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            option = struct.pack("!BBH", 38, 2, 600) + socket.inet_pton(socket.AF_INET6, sys.argv[2])[:12]
            head = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 0, 0, 0)
            s.sendto(head + option, ("ff02::1", 0, 0, socket.if_nametoindex(sys.argv[1])))
            """

        @Test("Without DNS64, the translator is discovered from router advertisements (RFC 8781)")
        func advertised() async throws {
            let files = try await TLSFiles.shared
            try await TranslatedNetwork.run(files) { network, nameServer, scratch in
                nameServer.kill()
                _ = try await nameServer.finished()
                let status = try scratch.start(
                    try Built.nw(), ["status", TranslatedNetwork.server4, "7000", "--connect", "--json"],
                    on: network.hosts.near)
                func printed(_ word: String) -> Bool { String(decoding: status.output, as: UTF8.self).contains(word) }
                try await eventually("the connection waits: \(status.errors)") { printed("waiting") }
                #expect(!printed("ready"))
                let python = try #require(PythonMember.path, "python3 is not installed")
                let router = try scratch.start(
                    python, ["-c", Self.advertise, TwoHosts.link, network.prefix], on: network.hosts.far)
                #expect(try await router.finished() == 0, "\(router.errors)")
                try await eventually("connected through the translator: \(status.output)") { printed("ready") }
                #expect(printed("\(network.prefix)a4d:1402"), "\(status.output)")
            }
        }
    }
}

/// Three hosts. The near host has only IPv6. The host behind the far host has only IPv4.
struct TranslatedNetwork {
    static let isPossible = TwoHosts.isAvailable && tayga != nil && Unbound.path != nil && Peer.find("socat") != nil
    static let server4 = "10.77.20.2"
    private static let tayga = find("tayga")

    private static func find(_ name: String) -> String? {
        ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let hosts: TwoHosts
    /// The 96-bit prefix of NAT64 addresses.
    let prefix = "2001:db8:64::"
    private static let otherPrefix = "2001:db8:65::"
    private var server: String { "\(hosts.far)-v4" }
    private var folder: URL { URL(filePath: "/etc/netns/\(hosts.near)") }

    static func run(_ files: TLSFiles, _ body: (TranslatedNetwork, Child, Scratch) async throws -> Void) async throws {
        try await TwoHosts.run { hosts, scratch in
            let network = TranslatedNetwork(hosts: hosts)
            defer { network.remove() }
            let nameServer = try await network.make(files, scratch)
            try await body(network, nameServer, scratch)
        }
    }

    private func make(_ files: TLSFiles, _ scratch: Scratch) async throws -> Child {
        try await shell(scratch, Self.steps, server)
        try await startTranslator(scratch, "nat64", prefix, "192.168.64")
        let nameServer = try await startNameServer(scratch, prefix)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("hosts: files dns\n".utf8).write(to: folder.appending(path: "nsswitch.conf"))
        try Data("nameserver \(TwoHosts.far6)\n".utf8).write(to: folder.appending(path: "resolv.conf"))
        let nw = try Built.nw()
        let plain = try scratch.start(nw, ["serve", "echo", "--host", Self.server4, "--port", "7000"], on: server)
        let secure = try scratch.start(
            nw,
            [
                "serve", "echo", "--host", Self.server4, "--port", "7002", "--tls", "--cert", files.certificate("ec"),
                "--key", files.key("ec"),
            ], on: server)
        _ = try scratch.start(
            try #require(Peer.find("socat")), ["UDP4-LISTEN:7001,bind=\(Self.server4),fork", "PIPE"], on: server)
        for child in [plain, secure] { _ = try await child.announcedPort() }
        try await Sockets.waitForDatagramSocket(port: 7_001, on: server)
        return nameServer
    }

    /// Moves the client to another network with another NAT64 translator, and removes the first network.
    ///
    /// - Parameter nameServer: The name server of the first network. Another one replaces it at the same address.
    func move(_ scratch: Scratch, from nameServer: Child) async throws {
        try hosts.farIP("address add 2001:db8:77:9::2/64 dev \(TwoHosts.link) nodad")
        try await startTranslator(scratch, "nat65", Self.otherPrefix, "192.168.65")
        nameServer.kill()
        _ = try await nameServer.finished()
        _ = try await startNameServer(scratch, Self.otherPrefix)
        try hosts.ip("-6 route del default")
        try hosts.ip("address delete 2001:db8:77:8::1/64 dev \(TwoHosts.link)")
        try hosts.ip("address add 2001:db8:77:9::1/64 dev \(TwoHosts.link) nodad")
        try hosts.ip("-6 route add default via 2001:db8:77:9::2")
    }

    private static let steps = """
        ip netns add $3
        ip -n $3 link set lo up
        ip netns exec $3 sysctl -qw net.ipv6.conf.all.disable_ipv6=1
        ip -n $2 link add behind type veth peer name front netns $3
        ip -n $2 addr add 10.77.20.1/24 dev behind
        ip -n $2 link set behind up
        ip -n $3 addr add 10.77.20.2/24 dev front
        ip -n $3 link set front up
        ip -n $3 route add default via 10.77.20.1
        ip netns exec $2 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
        ip -n $2 addr add 2001:db8:77:8::2/64 dev \(TwoHosts.link) nodad
        ip -n $1 addr del \(TwoHosts.near4)/24 dev \(TwoHosts.link)
        ip -n $1 addr add 2001:db8:77:8::1/64 dev \(TwoHosts.link) nodad
        ip -n $1 -6 route add default via 2001:db8:77:8::2
        """

    private func shell(_ scratch: Scratch, _ script: String, _ third: String) async throws {
        let child = try scratch.startProgram("sh", ["-ec", script, "sh", hosts.near, hosts.far, third])
        try #require(try await child.finished() == 0, "\(child.errors)")
    }

    private func startTranslator(
        _ scratch: Scratch, _ device: String, _ prefix: String, _ pool: String
    ) async throws {
        let configuration = try scratch.newFile("conf")
        let text = """
            tun-device \(device)
            ipv4-addr \(pool).1
            prefix \(prefix)/96
            dynamic-pool \(pool).0/24

            """
        try Data(text.utf8).write(to: configuration)
        let script = """
            \(Self.tayga ?? "tayga") -c \(configuration.path) --mktun
            ip link set \(device) up
            ip addr add \(pool).254/32 dev \(device)
            ip route add \(pool).0/24 dev \(device)
            ip -6 route add \(prefix)/96 dev \(device)
            echo made
            exec \(Self.tayga ?? "tayga") -c \(configuration.path) -d
            """
        let child = try scratch.start("/bin/sh", ["-ec", script], on: hosts.far)
        try await eventually("the device is made: \(child.errors)") {
            String(decoding: child.output, as: UTF8.self).contains("made\n")
        }
        // The device has a carrier as long as a program has it open. Before that, it drops all packets.
        try await eventually("tayga runs: \(child.errors)") {
            try HostFile.contents(of: "/sys/class/net/\(device)/carrier", on: hosts.far) == "1\n"
        }
    }

    /// Starts a name server. One name has both IPv4 and IPv6 addresses; another name has only IPv4 addresses. DNS64
    /// synthesizes IPv6 addresses for the second name.
    private func startNameServer(_ scratch: Scratch, _ prefix: String) async throws -> Child {
        let address = TwoHosts.far6
        let made = try Unbound.zone("made.example", "ns AAAA \(address)\nfour A \(Self.server4)\n", in: scratch)
        let arpa = try Unbound.zone("ipv4only.arpa", "@ A 192.0.0.170\n@ A 192.0.0.171\n", in: scratch)
        let settings = """
                dns64-prefix: \(prefix)/96
                local-zone: "plain.made.example." static
                local-data: "plain.made.example. A \(Self.server4)"
            \(made)
            \(arpa)
            """
        return try await Unbound.start(
            on: hosts.far, listeningAt: [address], modules: "dns64 iterator", settings: settings, in: scratch)
    }

    private func remove() {
        try? FileManager.default.removeItem(at: folder)
        let ip = Process()
        ip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        ip.arguments = ["ip", "netns", "delete", server]
        ip.standardError = FileHandle.nullDevice
        try? ip.run()
        ip.waitUntilExit()
    }
}
