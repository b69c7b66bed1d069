import CausewayProtocols

internal import CausewayWire

/// A host in the file of hosts that want secure connections only.
package struct StrictTransportRecord: Equatable, Sendable {
    /// The first line of the file.
    private static let kind = "causeway strict-transport 1"
    /// The maximum length of a name (RFC 1035 §2.3.4).
    private static let maximumNameByteCount = 253

    /// The name in lower case.
    package var host: String
    /// The end of the policy in seconds since 1970.
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

    /// Returns the valid hosts of a file that have not expired. The file is not trusted: a policy never ends later than a response at this
    /// time could demand.
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
            (1...11).contains(fields[1].count), fields[1].allSatisfy(URIBytes.isDigit),
            fields[2].isEmpty || fields[2] == Array("s".utf8)
        else { return nil }
        let host = String(decoding: fields[0], as: UTF8.self)
        guard Self.isName(host), HTTPOrigin(isSecure: true, host: host).host == host else { return nil }
        self.init(
            host, expires: fields[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }, includesSubdomains: !fields[2].isEmpty)
    }

    /// Whether a host is a name, and not an address.
    static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.hasPrefix("["), !host.contains(":") else { return false }
        // A last label of digits is part of an IPv4 address.
        let last = host.split(separator: ".").last ?? ""
        return !last.isEmpty && !last.utf8.allSatisfy(URIBytes.isDigit)
    }
}
