import CausewayTypes
import CausewayWire
import Foundation
import Testing

@testable import CausewaySystem

@Suite("Resolver files")
struct NetworkResolverTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let configuration: String?
        var forwarder: String?
        let servers: [UInt32]
        var testDescription: String { name }
    }

    private static let stub = "nameserver 127.0.0.53\nsearch corp.example\n"

    static let rows: [Row] = [
        Row(name: "no file", configuration: nil, servers: []),
        Row(name: "no servers", configuration: "search corp.example\n", forwarder: "nameserver 192.0.2.1", servers: []),
        Row(
            name: "servers given directly", configuration: "nameserver 192.0.2.1\nsearch corp.example",
            forwarder: "nameserver 192.0.2.9", servers: [0xC000_0201]),
        Row(
            name: "a forwarder with servers", configuration: stub,
            forwarder: "nameserver 192.0.2.1\nnameserver 192.0.2.2\nsearch other.example",
            servers: [0xC000_0201, 0xC000_0202]),
        Row(name: "a forwarder whose file is missing", configuration: stub, servers: [0x7F00_0035]),
        Row(name: "a forwarder without servers", configuration: stub, forwarder: "# none\n", servers: []),
        Row(
            name: "a forwarder next to a server", configuration: stub + "nameserver 192.0.2.7",
            forwarder: "nameserver 192.0.2.1", servers: [0x7F00_0035, 0xC000_0207]),
        Row(
            name: "another local server", configuration: "nameserver 127.0.0.1", forwarder: "nameserver 192.0.2.1",
            servers: [0x7F00_0001]),
    ]

    @Test("The effective name servers", arguments: rows)
    func servers(_ row: Row) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let paths = ["resolv.conf", "forwarder.conf"].map { directory.appendingPathComponent($0) }
        for (path, text) in zip(paths, [row.configuration, row.forwarder]) {
            if let text { try Data(text.utf8).write(to: path) }
        }

        let state = ResolverState.current(configurationPath: paths[0].path, forwarderPath: paths[1].path)
        #expect(state.servers == row.servers.map { .ipv4(IPv4Address(bits: $0)) })
        // In every test case, the configuration for queries must come from the first file.
        #expect(state.configuration == ResolverConfiguration(parsing: row.configuration ?? ""))
    }

    @Test("A zone with an interface name becomes the server's scope")
    func zones() throws {
        let loopback = try #require(NWInterface(name: "lo"))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data("nameserver fe80::1%lo\nnameserver fe80::2%\(loopback.index)\nnameserver fe80::3%no-such-one".utf8)
            .write(to: path)
        let state = ResolverState.current(configurationPath: path.path, forwarderPath: "/nonexistent")
        #expect(
            state.servers == [
                .ipv6(IPv6Address(high: 0xFE80 << 48, low: 1, interface: loopback)),
                .ipv6(IPv6Address(high: 0xFE80 << 48, low: 2, interface: loopback)),
                .ipv6(IPv6Address(high: 0xFE80 << 48, low: 3)),
            ])
    }

    @Test("Files are read completely up to a limit, and directories are not read")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(repeating: 0x61, count: 10_000).write(to: path)
        #expect(SmallFile.text(path.path)?.utf8.count == 10_000)
        try Data(repeating: 0x61, count: SmallFile.limit + 1).write(to: path)
        #expect(SmallFile.text(path.path)?.utf8.count == SmallFile.limit)
        try Data([0x61, 0xFF]).write(to: path)
        #expect(SmallFile.text(path.path) == "a\u{FFFD}")
        #expect(SmallFile.text("/") == nil)
        #expect(SmallFile.text(path.path + ".absent") == nil)
    }
}
