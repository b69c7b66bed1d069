import Foundation
import Testing

/// Two hosts on one link, each in a network namespace, for the duration of a test. No packet leaves them.
struct TwoHosts: Sendable {
    /// The addresses of both hosts. The near host runs `nw`. The far host has two addresses in each family.
    static let near4 = "10.77.8.1"
    static let near6 = "fd77:8::1"
    static let far4 = "10.77.8.2"
    static let far6 = "fd77:8::2"
    static let other4 = "10.77.8.3"
    static let other6 = "fd77:8::3"
    /// The name of the link on both hosts.
    static let link = "nwlink"

    let near: String
    let far: String

    /// Whether network namespaces can be created here: that needs root, ip(8), and a kernel and sandbox that allow it.
    static let isAvailable: Bool = {
        guard geteuid() == 0, Peer.find("ip") != nil else { return false }
        let hosts = TwoHosts()
        defer { hosts.remove() }
        return (try? hosts.make()) != nil
    }()

    private init() {
        let name = "nw-\(getpid())-\(UInt32.random(in: .min ... .max))"
        near = "\(name)-a"
        far = "\(name)-b"
    }

    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (TwoHosts, Scratch) async throws -> Void
    ) async throws {
        let hosts = TwoHosts()
        defer { hosts.remove() }
        try hosts.make()
        try await Scratch.run { scratch in try await body(hosts, scratch) }
    }

    /// Runs ip(8) on the near host.
    func ip(_ words: String) throws { try Self.ip("-n \(near) \(words)") }

    /// Runs ip(8) on the far host.
    func farIP(_ words: String) throws { try Self.ip("-n \(far) \(words)") }

    private func make() throws {
        for host in [near, far] {
            try Self.ip("netns add \(host)")
            try Self.ip("-n \(host) link set lo up")
            // Make addresses usable at once. Make streams use ECN if the peer does.
            try Self.command("ip netns exec \(host) sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv4.tcp_ecn=1")
        }
        try Self.ip("-n \(near) link add \(Self.link) type veth peer name \(Self.link) netns \(far)")
        for (host, addresses) in [
            (near, ["\(Self.near4)/24", "\(Self.near6)/64 nodad"]),
            (far, ["\(Self.far4)/24", "\(Self.other4)/24", "\(Self.far6)/64 nodad", "\(Self.other6)/64 nodad"]),
        ] {
            for address in addresses { try Self.ip("-n \(host) address add \(address) dev \(Self.link)") }
            try Self.ip("-n \(host) link set \(Self.link) up")
        }
        for host in [near, far] { try Self.waitForIPv6(on: host) }
    }

    /// Waits until a new link carries IPv6. The kernel adds the IPv6 routes only after it has detected the link's
    /// carrier signal.
    private static func waitForIPv6(on host: String) throws {
        for _ in 0..<200 {
            if (try? ip("-n \(host) -6 route get ff05::77:7")) != nil { return }
            usleep(20_000)
        }
        throw NeverHappened(description: "\(host) has IPv6 routes")
    }

    private func remove() {
        for host in [near, far] { try? Self.ip("netns delete \(host)") }
    }

    private static func ip(_ words: String) throws { try command("ip \(words)") }

    private static func command(_ words: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words.split(separator: " ").map(String.init)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NeverHappened(description: "'\(words)' succeeds") }
    }
}

/// Reads files of the kernel as a host sees them.
enum HostFile {
    static func contents(of path: String, on host: String) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip", "netns", "exec", host, "cat", path]
        process.standardOutput = pipe
        try process.run()
        process.waitUntilExit()
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

extension Sockets {
    /// Waits until a program on a host has a UDP port of IPv4.
    static func waitForDatagramSocket(port: UInt16, on host: String) async throws {
        let digits = String(port, radix: 16, uppercase: true)
        let place = ":" + String(repeating: "0", count: 4 - digits.count) + digits + " "
        try await eventually("a program has UDP port \(port)") {
            try HostFile.contents(of: "/proc/net/udp", on: host).contains(place)
        }
    }
}

extension Scratch {
    /// Starts a program on one of two hosts.
    func start(
        _ program: String, _ arguments: [String], on host: String, input: Child.Input = .nothing
    ) throws -> Child {
        let ip = try #require(Peer.find("ip"), "ip is not installed")
        return try startProgram(ip, ["netns", "exec", host, program] + arguments, input: input)
    }

    /// Starts `nw group`, and waits until the program has joined the group.
    func startGroup(_ arguments: [String], on host: String, input: Child.Input = .nothing) async throws -> Child {
        let group = try start(try Built.nw(), ["group", "-v"] + arguments, on: host, input: input)
        try await eventually("nw joins \(arguments)") { group.errors.contains("nw: group: ready") }
        return group
    }
}
