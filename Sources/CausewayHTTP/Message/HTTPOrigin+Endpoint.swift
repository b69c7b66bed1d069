internal import Causeway
internal import CausewayProtocols

extension HTTPOrigin {
    /// The endpoint for connections to the origin.
    var endpoint: NWEndpoint {
        .hostPort(host: Self.host(host), port: NWEndpoint.Port(rawValue: port) ?? .any)
    }

    /// Returns the host to connect to. An IPv6 literal loses its brackets, and its zone is decoded (RFC 6874 §2).
    static func host(_ text: String) -> NWEndpoint.Host {
        guard text.hasPrefix("["), text.hasSuffix("]") else { return NWEndpoint.Host(text) }
        let literal = text.dropFirst().dropLast()
        guard let percent = literal.firstIndex(of: "%") else { return NWEndpoint.Host(String(literal)) }
        var zone = literal[percent...].dropFirst()
        if zone.hasPrefix("25"), zone.count > 2 { zone = zone.dropFirst(2) }
        return NWEndpoint.Host("\(literal[..<percent])%\(zone)")
    }
}
