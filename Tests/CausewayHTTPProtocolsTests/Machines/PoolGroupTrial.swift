import CausewayTestKit

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

extension HTTPTrials {
    private struct Grouped: Sendable {
        var lastRequest: UInt64 = 0
        /// The connections in the group, and one connection that the group does not know.
        var connections = [PoolConnectionID(slot: 1, serial: 1)]
    }

    static var group: any MachineTesting {
        MachineTrial("PoolGroup", model: Grouped()) { random in
            var limits = PoolLimits()
            limits.connectionsPerKey = random.integer(in: 1...3)
            let origin = HTTPOrigin(isSecure: random.chance(oneIn: 2), host: "a.example")
            let numbers = PoolNumbers(slot: 0, after: UInt64(random.integer(in: 0...9)))
            return PoolGroup(
                key: PoolKey(origin, needsHTTP1: random.chance(oneIn: 4)), numbers: numbers, limits: limits)
        } event: { group, grouped, now, random in
            var actions: [PoolAction] = []
            if random.chance(oneIn: 2), let id = grouped.connections.randomElement(using: &random) {
                connectionEvent(&group, id, now, &random, &actions)
            } else {
                requestEvent(&group, &grouped, &random, &actions)
            }
            group.serve(at: now, &actions)
            return actions
        }.noting { grouped, action in
            if case .connect(let id, _, _) = action { grouped.connections.append(id) }
        }
    }

    private static func requestEvent(
        _ group: inout PoolGroup, _ grouped: inout Grouped, _ random: inout SplitMix64, _ actions: inout [PoolAction]
    ) {
        switch random.integer(in: 0...7) {
        case 0: group.cancel(UInt64(random.integer(in: 0...9)), &actions)
        case 1: group.reprioritize(UInt64(random.integer(in: 0...9)), Float(random.integer(in: 0...4)) / 4)
        case 2: group.borrowedCount = random.integer(in: 0...1)
        case 3:
            grouped.lastRequest += 1
            _ = group.startAtOnce(grouped.lastRequest, &actions)
        default:
            grouped.lastRequest += 1
            var routes: [PoolRequest.Route] = [.any, .any, .newConnection, .http1]
            if let id = grouped.connections.randomElement(using: &random) { routes.append(.continuing(id)) }
            let route = routes.randomElement(using: &random) ?? .any
            group.add(PoolRequest(id: grouped.lastRequest, key: group.key, route: route))
        }
    }

    private static func connectionEvent(
        _ group: inout PoolGroup, _ id: PoolConnectionID, _ now: Duration, _ random: inout SplitMix64,
        _ actions: inout [PoolAction]
    ) {
        switch random.integer(in: 0...10) {
        case 0...2:
            let limit: Int? = random.chance(oneIn: 2) ? random.integer(in: 0...3) : nil
            group.connected(id, PoolConnectionFacts(streamLimit: limit), at: now)
        case 3: group.connectFailed(id, at: now, &actions)
        case 4: group.streamLimitChanged(id, to: random.integer(in: 0...3))
        case 5: group.retire(id, &actions)
        case 6: group.remove(id)
        case 7:
            // Assign a request of another group to this connection. The pool also does this if a connection has free
            // capacity.
            guard group[id]?.hasRoom != false else { return }
            group.start(1_000, on: id, &actions)
            group.lend(id, to: 1)
        default:
            let timeout: Duration? = random.chance(oneIn: 2) ? .seconds(random.integer(in: 0...9)) : nil
            _ = group.takeBorrower(of: id)
            group.finished(
                id, isReusable: !random.chance(oneIn: 3), idleTimeout: timeout, use: UInt64(random.integer(in: 0...99)),
                at: now, &actions)
        }
    }
}
