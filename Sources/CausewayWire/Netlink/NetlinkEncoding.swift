internal import CausewayTypes

extension [UInt8] {
    /// Appends one integer in host byte order.
    mutating func append<T: FixedWidthInteger>(host value: T) {
        // On hosts of either byte order, the lowest bits in `ordered` are the first byte of `value` in memory. The loop
        // appends the bytes in memory order.
        let ordered = value.littleEndian
        for index in 0..<(T.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: ordered >> T(8 * index)))
        }
    }

    /// Appends an attribute, padded to a multiple of 4 bytes.
    mutating func append(attribute type: UInt16, _ value: [UInt8]) {
        append(host: UInt16(4 + value.count))
        append(host: type)
        append(contentsOf: value)
        append(contentsOf: repeatElement(0, count: (4 - value.count % 4) % 4))
    }

    /// Appends an attribute whose value is an integer in host byte order.
    mutating func append<T: FixedWidthInteger>(attribute type: UInt16, host value: T) {
        var bytes: [UInt8] = []
        bytes.append(host: value)
        append(attribute: type, bytes)
    }
}

extension InternetAddress {
    /// The address in network byte order.
    var bytes: [UInt8] {
        switch self {
        case .ipv4(let address): (0..<4).map { UInt8(truncatingIfNeeded: address.bits >> UInt32(24 - 8 * $0)) }
        case .ipv6(let address):
            (0..<16).map { position in
                let half = position < 8 ? address.high : address.low
                return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (position & 7)))
            }
        }
    }
}
