/// The EDNS(0) Owner option: the host that owns the message's records, and how to wake it
/// (draft-cheshire-edns0-owner-option §3).
///
/// ```
///  0       1       2 ...  7   8 ... 13   14 ... 17 or 19
/// +-------+-------+---------+----------+-----------------+
/// |version| sequ. | primary | wakeup   | password        |
/// |   0   |       | address | address  |                 |
/// +-------+-------+---------+----------+-----------------+
/// ```
/// The wakeup address is omitted if it equals the primary address and there is no password.
package struct DNSOwner: Hashable, Sendable {
    package static let optionCode: UInt16 = 4

    /// The sequence number, which changes each time the host wakes.
    package var sequence: UInt8
    /// The address that identifies the host on all its interfaces.
    package var primary: LinkAddress
    /// The magic packet's destination address.
    package var wakeup: LinkAddress
    /// The password at the end of the magic packet: zero, four or six bytes.
    package let password: [UInt8]

    /// Creates an Owner option.
    ///
    /// - Parameter password: Four or six bytes; any other length means no password.
    package init(sequence: UInt8, primary: LinkAddress, wakeup: LinkAddress? = nil, password: [UInt8] = []) {
        self.sequence = sequence
        self.primary = primary
        self.wakeup = wakeup ?? primary
        self.password = [4, 6].contains(password.count) ? password : []
    }

    /// Parses an Owner option. Returns `nil` if the option has another option code, another version, or an invalid length.
    package init?(_ option: DNSExtensions.Option) {
        let bytes = option.value
        guard option.code == Self.optionCode, [8, 14, 18, 20].contains(bytes.count), bytes[0] == 0,
            let primary = LinkAddress(Array(bytes[2..<8]))
        else { return nil }
        let wakeup = bytes.count > 8 ? LinkAddress(Array(bytes[8..<14])) : nil
        self.init(sequence: bytes[1], primary: primary, wakeup: wakeup, password: Array(bytes.dropFirst(14)))
    }

    package var option: DNSExtensions.Option {
        var value = [0, sequence] + primary.bytes
        if wakeup != primary || !password.isEmpty { value += wakeup.bytes + password }
        return DNSExtensions.Option(code: Self.optionCode, value: value)
    }

    /// The packet payload that wakes the host: six bytes 0xFF, the wakeup address sixteen times, and the password.
    package var magicPacket: [UInt8] {
        [UInt8](repeating: 0xFF, count: 6) + (0..<16).flatMap { _ in wakeup.bytes } + password
    }
}

/// The EDNS(0) Update Lease option: the lifetime for records that an update adds (RFC 9664 §4).
package enum DNSLease {
    package static let optionCode: UInt16 = 2

    package static func option(seconds: UInt32) -> DNSExtensions.Option {
        DNSExtensions.Option(
            code: optionCode, value: (0..<4).map { UInt8(truncatingIfNeeded: seconds >> UInt32(24 - 8 * $0)) })
    }

    /// Parses the option. Returns the lease in seconds; `nil` if the option has another code or an invalid length.
    /// Ignores the second value, which is the lease for KEY records.
    package static func seconds(_ option: DNSExtensions.Option) -> UInt32? {
        guard option.code == optionCode, [4, 8].contains(option.value.count) else { return nil }
        return option.value.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
