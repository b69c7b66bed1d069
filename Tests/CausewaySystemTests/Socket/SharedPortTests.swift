import CausewaySystem
import Testing

@Suite("Socket.bindShared")
struct SharedPortTests {
    private static func any(_ family: SocketAddress.Family, _ port: UInt16) -> SocketAddress {
        family == .ipv4 ? .ipv4(bits: 0, port: port) : .ipv6(high: 0, low: 0, port: port, scope: 0)
    }

    private static func open(_ family: SocketAddress.Family) throws -> Descriptor {
        let socket = try Socket.open(family, .datagram)
        if family == .ipv6 { try Socket.set(.ipv6Only, to: 1, on: socket.rawValue) }
        return socket
    }

    private static func port(of socket: borrowing Descriptor) throws -> UInt16 {
        try #require(Socket.localAddress(socket.rawValue)).port
    }

    @Test("Two sockets share one port; over IPv4 without SO_REUSEPORT", arguments: [SocketAddress.Family.ipv4, .ipv6])
    func shared(_ family: SocketAddress.Family) throws {
        let first = try Self.open(family)
        try Socket.bindShared(first.rawValue, to: Self.any(family, 0))
        let port = try Self.port(of: first)
        let second = try Self.open(family)
        try Socket.bindShared(second.rawValue, to: Self.any(family, port))
        #expect(try Self.port(of: second) == port)
        // The IPv4 sockets must not have SO_REUSEPORT. With it, the kernel may deliver a packet to a socket that has
        // not joined the group.
        let expected = family == .ipv4 ? 0 : 1
        #expect(try Socket.get(.reusePort, of: first.rawValue) == expected)
        #expect(try Socket.get(.reusePort, of: second.rawValue) == expected)
    }

    @Test("A port is shared with a socket that has SO_REUSEPORT only, and not with one that has neither option")
    func insisting() throws {
        let holder = try Self.open(.ipv4)
        try Socket.set(.reusePort, to: 1, on: holder.rawValue)
        try Socket.bind(holder.rawValue, to: Self.any(.ipv4, 0))
        let address = Self.any(.ipv4, try Self.port(of: holder))
        let second = try Self.open(.ipv4)
        try Socket.bindShared(second.rawValue, to: address)
        #expect(try Socket.get(.reusePort, of: second.rawValue) == 1)

        let owner = try Self.open(.ipv4)
        try Socket.bind(owner.rawValue, to: Self.any(.ipv4, 0))
        let taken = Self.any(.ipv4, try Self.port(of: owner))
        let third = try Self.open(.ipv4)
        let error = #expect(throws: SystemError.self) { try Socket.bindShared(third.rawValue, to: taken) }
        #expect(error?.errno == Errno.addressInUse)
    }
}
