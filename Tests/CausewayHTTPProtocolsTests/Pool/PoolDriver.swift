import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

/// Performs a connection pool's actions with a virtual clock. Checks that each action is valid.
struct PoolDriver {
    var pool: ConnectionPool
    var now: Duration = .seconds(100)
    private let isSecure: Bool
    /// Connection attempts in order of their start.
    private(set) var connecting: [PoolConnectionID] = []
    private(set) var offers: [Bool] = []
    /// Established connections.
    private(set) var open: [PoolConnectionID] = []
    private(set) var running: [UInt64: PoolConnectionID] = [:]
    /// The requests that the latest actions started.
    private(set) var started: [UInt64] = []
    private(set) var reused: [UInt64] = []
    private(set) var closed: [PoolConnectionID] = []
    private(set) var failed: [UInt64: PoolConnectionID] = [:]

    init(isSecure: Bool = false, limits: PoolLimits = PoolLimits()) {
        self.isSecure = isSecure
        pool = ConnectionPool(limits: limits)
    }

    func key(host: String = "a.example", route: String = "", identity: String = "") -> PoolKey {
        PoolKey(HTTPOrigin(isSecure: isSecure, host: host), route: route, identity: identity)
    }

    mutating func request(
        _ id: UInt64, host: String = "a.example", route: String = "", identity: String = "", priority: Float = 0.5,
        restriction: PoolRequest.Route = .any
    ) {
        let key = key(host: host, route: route, identity: identity)
        perform(pool.requested(PoolRequest(id: id, key: key, priority: priority, route: restriction), at: now))
    }

    mutating func connected(_ id: PoolConnectionID, streams: Int? = nil) {
        connecting.removeAll { $0 == id }
        open.append(id)
        perform(pool.connected(id, PoolConnectionFacts(streamLimit: streams), at: now))
    }

    /// Completes all connection attempts successfully. This includes attempts that start during this call.
    mutating func connectAll(streams: Int? = nil) {
        while let id = connecting.first { connected(id, streams: streams) }
    }

    mutating func finish(_ request: UInt64, isReusable: Bool = true, idleTimeout: Duration? = nil) {
        guard let id = running.removeValue(forKey: request) else { return }
        perform(pool.finished(id, isReusable: isReusable, idleTimeout: idleTimeout, at: now))
    }

    /// Lets a simulated connection attempt fail.
    mutating func fail(_ id: PoolConnectionID) {
        connecting.removeAll { $0 == id }
        perform(pool.connectFailed(id, at: now))
    }

    /// Lets the peer close an idle connection.
    mutating func lose(_ id: PoolConnectionID) {
        open.removeAll { $0 == id }
        perform(pool.closed(id, at: now))
    }

    mutating func advance() { perform(pool.advance(to: now)) }

    mutating func perform(_ actions: [PoolAction]) {
        started = []
        for action in actions {
            switch action {
            case .connect(let id, _, let offersHTTP2):
                #expect(!connecting.contains(id) && !open.contains(id) && !closed.contains(id))
                connecting.append(id)
                offers.append(offersHTTP2)
            case .assign(let request, let id, let isReused):
                #expect(open.contains(id) && running[request] == nil && failed[request] == nil)
                running[request] = id
                started.append(request)
                if isReused { reused.append(request) }
            case .close(let id):
                #expect(open.contains(id) != connecting.contains(id))
                #expect(!running.values.contains(id))
                open.removeAll { $0 == id }
                connecting.removeAll { $0 == id }
                closed.append(id)
            case .fail(let request, let id):
                #expect(running[request] == nil && failed[request] == nil)
                failed[request] = id
            }
        }
    }

    /// Checks the invariants that must hold after each event.
    func check() {
        #expect(pool.connectionCount == Set(connecting + open).count)
        for host in Set(pool.groups.compactMap { $0?.key.origin.host }) {
            let group = pool.groups.compactMap { $0 }.first { $0.key.origin.host == host }
            #expect((group?.connections.count ?? 0) <= 6)
            // A group with waiting requests must have at least one connection, which can serve them later.
            if let group, !group.isServed { #expect(!group.connections.isEmpty) }
        }
    }
}
