extension NetlinkMessage {
    /// Whether this notification may change which peers are reachable, or how.
    ///
    /// `false` for bridges' reports about their ports and for route exceptions that the kernel caches per destination. Both are frequent,
    /// and neither changes the configuration.
    package var affectsReachability: Bool {
        switch self {
        case .link(let link), .linkRemoved(let link): link.family != .bridge
        case .address, .addressRemoved, .rule, .ruleRemoved, .overrun: true
        case .route(let route), .routeRemoved(let route): !route.flags.contains(.cloned)
        case .done, .error, .generic, .noOperation, .other, .translatorPrefix: false
        }
    }

    /// Whether a datagram holds at least one notification that ``affectsReachability``.
    ///
    /// `true` for a malformed datagram: an unnecessary query is cheap, but a missed change can make a connection fail.
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
