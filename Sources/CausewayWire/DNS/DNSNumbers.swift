internal import CausewayTypes

/// A resource record type (RFC 1035 §3.2.2 and later).
package struct DNSRecordType: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let a = DNSRecordType(rawValue: 1)
    package static let ns = DNSRecordType(rawValue: 2)
    package static let cname = DNSRecordType(rawValue: 5)
    package static let soa = DNSRecordType(rawValue: 6)
    package static let ptr = DNSRecordType(rawValue: 12)
    package static let hinfo = DNSRecordType(rawValue: 13)
    package static let mx = DNSRecordType(rawValue: 15)
    package static let txt = DNSRecordType(rawValue: 16)
    package static let aaaa = DNSRecordType(rawValue: 28)
    package static let srv = DNSRecordType(rawValue: 33)
    package static let dname = DNSRecordType(rawValue: 39)
    package static let opt = DNSRecordType(rawValue: 41)
    package static let nsec = DNSRecordType(rawValue: 47)
    package static let svcb = DNSRecordType(rawValue: 64)
    package static let https = DNSRecordType(rawValue: 65)
    /// Any type (ANY). This value may occur only in questions.
    package static let any = DNSRecordType(rawValue: 255)

    private static let names: [DNSRecordType: String] = [
        .a: "A", .ns: "NS", .cname: "CNAME", .soa: "SOA", .ptr: "PTR", .hinfo: "HINFO", .mx: "MX", .txt: "TXT",
        .aaaa: "AAAA",
        .srv: "SRV", .dname: "DNAME", .opt: "OPT", .nsec: "NSEC", .svcb: "SVCB", .https: "HTTPS", .any: "ANY",
    ]
}

extension DNSRecordType: CustomStringConvertible {
    /// The type's mnemonic, or `TYPE` and the number if the type has no mnemonic (RFC 3597 §5).
    package var description: String { Self.names[self] ?? "TYPE\(rawValue)" }

    /// Parses the text format of ``description``, ignoring case.
    package init?(_ text: String) {
        let upper = text.uppercased()
        if let known = Self.names.first(where: { $0.value == upper })?.key {
            self = known
        } else if upper.utf8.starts(with: "TYPE".utf8), let number = UInt16(digits: upper.utf8.dropFirst(4)) {
            rawValue = number
        } else {
            return nil
        }
    }
}

/// A resource record class; in practice always IN (RFC 1035 §3.2.4).
package struct DNSRecordClass: RawRepresentable, Hashable, Sendable {
    /// The class number. It has 15 bits, because multicast DNS uses the top bit for another purpose (RFC 6762 §18.12).
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue & 0x7FFF }

    package static let internet = DNSRecordClass(rawValue: 1)
    /// Any class. This value may occur only in questions.
    package static let any = DNSRecordClass(rawValue: 255)
}

/// A response code (RFC 1035 §4.1.1, RFC 6891 §6.1.3).
package struct DNSResponseCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let noError = DNSResponseCode(rawValue: 0)
    package static let formatError = DNSResponseCode(rawValue: 1)
    package static let serverFailure = DNSResponseCode(rawValue: 2)
    package static let nameError = DNSResponseCode(rawValue: 3)
    package static let notImplemented = DNSResponseCode(rawValue: 4)
    package static let refused = DNSResponseCode(rawValue: 5)
    package static let badVersion = DNSResponseCode(rawValue: 16)
}
