import Foundation

/// The address over which two programs connect: a TCP host and port, or the path of a Unix socket.
enum Place: Sendable {
    case tcp(String, UInt16)
    case unix(String)

    /// The arguments for `nw cat`.
    var arguments: [String] {
        switch self {
        case .tcp(let host, let port): [host, "\(port)"]
        case .unix(let path): ["-U", path]
        }
    }
}

/// The transport that connects two programs.
enum Medium: String, CaseIterable, CustomStringConvertible, Sendable {
    case ipv4
    case ipv6
    case unix

    static let hasIPv6 =
        (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8))?
        .contains("00000000000000000000000000000001") ?? false

    static let present = allCases.filter { $0 != .ipv6 || hasIPv6 }

    var description: String { rawValue }
}

/// Queries the kernel whether a program listens.
enum Sockets {
    static func waitForListener(at place: Place) async throws {
        switch place {
        case .tcp(_, let port):
            try await eventually("a program listens on port \(port)") { holds(port, state: "0A", in: ["tcp", "tcp6"]) }
        case .unix(let path):
            // The flag 0x10000 means that the socket accepts connections.
            try await eventually("a program listens at \(path)") {
                table("unix").contains { $0.hasSuffix(" \(path)") && $0.contains(" 00010000 ") }
            }
        }
    }

    static func isListening(onTCPPort port: UInt16) -> Bool { holds(port, state: "0A", in: ["tcp", "tcp6"]) }

    /// Whether a socket listens on the TCP port or has the UDP port, with any address and in any process.
    static func isTaken(_ port: UInt16) -> Bool {
        isListening(onTCPPort: port) || holds(port, state: nil, in: ["udp", "udp6"])
    }

    static func waitForDatagramSocket(port: UInt16) async throws {
        try await eventually("a program has UDP port \(port)") { holds(port, state: nil, in: ["udp", "udp6"]) }
    }

    private static func holds(_ port: UInt16, state: String?, in names: [String]) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return names.flatMap(table).contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 3 && fields[1].hasSuffix(suffix) && (state == nil || fields[3] == state ?? "")
        }
    }

    private static func table(_ name: String) -> [Substring] {
        // Read the whole file in a loop. The kernel returns such a file one page at a time, and Foundation treats a
        // short read as its end.
        let descriptor = open("/proc/net/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(descriptor, &block, block.count), count > 0 { contents += block[..<count] }
        // Names of other programs' sockets may be invalid UTF-8.
        return String(decoding: contents, as: UTF8.self).split(separator: "\n")
    }
}
