import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Connections to proxies that forward requests (RFC 9112 §3.2.2)")
struct PoolForwardingTests {
    /// Returns a pool with `count` idle connections for `a.example`.
    private func driver(limit: Int = 6, count: Int = 1) throws -> (PoolDriver, [PoolConnectionID]) {
        var limits = PoolLimits()
        limits.connectionsPerKey = limit
        var driver = PoolDriver(limits: limits)
        for id in 0..<count { driver.request(100 + UInt64(id), route: "p") }
        let ids = driver.connecting
        driver.connectAll()
        for id in 0..<count { driver.finish(100 + UInt64(id)) }
        return (driver, ids)
    }

    @Test("A request for another host uses the idle connection, which then returns to its own host")
    func borrowed() throws {
        var (driver, ids) = try driver()
        driver.request(1, host: "b.example", route: "p")
        #expect(driver.running == [1: ids[0]] && driver.reused.last == 1 && driver.connecting.isEmpty)
        // The connection carries one request at a time.
        driver.request(2, route: "p")
        #expect(driver.connecting.count == 1)
        driver.finish(1)
        #expect(driver.running == [2: ids[0]])
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var route = "p"
        var identity = ""
        var needsHTTP1 = false
        var isSecure = false
        var hasPriorKnowledge = false
    }

    @Test(
        "Everything else gets its own connection",
        arguments: [
            Row(testDescription: "other proxies", route: "q"), Row(testDescription: "a direct connection", route: ""),
            Row(testDescription: "a user", identity: "u"), Row(testDescription: "an upgrade", needsHTTP1: true),
            Row(testDescription: "TLS", isSecure: true),
            Row(testDescription: "HTTP/2 by prior knowledge", hasPriorKnowledge: true),
        ])
    func separate(row: Row) throws {
        var (driver, _) = try driver()
        let key = PoolKey(
            HTTPOrigin(isSecure: row.isSecure, host: "b.example"), route: row.route, identity: row.identity,
            hasPriorKnowledge: row.hasPriorKnowledge, needsHTTP1: row.needsHTTP1)
        driver.perform(driver.pool.requested(PoolRequest(id: 1, key: key), at: driver.now))
        #expect(driver.running.isEmpty && driver.connecting.count == 1)
    }

    @Test("Direct connections never carry requests for other hosts")
    func direct() {
        var driver = PoolDriver()
        driver.request(1)
        driver.connectAll()
        driver.finish(1)
        driver.request(2, host: "b.example")
        #expect(driver.running.isEmpty && driver.connecting.count == 1)
    }

    @Test("Borrowed connections count for the limit of the host; the next request waits for one of them")
    func limit() throws {
        var (driver, ids) = try driver(limit: 2, count: 2)
        for id in 1...3 { driver.request(UInt64(id), host: "b.example", route: "p") }
        #expect(Set(driver.running.values) == Set(ids) && driver.connecting.isEmpty && driver.pool.waitingCount == 1)
        driver.finish(1)
        // The group has room again, so it opens its own connection.
        #expect(driver.connecting.count == 1)
        driver.connectAll()
        #expect(driver.running.keys.sorted() == [2, 3])
        driver.finish(2)
        driver.finish(3)
        #expect(driver.pool.waitingCount == 0 && driver.pool.deadline == driver.now + .seconds(60))
    }

    @Test("A borrowed connection that closes is returned, too", arguments: [true, false])
    func closed(isLost: Bool) throws {
        var (driver, ids) = try driver(limit: 1)
        driver.request(1, host: "b.example", route: "p")
        driver.request(2, host: "b.example", route: "p")
        #expect(driver.running == [1: ids[0]] && driver.connecting.isEmpty)
        if isLost { driver.lose(ids[0]) } else { driver.finish(1, isReusable: false) }
        #expect(driver.connecting.count == 1)
        driver.connectAll()
        #expect(driver.running[2] != nil && driver.running[2] != ids[0])
    }

    @Test("Requests of the connection's own host that wait come first")
    func waiting() throws {
        var (driver, ids) = try driver(limit: 1)
        driver.request(1, route: "p")
        driver.request(2, route: "p")
        driver.finish(1)
        #expect(driver.running == [2: ids[0]])
        driver.request(3, host: "b.example", route: "p")
        #expect(driver.running == [2: ids[0]] && driver.connecting.count == 1)
    }
}
