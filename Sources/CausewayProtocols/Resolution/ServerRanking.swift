internal import CausewayWire

/// A client's servers and their health. The health decides in which order a query tries the servers.
struct ServerRanking: Sendable {
    private(set) var servers: [DNSServer]
    private var health: [DNSServer: ServerHealth] = [:]
    private var rotation = 0

    init(_ servers: [DNSServer]) { self.servers = servers }

    /// Replaces the list of servers. Keeps the health data of each server that is also in the new list.
    mutating func use(_ servers: [DNSServer]) {
        self.servers = servers
        health = health.filter { servers.contains($0.key) }
    }

    /// Plans the order of the attempts. Each round tries every server once. Servers that respond come first in a round.
    /// Servers that recently did not respond come last. Within both groups, the servers keep their order.
    mutating func makePlan(_ settings: ResolverConfiguration.Options, at now: Duration) -> DNSAttemptPlan {
        var order = servers
        if settings.rotates, order.count > 1 {
            rotation = (rotation + 1) % order.count
            order = Array(order[rotation...] + order[..<rotation])
        }
        let isShunned = { (health: ServerHealth?) in health?.isShunned(at: now) ?? false }
        let (known, shunned) = (order.filter { !isShunned(health[$0]) }, order.filter { isShunned(health[$0]) })
        let (servers, rounds) = (known + shunned, max(1, settings.attempts))
        let plan = (0..<rounds).flatMap { round in servers.map { DNSAttempt(server: $0, round: round) } }
        // From the second round on, servers that never answered with EDNS get queries without EDNS. If only one round
        // is configured, add a second attempt for these servers, unless they already get queries without EDNS.
        guard rounds == 1 else { return DNSAttemptPlan(plan) }
        let unknown = servers.filter { health[$0]?.mayDropExtensions(at: now) ?? true }
        return DNSAttemptPlan(plan + unknown.map { DNSAttempt(server: $0, round: 1, isSpare: true) })
    }

    // MARK: A server's health

    func answersExtensions(_ server: DNSServer) -> Bool { health[server]?.answersExtensions == true }

    func answersStreams(_ server: DNSServer) -> Bool { health[server]?.answersStreams == true }

    func needsPlainCase(_ server: DNSServer) -> Bool { health[server]?.needsPlainCase == true }

    func refusesExtensions(_ server: DNSServer, at now: Duration) -> Bool {
        health[server]?.refusesExtensions(at: now) == true
    }

    /// Returns how long to wait for this server before the next server is queried.
    func patience(for server: DNSServer, atMost limit: Duration, round: Int) -> Duration {
        health[server, default: ServerHealth()].patience(atMost: limit, round: round)
    }

    // MARK: Events

    mutating func answered(_ server: DNSServer, after time: Duration, over carrier: DNSCarrier) {
        health[server, default: ServerHealth()].answered(after: time, over: carrier)
    }

    mutating func wasSilent(_ server: DNSServer, at now: Duration) {
        health[server, default: ServerHealth()].wasSilent(at: now)
    }

    /// Records that the server did not answer a message. The server counts as silent only if it had enough time to
    /// answer.
    mutating func leftUnanswered(_ server: DNSServer, since sentAt: Duration, timeout: Duration, at now: Duration) {
        guard now - sentAt >= patience(for: server, atMost: timeout, round: 0) else { return }
        wasSilent(server, at: now)
    }

    /// Records that the server answered a query with EDNS.
    mutating func answeredExtensions(_ server: DNSServer) {
        health[server, default: ServerHealth()].answeredExtensions()
    }

    mutating func rejectedExtensions(_ server: DNSServer) {
        health[server, default: ServerHealth()].rejectedExtensions()
    }

    mutating func droppedExtensions(_ server: DNSServer, at now: Duration) {
        health[server, default: ServerHealth()].droppedExtensions(at: now)
    }

    /// Records that the server changes the case in names.
    mutating func changedCase(_ server: DNSServer) {
        health[server, default: ServerHealth()].changedCase()
    }
}
