/// Options that both NTLM peers negotiate (MS-NLMP §2.2.2.5).
package struct NTLMFlags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Names are UTF-16, little-endian.
    package static let unicode = NTLMFlags(rawValue: 0x0000_0001)
    /// Names are in the server's OEM character set. The message does not name this character set.
    package static let oem = NTLMFlags(rawValue: 0x0000_0002)
    /// The challenge names the server.
    package static let requestsTarget = NTLMFlags(rawValue: 0x0000_0004)
    package static let ntlm = NTLMFlags(rawValue: 0x0000_0200)
    package static let alwaysSigns = NTLMFlags(rawValue: 0x0000_8000)
    package static let extendedSecurity = NTLMFlags(rawValue: 0x0008_0000)
    /// The challenge has server attributes.
    package static let hasAttributes = NTLMFlags(rawValue: 0x0080_0000)
    package static let uses128Bits = NTLMFlags(rawValue: 0x2000_0000)
    package static let exchangesKey = NTLMFlags(rawValue: 0x4000_0000)
    package static let uses56Bits = NTLMFlags(rawValue: 0x8000_0000)
}

/// A server attribute, in the challenge and in the response (MS-NLMP §2.2.2.1).
package struct NTLMAttribute: Equatable, Sendable {
    /// The attribute kinds that a client reads or writes.
    package enum Kind {
        package static let end: UInt16 = 0
        package static let flags: UInt16 = 6
        /// The server's time in 100 ns units since 1601.
        package static let timestamp: UInt16 = 7
        /// The target service's name, in UTF-16.
        package static let targetName: UInt16 = 9
    }

    /// The bit in the ``Kind/flags`` attribute that announces an integrity code.
    package static let hasIntegrityCode: UInt32 = 2

    package var kind: UInt16
    package var value: [UInt8]

    package init(_ kind: UInt16, _ value: [UInt8]) {
        self.kind = kind
        self.value = value
    }

    /// Parses attributes up to the end marker. Later bytes are ignored.
    ///
    /// - Parameter base: The bytes' position in the message, for errors.
    package static func parse(_ bytes: [UInt8], base: Int = 0) throws(WireError) -> [NTLMAttribute] {
        var reader = unsafe ByteReader(bytes.span.bytes, base: base)
        var attributes: [NTLMAttribute] = []
        while true {
            let kind: UInt16 = try reader.readLittleEndian()
            let count: UInt16 = try reader.readLittleEndian()
            guard kind != Kind.end else { return attributes }
            attributes.append(NTLMAttribute(kind, try reader.readBytes(Int(count))))
        }
    }

    /// Encodes attributes and the end marker; `nil` if a value is longer than 65,535 bytes.
    package static func encode(_ attributes: [NTLMAttribute]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for attribute in attributes + [NTLMAttribute(Kind.end, [])] {
            guard let count = UInt16(exactly: attribute.value.count) else { return nil }
            NTLMMessage.append(attribute.kind, to: &bytes)
            NTLMMessage.append(count, to: &bytes)
            bytes += attribute.value
        }
        return bytes
    }
}
