import CausewayProtocols
internal import CausewayTypes
package import CausewayWire

/// An alternative host, port and protocol for an origin (RFC 7838 §2).
package struct AlternativeService: Hashable, Sendable {
    /// The ALPN protocol name: `h2`, `h3`.
    package var protocolName: String
    /// The host in lower case; empty for the origin's host.
    package var host: String
    package var port: UInt16

    package init(protocolName: String, host: String = "", port: UInt16) {
        self.protocolName = protocolName
        self.host = host
        self.port = port
    }
}

/// The `Alt-Svc` field (RFC 7838 §3).
package enum AlternativeServicesField: Equatable, Sendable {
    /// One Alt-Svc alternative with its parameters.
    package struct Entry: Equatable, Sendable {
        package var service: AlternativeService
        /// The freshness lifetime in seconds.
        package var maxAge: Int
        /// Whether the alternative remains usable after a network change.
        package var persists: Bool
    }

    /// The origin has no alternatives.
    case clear
    /// The origin's alternatives, in order of preference. They replace the origin's earlier alternatives.
    case entries([Entry])

    /// The maximum number of alternatives per field. Alternatives above this number are ignored.
    package static let maximumCount = 16
    /// The lifetime of an alternative without the `ma` parameter: 24 hours.
    private static let defaultAge = 86_400
    /// The maximum lifetime: a year. Longer lifetimes are reduced to this lifetime.
    private static let maximumAge = 31_536_000

    /// Parses a response's `Alt-Svc` lines as one list. Returns `nil` if there is no such line, or no valid
    /// alternative. Unknown parameters, and alternatives that violate the grammar, are ignored (RFC 7838 §3.1).
    package init?(_ fields: FieldSection) {
        guard fields.contains("Alt-Svc") else { return nil }
        var entries: [Entry] = []
        var isCleared = false
        fields.forEachElement(of: "Alt-Svc") { element in
            // The value `clear` is case-sensitive and has no parameters.
            if element.elementsEqual("clear".utf8) {
                isCleared = true
            } else if let entry = Self.entry(element) {
                entries.append(entry)
            }
            return !isCleared && entries.count < Self.maximumCount
        }
        guard isCleared || !entries.isEmpty else { return nil }
        self = isCleared ? .clear : .entries(entries)
    }

    private static func entry(_ element: ArraySlice<UInt8>) -> Entry? {
        var reader = FieldValueReader(element)
        guard let name = reader.token().flatMap(Self.protocolName), reader.take("="),
            let authority = reader.quotedString(), let service = service(name, authority)
        else { return nil }
        reader.skipSpace()
        guard reader.isAtEnd || reader.take(";") else { return nil }
        let parameters = FieldParameters(parsing: &reader)
        var entry = Entry(service: service, maxAge: defaultAge, persists: parameters["persist"] == [0x31])
        if let digits = parameters["ma"] {
            guard !digits.isEmpty, digits.allSatisfy(URIBytes.isDigit) else { return nil }
            entry.maxAge = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), maximumAge) }
        }
        return entry
    }

    /// Decodes a percent-encoded protocol name. Returns `nil` unless it is printable ASCII.
    private static func protocolName(_ token: ArraySlice<UInt8>) -> String? {
        var (rest, name): (ArraySlice<UInt8>, [UInt8]) = (token, [])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let code = UInt8(digits: rest.prefix(2), radix: 16) else { return nil }
                name.append(code)
                rest = rest.dropFirst(2)
            } else {
                name.append(byte)
            }
        }
        return name.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Parses `[host]:port`. Returns `nil` for port 0 and for an invalid host.
    private static func service(_ name: String, _ authority: [UInt8]) -> AlternativeService? {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = authority[(colon + 1)...]
        guard digits.count <= 5, let port = UInt16(digits: digits), port > 0 else { return nil }
        let host = String(decoding: authority[..<colon], as: UTF8.self)
        guard host.isEmpty || isHost(host) else { return nil }
        return AlternativeService(protocolName: name, host: URIBytes.lowercased(host), port: port)
    }

    private static func isHost(_ host: String) -> Bool {
        guard let reference = URIReference("https://" + host + "/"), let authority = reference.authority else {
            return false
        }
        return authority.userInformation == nil && authority.port == nil && authority.host == host
            && reference.path == "/"
    }
}
