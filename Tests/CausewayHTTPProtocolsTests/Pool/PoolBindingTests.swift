import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Connection pool: requests that continue on one connection")
struct PoolBindingTests {
    @Test("A request waits for the connection that it continues, although others are free")
    func continues() throws {
        var driver = PoolDriver()
        for id in [1, 2] as [UInt64] { driver.request(id, identity: "i") }
        driver.connectAll()
        let first = try #require(driver.running[1])
        driver.finish(2)
        driver.request(3, identity: "i", restriction: .continuing(first))
        #expect(driver.running[3] == nil && driver.connecting.isEmpty)
        driver.finish(1)
        #expect(driver.running[3] == first && driver.reused == [3])
        driver.finish(3)
        driver.request(4, identity: "i", restriction: .continuing(first))
        #expect(driver.running[4] == first)
        driver.check()
    }

    @Test("Without its connection, the request fails: before it, while it waits, and after the last response")
    func fails() throws {
        var driver = PoolDriver()
        driver.request(1, identity: "i")
        driver.connectAll()
        let first = try #require(driver.running[1])
        driver.request(2, identity: "i", restriction: .continuing(first))
        driver.finish(1, isReusable: false)
        #expect(driver.failed == [2: first] && driver.connecting.isEmpty)
        driver.request(3, identity: "i", restriction: .continuing(first))
        #expect(driver.failed[3] == first && driver.pool.waitingCount == 0)
        driver.request(4, identity: "i")
        driver.connectAll()
        let second = try #require(driver.running[4])
        driver.finish(4)
        driver.lose(second)
        driver.request(5, identity: "i", restriction: .continuing(second))
        #expect(driver.failed[5] == second)
        driver.check()
    }

    @Test("A cancelled request leaves its connection")
    func cancelled() throws {
        var driver = PoolDriver()
        driver.request(1, identity: "i")
        driver.connectAll()
        let first = try #require(driver.running[1])
        driver.request(2, identity: "i", restriction: .continuing(first))
        driver.perform(driver.pool.cancelled(2, at: driver.now))
        driver.finish(1)
        driver.request(3, identity: "i")
        #expect(driver.running[3] == first && driver.failed.isEmpty)
    }

    @Test("Connections that requests authenticate use HTTP/1.1, and only for their identity")
    func needsHTTP1() {
        let origin = HTTPOrigin(isSecure: true, host: "a.example")
        var pool = ConnectionPool()
        let key = PoolKey(origin, identity: "i", needsHTTP1: true)
        guard
            case .connect(let id, _, offersHTTP2: false) = pool.requested(PoolRequest(id: 1, key: key), at: .zero).first
        else {
            Issue.record("offers HTTP/2")
            return
        }
        _ = pool.connected(id, PoolConnectionFacts(), at: .zero)
        _ = pool.finished(id, at: .zero)
        let others = pool.requested(PoolRequest(id: 2, key: PoolKey(origin)), at: .zero)
        guard case .connect(let other, _, offersHTTP2: true) = others.first else {
            Issue.record("shares the connection")
            return
        }
        #expect(other != id && others.count == 1)
    }
}
