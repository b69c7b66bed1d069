/// Whose the records of a message are, and how to wake him: the Owner option of EDNS(0)
/// (draft-cheshire-edns0-owner-option §3).
///
/// ```
///  0       1       2 ...  7   8 ... 13   14 ... 17 or 19
/// +-------+-------+---------+----------+-----------------+
/// |version| sequ. | primary | wakeup   | password        |
/// |   0   |       | address | address  |                 |
/// +-------+-------+---------+----------+-----------------+
/// ```
/// The wakeup address is left out where it is the primary one and nothing follows it.
package struct DNSOwner: Hashable, Sendable {
    package static let optionCode: UInt16 = 4

    /// Another each time that the host has woken.
    package var sequence: UInt8
    /// By which the host is known, whichever of its interfaces speaks.
    package var primary: LinkAddress
    /// To which a packet must go that wakes it.
    package var wakeup: LinkAddress
    /// What such a packet ends with: nothing, four or six bytes.
    package let password: [UInt8]

    /// - Parameter password: One of another length than four or six bytes counts as none.
    package init(sequence: UInt8, primary: LinkAddress, wakeup: LinkAddress? = nil, password: [UInt8] = []) {
        self.sequence = sequence
        self.primary = primary
        self.wakeup = wakeup ?? primary
        self.password = [4, 6].contains(password.count) ? password : []
    }

    /// Reads an option; `nil` for another one, another version, and lengths that there are not.
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

    /// The content of a packet that wakes the host: six bytes of ones, its address sixteen times, and the password.
    package var magicPacket: [UInt8] {
        [UInt8](repeating: 0xFF, count: 6) + (0..<16).flatMap { _ in wakeup.bytes } + password
    }
}

/// How long what an update adds is to be kept: the Update Lease option of EDNS(0) (RFC 9664 §4).
package enum DNSLease {
    package static let optionCode: UInt16 = 2

    package static func option(seconds: UInt32) -> DNSExtensions.Option {
        DNSExtensions.Option(
            code: optionCode, value: (0..<4).map { UInt8(truncatingIfNeeded: seconds >> UInt32(24 - 8 * $0)) })
    }

    /// In seconds; `nil` for other options and lengths that there are not. A second number, for keys, does not count.
    package static func seconds(_ option: DNSExtensions.Option) -> UInt32? {
        guard option.code == optionCode, [4, 8].contains(option.value.count) else { return nil }
        return option.value.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
