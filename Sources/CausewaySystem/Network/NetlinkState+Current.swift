package import CausewayWire

extension NetlinkState {
    /// The maximum number of non-default routes to keep. A router with a full Internet routing table has far more
    /// routes, which would need gigabytes here, and programs on such a router do not need path descriptions.
    private static let routeLimit = 65_536

    /// Reads the state from the kernel. Blocks for about 0.2 ms on a host with few interfaces and routes.
    ///
    /// The state's parts are listed one after the other. If a notification arrives during the listing, all parts are
    /// listed again. If the state keeps changing, the final attempt's result is returned. A caller that monitors
    /// changes receives the same notifications, and reads the state again after them.
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
        // If the kernel's listing starts again, `count` is not reset, so `routeLimit` may apply earlier.
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
