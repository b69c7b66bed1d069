import CausewayProtocols
internal import CausewayTypes

internal import CausewayWire

/// A host in the HSTS file.
package struct StrictTransportRecord: Equatable, Sendable {
    /// The file's first line.
    private static let kind = "causeway strict-transport 1"
    /// The maximum name length in bytes (RFC 1035 §2.3.4).
    private static let maximumNameByteCount = 253

    /// The name in lower case.
    package var host: String
    /// The policy's expiry in seconds since 1970.
    package var expires: Int
    package var includesSubdomains: Bool

    package init(_ host: String, expires: Int, includesSubdomains: Bool) {
        self.host = host
        self.expires = expires
        self.includesSubdomains = includesSubdomains
    }

    package static func encode(_ records: [StrictTransportRecord]) -> [UInt8] {
        RecordFile.encode(
            kind: kind,
            records.map { record in
                [record.host, "\(record.expires)", record.includesSubdomains ? "s" : ""].map { Array($0.utf8) }
            })
    }

    /// Returns the valid, unexpired hosts in a file. The file is not trusted, so no policy lasts longer than
    /// ``StrictTransportPolicy/maximumAge`` from now. The same maximum applies to a policy in a response.
    package static func decode(_ file: [UInt8], at now: Int) -> [StrictTransportRecord] {
        RecordFile.decode(kind: kind, file).compactMap { StrictTransportRecord($0) }
            .filter { $0.expires > now }
            .map { record in
                var record = record
                record.expires = min(record.expires, now + StrictTransportPolicy.maximumAge)
                return record
            }
    }

    private init?(_ fields: [[UInt8]]) {
        guard fields.count == 3, (1...Self.maximumNameByteCount).contains(fields[0].count),
            fields[0].allSatisfy({ $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }),
            fields[1].count <= 11, let expires = Int(digits: fields[1]),
            fields[2].isEmpty || fields[2] == Array("s".utf8)
        else { return nil }
        let host = String(decoding: fields[0], as: UTF8.self)
        guard Self.isName(host), HTTPOrigin(isSecure: true, host: host).host == host else { return nil }
        self.init(host, expires: expires, includesSubdomains: !fields[2].isEmpty)
    }

    /// Whether a host is a name rather than an IP address.
    static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.utf8.contains(where: "[:".utf8.contains) else { return false }
        // A numeric final label belongs to an IPv4 address.
        guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        return !last.allSatisfy(URIBytes.isDigit)
    }
}
