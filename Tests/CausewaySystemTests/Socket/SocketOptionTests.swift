import CausewaySystem
import Testing

@Suite("Socket options")
struct SocketOptionTests {
    struct Row: CustomTestStringConvertible {
        var option: SocketOption
        var family: SocketAddress.Family
        var kind: Socket.Kind
        var value: Int
        /// The value that the kernel is expected to report; `nil` if it equals `value`.
        var result: Int?

        var testDescription: String { "\(option.name) \(family) \(kind)" }
    }

    static let streams: [Row] = [
        Row(option: .reuseAddress, family: .ipv4, kind: .stream, value: 1),
        Row(option: .reusePort, family: .ipv4, kind: .stream, value: 1),
        Row(option: .ipv6Only, family: .ipv6, kind: .stream, value: 1),
        Row(option: .noDelay, family: .ipv4, kind: .stream, value: 1),
        Row(option: .cork, family: .ipv6, kind: .stream, value: 1),
        Row(option: .keepalive, family: .ipv4, kind: .stream, value: 1),
        Row(option: .keepaliveIdle, family: .ipv4, kind: .stream, value: 77),
        Row(option: .keepaliveInterval, family: .ipv6, kind: .stream, value: 11),
        Row(option: .keepaliveCount, family: .ipv4, kind: .stream, value: 3),
        Row(option: .userTimeout, family: .ipv4, kind: .stream, value: 12_345),
        Row(option: .finTimeout, family: .ipv4, kind: .stream, value: 5),
        Row(option: .fastOpenConnect, family: .ipv4, kind: .stream, value: 1),
        Row(option: .ipv4TimeToLive, family: .ipv4, kind: .stream, value: 9),
        Row(option: .ipv6HopLimit, family: .ipv6, kind: .stream, value: 9),
        Row(option: .ipv4TrafficClass, family: .ipv4, kind: .stream, value: 0xb8),
        Row(option: .ipv6TrafficClass, family: .ipv6, kind: .stream, value: 0xb8),
        Row(option: .priority, family: .ipv4, kind: .stream, value: 4),
        // The kernel doubles the requested buffer size, because it uses half of the buffer for its own data.
        Row(option: .receiveBuffer, family: .ipv4, kind: .stream, value: 50_000, result: 100_000),
        Row(option: .sendBuffer, family: .ipv4, kind: .stream, value: 50_000, result: 100_000),
    ]

    static let datagrams: [Row] = [
        Row(option: .ipv4PathDiscovery, family: .ipv4, kind: .datagram, value: 2),
        Row(option: .ipv6DontFragment, family: .ipv6, kind: .datagram, value: 1),
        Row(option: .receiveIPv4TrafficClass, family: .ipv4, kind: .datagram, value: 1),
        Row(option: .receiveIPv6TrafficClass, family: .ipv6, kind: .datagram, value: 1),
        Row(option: .receiveIPv4PacketInfo, family: .ipv4, kind: .datagram, value: 1),
        Row(option: .receiveIPv6PacketInfo, family: .ipv6, kind: .datagram, value: 1),
        Row(option: .receiveTime, family: .ipv4, kind: .datagram, value: 1),
        Row(option: .ipv4MulticastLoop, family: .ipv4, kind: .datagram, value: 0),
        Row(option: .ipv6MulticastLoop, family: .ipv6, kind: .datagram, value: 0),
        Row(option: .noChecksum, family: .ipv4, kind: .datagram, value: 1),
        Row(option: .receiveOffload, family: .ipv4, kind: .datagram, value: 1),
    ]

    @Test("An option reads back as set, and differs from the default", arguments: streams + datagrams)
    func roundTrip(_ row: Row) throws {
        let socket = try Socket.open(row.family, row.kind)
        #expect(try Socket.get(row.option, of: socket.rawValue) != row.result ?? row.value)
        try Socket.set(row.option, to: row.value, on: socket.rawValue)
        #expect(try Socket.get(row.option, of: socket.rawValue) == row.result ?? row.value)
    }

    @Test("A refusal names the option")
    func refusal() throws {
        let socket = try Socket.open(.unix, .stream)
        #expect(throws: SystemError(errno: EOPNOTSUPP, call: "setsockopt(TCP_NODELAY)")) {
            try Socket.set(.noDelay, to: 1, on: socket.rawValue)
        }
        let stream = try Socket.open(.ipv4, .stream)
        #expect(throws: SystemError(errno: EINVAL, call: "setsockopt(TCP_KEEPCNT)")) {
            try Socket.set(.keepaliveCount, to: .max, on: stream.rawValue)
        }
        #expect(throws: SystemError(errno: ENOTCONN, call: "getsockopt(IP_MTU)")) {
            try Socket.get(.ipv4PathMTU, of: stream.rawValue)
        }
    }

    @Test("The path MTU is known once connected")
    func pathMTU() throws {
        let socket = try Socket.open(.ipv4, .datagram)
        #expect(try Socket.connect(socket.rawValue, to: .ipv4(bits: 0x7f00_0001, port: 9)))
        #expect(try Socket.get(.ipv4PathMTU, of: socket.rawValue) >= 1_500)
    }
}
