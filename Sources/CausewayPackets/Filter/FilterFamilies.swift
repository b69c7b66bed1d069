/// The protocol family numbers of the systems that can capture packets. For IPv6, the BSD systems have different
/// numbers.
struct FilterFamilies: Sendable, Equatable {
    var ipv4: [UInt32]
    var ipv6: [UInt32]

    private static let inet = LoopbackFamily.inet
    private static let inet6 = [
        LoopbackFamily.inet6Linux, LoopbackFamily.inet6OpenBSD, LoopbackFamily.inet6FreeBSD, LoopbackFamily.inet6Darwin,
    ]

    /// Protocol family numbers in network byte order. They also apply to one-byte fields.
    static let bigEndian = FilterFamilies(ipv4: [inet], ipv6: inet6)
    /// Protocol family numbers in both byte orders. They are for fields in the capturing host's byte order, because the
    /// packet does not state this order.
    static let anyOrder = FilterFamilies(
        ipv4: [inet, inet.byteSwapped], ipv6: inet6 + inet6.map(\.byteSwapped))
    /// Solaris family numbers, which ipnet links use on every system.
    static let ipnet = FilterFamilies(ipv4: [inet], ipv6: [LoopbackFamily.inet6Solaris])

    /// Returns a node that tests whether the protocol family read by `load` matches an Ethernet type.
    func node(_ type: UInt32, _ load: FilterLoad) -> FilterNode {
        switch type {
        case FilterPayload.ipv4: Self.node(ipv4, load)
        case FilterPayload.ipv6: Self.node(ipv6, load)
        default: .constant(false)
        }
    }

    private static func node(_ numbers: [UInt32], _ load: FilterLoad) -> FilterNode {
        if numbers.count == 1 { return .equal(load, numbers[0]) }
        return .member(load, mask: .max, FilterRanges.merged(numbers.map { $0...$0 }))
    }
}
