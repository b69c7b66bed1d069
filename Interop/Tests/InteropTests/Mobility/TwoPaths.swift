import Foundation
import Testing

/// A client host with two networks to one server host, each in a network namespace, for the duration of a test. No packet leaves them.
///
///     client --(wifi0, 10.77.1.0/24, fd77:1::/64)-- server
///            --(cell0, 10.77.2.0/24, fd77:2::/64)-- server
///
/// The client prefers `wifi0`. The server also has 10.77.9.9 and fd77:9::9 on its loopback interface.
struct TwoPaths: Sendable {
    /// The types of the interfaces.
    static let types = "wifi0=wifi,cell0=cellular,vpn0=other,eth0=ethernet"

    let client: String
    let server: String

    static let isAvailable: Bool = {
        guard TwoHosts.isAvailable else { return false }
        let hosts = TwoPaths()
        defer { hosts.remove() }
        return (try? hosts.make()) != nil
    }()

    private init() {
        let name = "nw-\(getpid())-\(UInt32.random(in: .min ... .max))"
        client = "\(name)-c"
        server = "\(name)-s"
    }

    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (TwoPaths, Scratch) async throws -> Void
    ) async throws {
        let hosts = TwoPaths()
        defer { hosts.remove() }
        try hosts.make()
        try await Scratch.run { scratch in try await body(hosts, scratch) }
    }

    /// Runs ip(8) commands on a host as a batch.
    func ip(_ commands: [String], on host: String) throws {
        // In batch mode, ip(8) accepts an address family only for the whole batch. So run one batch for each sequence
        // of commands with the same family.
        var rest = commands[...]
        while let first = rest.first {
            let family = first.hasPrefix("-") ? String(first.prefix(2)) : ""
            let batch = rest.prefix { family.isEmpty ? !$0.hasPrefix("-") : $0.hasPrefix(family) }
            rest = rest.dropFirst(batch.count)
            let lines = batch.map { $0.dropFirst(family.count) + "\n" }.joined()
            try Self.run(["ip"] + (family.isEmpty ? [] : [family]) + ["-n", host, "-batch", "-"], input: lines)
        }
    }

    /// Starts `nw` on a host.
    func start(_ arguments: [String], on host: String, in scratch: Scratch) throws -> Child {
        try scratch.start(
            "/usr/bin/env", ["CAUSEWAY_INTERFACES=\(Self.types)", try Built.nw()] + arguments, on: host)
    }

    private func make() throws {
        for host in [client, server] {
            try Self.run(["ip", "netns", "add", host])
            // Disable duplicate address detection, so that addresses are usable at once. Disable reverse path
            // filtering, so that replies may leave over either link.
            let settings = [
                "ipv6.conf.all.accept_dad", "ipv6.conf.default.accept_dad", "ipv4.conf.all.rp_filter",
                "ipv4.conf.default.rp_filter",
            ]
            try Self.run(["ip", "netns", "exec", host, "sysctl", "-qw"] + settings.map { "net.\($0)=0" })
        }
        var commands = ["link set lo up"]
        for (number, link) in [(1, "wifi0"), (2, "cell0")] {
            commands.append("link add \(link) type veth peer name to-\(link) netns \(server)")
            commands.append("addr add 10.77.\(number).2/24 dev \(link)")
            commands.append("addr add fd77:\(number)::2/64 dev \(link) nodad")
        }
        try ip(commands, on: client)
        try ip(
            ["link set lo up", "addr add 10.77.9.9/32 dev lo", "addr add fd77:9::9/128 dev lo nodad"]
                + [(1, "wifi0"), (2, "cell0")].flatMap { number, link in
                    [
                        "addr add 10.77.\(number).1/24 dev to-\(link)",
                        "addr add fd77:\(number)::1/64 dev to-\(link) nodad",
                        "link set to-\(link) up",
                    ]
                }, on: server)
        try ip(["link set wifi0 up", "link set cell0 up"], on: client)
        try settle()
        try ip([(1, "wifi0"), (2, "cell0")].flatMap { Self.defaultRoutes($0, $1) }, on: client)
    }

    static func defaultRoutes(_ number: Int, _ link: String) -> [String] {
        [
            "route add default via 10.77.\(number).1 dev \(link) metric \(number)00",
            "-6 route add default via fd77:\(number)::1 dev \(link) metric \(number)00",
        ]
    }

    /// Waits until new links are ready. The kernel first adds link-local addresses and looks for routers.
    private func settle() throws {
        for link in ["wifi0", "cell0"] {
            for _ in 0..<200 {
                let listed = try Self.run(["ip", "-n", client, "-6", "addr", "show", "dev", link, "scope", "link"])
                let routes = try Self.run(["ip", "-n", client, "-6", "route", "show", "dev", link])
                if listed.contains("fe80"), !listed.contains("tentative"), routes.contains("fd77") { break }
                usleep(10_000)
            }
        }
    }

    private func remove() {
        for host in [client, server] { _ = try? Self.run(["ip", "netns", "delete", host]) }
    }

    @discardableResult
    private static func run(_ words: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let (standardInput, output) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NeverHappened(description: "'\(words.joined(separator: " "))' succeeds with \(input)")
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A line that `nw path --watch --json` or `nw status --connect --json` printed.
private struct PrintedEvent: Decodable {
    struct Path: Decodable {
        var status: String
        var interfaces: [String]
        var isExpensive: Bool
        var supportsIPv4: Bool
        var supportsIPv6: Bool
    }

    var event: String
    var value: String?
    var path: Path?

    /// Returns the event as text, for example `viable true` or `state waiting: Network is down`.
    ///
    /// For a monitor, a path looks like `path wifi0,cell0 46$`: the interfaces, the IP versions, and `$` if the path is
    /// expensive. For a connection, it looks like `path wifi0`. If no route leads over the interface, it looks like
    /// `path none wifi0`.
    func text(ofMonitor: Bool) -> String {
        guard let path else { return "\(event) \(value ?? "")" }
        let names = path.interfaces.joined(separator: ",")
        guard path.status == "satisfied" else { return names.isEmpty ? "path none" : "path none \(names)" }
        guard ofMonitor else { return "path \(names)" }
        return
            "path \(names) \(path.supportsIPv4 ? "4" : "")\(path.supportsIPv6 ? "6" : "")\(path.isExpensive ? "$" : "")"
    }
}

extension Child {
    /// Returns all events so far, in order.
    func events(ofMonitor: Bool) throws -> [String] {
        // Drop the text after the last line end. It may be the start of a line that is not complete yet.
        let lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return try lines.map { try JSONDecoder().decode(PrintedEvent.self, from: Data($0)).text(ofMonitor: ofMonitor) }
    }
}
