package import CausewayWire

extension NetlinkState {
    /// The most routes that are kept of those that are not for everywhere: what a full table of the Internet has beyond that would
    /// take gigabytes, and its routers need no description of their paths.
    private static let routeLimit = 65_536

    /// Asks the kernel. Blocks, for about 0.2 ms on a host with few interfaces and routes.
    ///
    /// The parts are listed one after the other. What changes in between may show in one of them only, so they are listed again then;
    /// under change that does not end, what was listed last is given: whoever follows changes asks again anyway.
    package static func current() throws(SystemError) -> NetlinkState {
        let changes = try NetlinkSocket(groups: .all, blocking: false)
        var socket = try NetlinkSocket()
        for _ in 1..<attemptLimit {
            let state = try list(over: &socket)
            if try !changes.drainChanges() { return state }
        }
        return try list(over: &socket)
    }

    private static let attemptLimit = 4

    private static func list(over socket: inout NetlinkSocket) throws(SystemError) -> NetlinkState {
        var state = NetlinkState()
        state.links = try socket.list(.links) { message -> NetlinkLink? in
            guard case .link(let link) = message else { return nil }
            return link
        }
        state.addresses = try socket.list(.addresses(.unspecified)) { message -> NetlinkAddress? in
            guard case .address(let address) = message else { return nil }
            return address
        }
        // Counted from the start again when the listing starts again.
        var count = 0
        state.routes = try socket.list(.routes(.unspecified)) { message -> NetlinkRoute? in
            guard case .route(let route) = message, !route.flags.contains(.cloned) else { return nil }
            count += 1
            return route.prefixLength == 0 || count < routeLimit ? route : nil
        }
        state.rules =
            (try? socket.list(.rules(.unspecified)) { message -> NetlinkRule? in
                guard case .rule(let rule) = message else { return nil }
                return rule
            }) ?? []
        return state
    }
}
