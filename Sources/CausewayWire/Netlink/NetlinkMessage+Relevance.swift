extension NetlinkMessage {
    /// Whether this, as a notification, may change which peers can be reached and how.
    ///
    /// Left out are bridges' reports about their ports and the exceptions that the kernel notes per destination: both
    /// are frequent, and neither is a change of the configuration.
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
    /// One that cannot be taken apart counts: looking once too often costs little, and missing a change costs a
    /// connection its chance.
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
