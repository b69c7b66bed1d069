/// A request that the kernel list one kind of object (rtnetlink(7)).
package enum NetlinkRequest: Hashable, Sendable {
    case links
    /// Addresses of one family, or of all with ``InternetAddress/Family/unspecified``.
    case addresses(InternetAddress.Family)
    /// Routes of one family, or of all with ``InternetAddress/Family/unspecified``.
    case routes(InternetAddress.Family)

    /// The request as it goes to the kernel.
    ///
    /// - Parameter sequence: A number that the answers will repeat.
    package func encoded(sequence: UInt32) -> [UInt8] {
        let (type, body) = content
        var octets: [UInt8] = []
        octets.reserveCapacity(NetlinkHeader.byteCount + body.count)
        octets.append(host: UInt32(NetlinkHeader.byteCount + body.count))
        octets.append(host: type)
        octets.append(host: NetlinkHeader.Flags([.request, .dump]).rawValue)
        octets.append(host: sequence)
        octets.append(host: UInt32(0))
        return octets + body
    }

    /// Each kind's own header, which is all zeros but for the family: strict kernels refuse a shorter one, and one
    /// with values that they would have to ignore.
    private var content: (type: UInt16, body: [UInt8]) {
        switch self {
        case .links:
            var body = [UInt8](repeating: 0, count: 16)
            // IFLA_EXT_MASK with RTEXT_FILTER_SKIP_STATS: leaves out the counters, most of an answer's size.
            body.append(host: UInt16(8))
            body.append(host: UInt16(29))
            body.append(host: UInt32(8))
            return (NetlinkType.getLink, body)
        case .addresses(let family):
            return (NetlinkType.getAddress, [family.rawValue] + [UInt8](repeating: 0, count: 7))
        case .routes(let family):
            return (NetlinkType.getRoute, [family.rawValue] + [UInt8](repeating: 0, count: 11))
        }
    }
}

extension [UInt8] {
    /// Appends one integer in this machine's byte order.
    fileprivate mutating func append<T: FixedWidthInteger>(host value: T) {
        // The conversion leaves the octet that memory has first as the lowest one, on every machine.
        let ordered = value.littleEndian
        for index in 0..<(T.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: ordered >> T(8 * index)))
        }
    }
}
