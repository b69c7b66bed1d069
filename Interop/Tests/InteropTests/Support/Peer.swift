import Foundation

/// A program from another project. The tests check that it and Causeway work together.
enum Peer: String, CaseIterable, CustomStringConvertible, Sendable {
    /// OpenBSD's netcat.
    case netcat
    case socat
    /// The netcat program of the Nmap project.
    case ncat

    static let present = allCases.filter { $0.path != nil }

    var description: String { rawValue }

    var path: String? {
        switch self {
        case .netcat: Self.find("nc.openbsd")
        case .socat: Self.find("socat")
        case .ncat: Self.find("ncat")
        }
    }

    static func find(_ name: String) -> String? { Programs.find(name) }

    /// Returns an IP address as socat expects it: IPv6 addresses in brackets.
    private static func literal(_ host: String) -> String {
        host.contains(":") ? "[\(host)]" : host
    }

    /// Returns this program's command-line arguments for a connection to a place. With them, the program copies bytes
    /// in both directions. At the end of its input, it closes only its sending direction.
    func connecting(to place: Place) -> [String] {
        switch (self, place) {
        case (.netcat, .unix(let path)): ["-N", "-U", path]
        case (.netcat, .tcp(let host, let port)): ["-N", host, "\(port)"]
        case (.socat, .unix(let path)): ["-t", "30", "STDIO", "UNIX-CONNECT:\(path)"]
        case (.socat, .tcp(let host, let port)):
            ["-t", "30", "STDIO", "\(host == "::1" ? "TCP6" : "TCP4"):\(Self.literal(host)):\(port)"]
        case (.ncat, .unix(let path)): ["-U", path]
        case (.ncat, .tcp(let host, let port)): [host == "::1" ? "-6" : "-4", host, "\(port)"]
        }
    }

    /// Returns the arguments that make the peer program listen. The program accepts one connection and copies data in
    /// both directions. It closes its sending direction when its standard input ends.
    func listening(at place: Place) -> [String] {
        switch (self, place) {
        case (.netcat, _): ["-l"] + connecting(to: place)
        case (.ncat, _): ["-l"] + connecting(to: place)
        case (.socat, .unix(let path)): ["-t", "30", "STDIO", "UNIX-LISTEN:\(path)"]
        case (.socat, .tcp(let host, let port)):
            [
                "-t", "30", "STDIO",
                "\(host == "::1" ? "TCP6" : "TCP4")-LISTEN:\(port),bind=\(Self.literal(host)),reuseaddr",
            ]
        }
    }

    /// Returns arguments like ``connecting(to:)``, with datagrams.
    func connectingDatagrams(host: String, port: UInt16) -> [String] {
        switch self {
        case .netcat: ["-u", host, "\(port)"]
        case .socat:
            ["-b", "65536", "-t", "30", "STDIO", "\(host == "::1" ? "UDP6" : "UDP4"):\(Self.literal(host)):\(port)"]
        case .ncat: ["-u", host, "\(port)"]
        }
    }

    /// Returns arguments like ``listening(at:)``, with datagrams from one peer.
    func listeningDatagrams(host: String, port: UInt16) -> [String] {
        switch self {
        case .netcat: ["-u", "-l", host, "\(port)"]
        case .socat:
            [
                "-b", "65536", "-t", "30", "STDIO",
                "\(host == "::1" ? "UDP6" : "UDP4")-LISTEN:\(port),bind=\(Self.literal(host))",
            ]
        case .ncat: ["-u", "-l", host, "\(port)"]
        }
    }
}
