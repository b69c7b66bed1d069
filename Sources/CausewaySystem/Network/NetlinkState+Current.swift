package import CausewayWire

extension NetlinkState {
    /// The maximum number of routes to keep, without default routes. A router with a full Internet routing table has
    /// far more routes. They would need gigabytes of memory here. Programs on such a router do not need path
    /// descriptions, so the other routes can be left out.
    private static let routeLimit = 65_536

    /// Reads the state from the kernel. Blocks for about 0.2 ms on a host with few interfaces and routes.
    ///
    /// The parts of the state are listed one after the other. If a notification arrives during the listing, all parts
    /// are listed again. If the state keeps changing, the result of the final attempt is returned. A caller that
    /// monitors changes receives the same notifications, and then reads the state again.
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
        // The kernel may restart its listing. In that case, `count` is not reset, so fewer routes than `routeLimit` may
        // be kept.
        var count = 0
        state.routes = try socket.list(.routes(.unspecified)) { message -> NetlinkRoute? in
            guard case .route(let route) = message, !route.flags.contains(.cloned) else { return nil }
            count += 1
            return route.destination.length == 0 || count < routeLimit ? route : nil
        }
        state.rules =
            (try? socket.list(.rules(.unspecified)) { message -> NetlinkRule? in
                guard case .rule(let rule) = message else { return nil }
                return rule
            }) ?? []
        return state
    }
}
