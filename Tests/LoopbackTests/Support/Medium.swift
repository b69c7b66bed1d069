import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

/// The transport that a test connection uses.
enum Medium: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case tcp4, tcp6, unix, udp4, udp6

    static let streams: [Medium] = [.tcp4, .tcp6, .unix]
    static let internetStreams: [Medium] = [.tcp4, .tcp6]
    static let datagrams: [Medium] = [.udp4, .udp6]

    var testDescription: String { rawValue }
    var isStream: Bool { self != .udp4 && self != .udp6 }

    var parameters: NWParameters { isStream ? .tcp : .udp }

    var loopback: NWEndpoint.Host? {
        switch self {
        case .tcp4, .udp4: .ipv4(.loopback)
        case .tcp6, .udp6: .ipv6(.loopback)
        case .unix: nil
        }
    }

    var family: SocketAddress.Family {
        switch self {
        case .tcp4, .udp4: .ipv4
        case .tcp6, .udp6: .ipv6
        case .unix: .unix
        }
    }

    /// Returns a local endpoint for the listener of one test: the loopback address with a free port, or a new path.
    func freshLocalEndpoint() -> NWEndpoint {
        loopback.map { .hostPort(host: $0, port: .any) } ?? .unix(path: Scratch.path())
    }

    /// Returns the endpoint of a raw socket on the loopback address.
    func endpoint(of socket: RawSocket) -> NWEndpoint {
        .hostPort(host: loopback ?? "", port: NWEndpoint.Port(rawValue: socket.port) ?? .any)
    }

    func socketAddress(port: UInt16) -> SocketAddress {
        family == .ipv6 ? .ipv6(high: 0, low: 1, port: port, scope: 0) : .ipv4(bits: 0x7f00_0001, port: port)
    }
}

/// Unique file names.
enum Scratch {
    private static let count = LockedValue(0)

    static func path() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "/tmp/causeway-loopback-\(getpid())-\(number).sock"
    }
}

extension Data {
    init(_ text: String) { self.init(text.utf8) }

    /// Returns bytes whose values depend on their offsets. A test can then detect gaps and reordering.
    static func pattern(_ count: Int, from start: Int = 0) -> Data {
        Data((start..<(start + count)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }
}
