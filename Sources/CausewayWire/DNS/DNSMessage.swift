/// A DNS message (RFC 1035 §4.1).
///
/// ```
///  0                   1
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
/// +-------------------------------+
/// | id                            |
/// |Q| opcode|A|T|R|R|Z|A|C| rcode |
/// |R|       |A|C|D|A| |D|D|       |
/// | number of questions           |
/// | number of answers             |
/// | number of authority records   |
/// | number of additional records  |
/// +-------------------------------+
/// ```
package struct DNSMessage: Hashable, Sendable {
    package var id: UInt16 = 0
    package var flags = Flags()
    /// The opcode; 0 for a standard query.
    package var operation: UInt8 = 0
    /// The response code, including the upper bits, which are in the OPT record on the wire (``extensions``).
    package var responseCode = DNSResponseCode.noError
    package var questions: [DNSQuestion] = []
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []
    /// The additional records, without the OPT record (see ``extensions``).
    package var additionals: [DNSRecord] = []
    /// The EDNS(0) fields; `nil` if the sender does not support EDNS.
    package var extensions: DNSExtensions?

    package init() {}

    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let isResponse = Flags(rawValue: 0x8000)
        package static let isAuthoritative = Flags(rawValue: 0x0400)
        package static let isTruncated = Flags(rawValue: 0x0200)
        package static let recursionDesired = Flags(rawValue: 0x0100)
        package static let recursionAvailable = Flags(rawValue: 0x0080)
        package static let isAuthentic = Flags(rawValue: 0x0020)
        package static let checkingDisabled = Flags(rawValue: 0x0010)
        static let all = Flags(rawValue: 0x87B0)
    }
}

/// A message's EDNS(0) fields (RFC 6891 §6).
package struct DNSExtensions: Hashable, Sendable {
    /// The largest UDP payload that the sender can receive, in bytes.
    package var payloadByteCount: UInt16
    package var version: UInt8 = 0
    /// The DO flag: the sender accepts DNSSEC records.
    package var wantsSecurityRecords = false
    package var options: [Option] = []

    package struct Option: Hashable, Sendable {
        package var code: UInt16
        package var value: [UInt8]

        package init(code: UInt16, value: [UInt8]) {
            self.code = code
            self.value = value
        }
    }

    package init(payloadByteCount: UInt16) { self.payloadByteCount = payloadByteCount }
}
