extension NetlinkMessage {
    /// Whether the reported change may affect which peers are reachable, or over which route.
    ///
    /// The value is `false` for link messages about bridge ports and for route exceptions that the kernel caches for
    /// each destination. Both notification kinds are frequent, and neither means that the configuration has changed.
    package var affectsReachability: Bool {
        switch self {
        case .link(let link), .linkRemoved(let link): link.family != .bridge
        case .address, .addressRemoved, .rule, .ruleRemoved, .overrun: true
        case .route(let route), .routeRemoved(let route): !route.flags.contains(.cloned)
        case .done, .error, .generic, .neighbour, .noOperation, .other, .translatorPrefix: false
        }
    }

    /// Whether a datagram contains at least one notification that ``affectsReachability``.
    ///
    /// The result is `true` for a malformed datagram: an unnecessary query is cheap, but a missed change can make a connection fail.
    package static func affectReachability(_ datagram: Span<UInt8>) -> Bool {
        var decoder = NetlinkDecoder(datagram)
        do {
            while let frame = try decoder.next() {
                if frame.message.affectsReachability { return true }
            }
            return false
        } catch {
            return true
        }
    }
}
