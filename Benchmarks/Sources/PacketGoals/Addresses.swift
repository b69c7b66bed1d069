import CausewayTypes

extension IPv4Address {
    /// Creates an address from 32 bits; the first byte is the most significant one.
    init(number: UInt32) {
        let bytes = [24, 16, 8, 0].map { String(number >> $0 & 0xFF) }
        self = IPv4Address(bytes.joined(separator: ".")) ?? .any
    }
}

extension IPv6Address {
    /// Creates an address of the documentation prefix (RFC 3849).
    init(documentation number: UInt16) {
        self = IPv6Address("2001:db8::\(String(number, radix: 16))") ?? .any
    }
}
