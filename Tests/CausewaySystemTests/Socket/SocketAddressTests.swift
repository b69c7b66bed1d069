import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Testing

@Suite("Socket address")
struct SocketAddressTests {
    static let loopbacks: [SocketAddress] = [
        .ipv4(bits: 0x7f00_0001, port: 0), .ipv6(high: 0, low: 1, port: 0, scope: 0),
    ]

    @Test(
        "An internet address round-trips through the kernel, with the assigned port", arguments: loopbacks
    )
    func internetRoundTrip(_ address: SocketAddress) throws {
        let socket = try Socket.open(address.family, .datagram)
        try Socket.bind(socket.rawValue, to: address)
        let bound = try #require(Socket.localAddress(socket.rawValue))
        #expect(bound.port != 0)
        switch (address, bound) {
        case (.ipv4(let bits, _), .ipv4(let boundBits, _)): #expect(bits == boundBits)
        case (.ipv6(let high, let low, _, let scope), .ipv6(let boundHigh, let boundLow, _, let boundScope)):
            #expect(high == boundHigh && low == boundLow && scope == boundScope)
        default: Issue.record("another family: \(bound)")
        }
        // Binding a second socket to this address and port fails.
        let second = try Socket.open(address.family, .datagram)
        #expect(throws: SystemError(errno: EADDRINUSE, call: "bind")) { try Socket.bind(second.rawValue, to: bound) }
        // The client's peer address is the address to which the client is connected.
        let client = try Socket.open(address.family, .datagram)
        #expect(try Socket.connect(client.rawValue, to: bound))
        #expect(Socket.peerAddress(client.rawValue) == bound)
        #expect(Socket.peerAddress(socket.rawValue) == nil)
    }

    struct PathRow: CustomTestStringConvertible {
        var name: String
        var path: String
        var testDescription: String { name }
    }

    static let paths = [
        PathRow(name: "short", path: "s"), PathRow(name: "with space and beyond ASCII", path: "søck et 🚦"),
        PathRow(name: "the maximum length", path: String(repeating: "x", count: 60)),
    ]

    @Test("A path round-trips through the kernel", arguments: paths)
    func pathRoundTrip(_ row: PathRow) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cw-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let address = SocketAddress.unix(path: folder.appending(path: row.path).path())
        let plain = SocketAddress.unix(path: folder.path + "/" + row.path)
        let socket = try Socket.open(.unix, .stream)
        try Socket.bind(socket.rawValue, to: plain)
        #expect(Socket.localAddress(socket.rawValue) == plain && plain.port == 0 && address.family == .unix)
    }

    @Test("A name in the abstract namespace keeps its leading zero and creates no file")
    func abstractName() throws {
        let address = SocketAddress.unix(path: "\0causeway-\(UInt64.random(in: 0 ... .max))")
        let socket = try Socket.open(.unix, .stream)
        try Socket.bind(socket.rawValue, to: address)
        #expect(Socket.localAddress(socket.rawValue) == address)
        try Socket.listen(socket.rawValue, backlog: 1)
        let client = try Socket.open(.unix, .stream)
        #expect(try Socket.connect(client.rawValue, to: address))
        #expect(Socket.peerAddress(client.rawValue) == address)
    }

    @Test(
        "An empty path, and one that is too long, are refused",
        arguments: [(108, ENAMETOOLONG), (4_000, ENAMETOOLONG), (0, EINVAL)])
    func badPaths(_ length: Int, _ code: CInt) throws {
        let socket = try Socket.open(.unix, .stream)
        let path = String(repeating: "x", count: length)
        #expect(throws: SystemError(errno: code, call: "socket path")) {
            try Socket.bind(socket.rawValue, to: .unix(path: path))
        }
    }

    static let mappings: [(SocketAddress, SocketAddress)] = [
        (.ipv4(bits: 0x7f00_0001, port: 80), .ipv6(high: 0, low: 0xffff_7f00_0001, port: 80, scope: 0)),
        (.ipv4(bits: 0, port: 0), .ipv6(high: 0, low: 0xffff_0000_0000, port: 0, scope: 0)),
        (.ipv4(bits: .max, port: .max), .ipv6(high: 0, low: 0xffff_ffff_ffff, port: .max, scope: 0)),
    ]

    @Test("An IPv4 peer of a dual-stack socket (RFC 4291 §2.5.5.2)", arguments: mappings)
    func mapped(_ plain: SocketAddress, _ mapped: SocketAddress) {
        #expect(plain.mapped == mapped && mapped.unmapped == plain)
        #expect(mapped.mapped == mapped && plain.unmapped == plain)
    }

    static let unmappable: [SocketAddress] = [
        .ipv6(high: 0, low: 1, port: 1, scope: 0), .ipv6(high: 1, low: 0xffff_7f00_0001, port: 1, scope: 0),
        .ipv6(high: 0, low: 0x1_ffff_7f00_0001, port: 1, scope: 0), .unix(path: "x"),
    ]

    @Test("Other addresses are unchanged", arguments: unmappable)
    func notMapped(_ address: SocketAddress) { #expect(address.unmapped == address && address.mapped == address) }

    @Test("Only link-local and multicast addresses keep their interface (RFC 4007 §5)")
    func scopes() throws {
        let loopback = try #require(NWInterface(name: "lo"))
        func scope(_ text: String) throws -> UInt32 {
            let address = try #require(IPv6Address(text))
            let scoped = IPv6Address(high: address.high, low: address.low, interface: loopback)
            guard case .ipv6(_, _, 7, let scope) = SocketAddress(scoped, port: 7) else { return .max }
            return scope
        }
        #expect(try scope("fe80::1") == UInt32(loopback.index))
        #expect(try scope("ff02::fb") == UInt32(loopback.index))
        #expect(try scope("2001:db8::1") == 0)
        #expect(SocketAddress(try #require(IPv4Address("127.0.0.1")), port: 7) == .ipv4(bits: 0x7f00_0001, port: 7))
    }
}
