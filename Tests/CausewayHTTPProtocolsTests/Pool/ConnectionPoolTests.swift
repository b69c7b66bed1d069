import CausewayTestKit
import Testing

@testable import CausewayHTTPProtocols

@Suite("Connection pool (url-loading.md 24)")
struct ConnectionPoolTests {
    @Test("A request opens a connection, the next one uses it again, and it closes after 60 s")
    func reuse() throws {
        var driver = PoolDriver()
        driver.request(1)
        let first = try #require(driver.connecting.first)
        #expect(driver.pool.waitingCount == 1)
        driver.connected(first)
        #expect(driver.running == [1: first] && driver.reused.isEmpty)
        driver.finish(1)
        driver.now += .seconds(59)
        driver.advance()
        driver.request(2)
        #expect(driver.running == [2: first] && driver.reused == [2])
        driver.finish(2)
        #expect(driver.pool.deadline == driver.now + .seconds(1))
        driver.now += .seconds(1)
        driver.advance()
        #expect(driver.closed.isEmpty && driver.pool.deadline == driver.now + .seconds(59))
        driver.now += .seconds(59)
        driver.advance()
        #expect(driver.closed == [first] && driver.pool.deadline == nil && driver.pool.connectionCount == 0)
    }

    // This test checks RFC 9112 §9.4.
    @Test("Six connections over HTTP/1; the others wait by priority, then in order")
    func limit() throws {
        var driver = PoolDriver()
        for id in 1...9 { driver.request(UInt64(id)) }
        driver.request(10, priority: 0.75)
        driver.request(11, priority: 0.25)
        driver.request(12, priority: .nan)
        #expect(driver.connecting.count == 6)
        driver.connectAll()
        #expect(Set(driver.running.keys) == [1, 2, 3, 4, 5, 10])
        driver.pool.reprioritized(9, to: 0.9)
        var order: [UInt64] = []
        while let oldest = driver.running.keys.min() {
            driver.finish(oldest)
            order += driver.started
        }
        #expect(order == [9, 6, 7, 8, 11, 12])
        #expect(driver.closed.isEmpty && driver.pool.waitingCount == 0)
    }

    @Test("Other keys have connections of their own")
    func keys() {
        var driver = PoolDriver()
        driver.request(1)
        driver.request(2, host: "b.example")
        driver.request(3, identity: "certificate")
        driver.request(4, route: "proxy:3128")
        #expect(driver.connecting.count == 4)
    }

    @Test("https: one attempt until the version is known, then six for HTTP/1")
    func version() throws {
        var driver = PoolDriver(isSecure: true)
        for id in 1...8 { driver.request(UInt64(id)) }
        #expect(driver.connecting.count == 1)
        driver.connected(try #require(driver.connecting.first))
        #expect(driver.running.keys.sorted() == [1] && driver.connecting.count == 5)
        driver.connectAll()
        #expect(driver.running.count == 6)
    }

    @Test("HTTP/2: one connection up to the peer's limit, then a second one")
    func streams() throws {
        var driver = PoolDriver(isSecure: true)
        for id in 1...5 { driver.request(UInt64(id)) }
        let first = try #require(driver.connecting.first)
        driver.connected(first, streams: 3)
        #expect(driver.running.count == 3 && driver.connecting.count == 1)
        let second = try #require(driver.connecting.first)
        driver.perform(driver.pool.streamLimitChanged(first, to: 4, at: driver.now))
        #expect(driver.running.count == 4)
        driver.finish(1)
        #expect(driver.running[5] == first && driver.pool.waitingCount == 0)
        // The second connection is no longer needed, so the pool closes it.
        driver.connected(second, streams: 3)
        for id in 2...5 { driver.finish(UInt64(id)) }
        #expect(driver.closed == [second] && driver.pool.connectionCount == 1)
    }

    @Test("A new connection starts with the limit of streams that the server stated before")
    func knownStreamLimit() throws {
        var driver = PoolDriver(isSecure: true)
        for id in 1...9 { driver.request(UInt64(id)) }
        let first = try #require(driver.connecting.first)
        driver.connected(first, streams: 100)
        #expect(driver.running.count == 9)
        driver.perform(driver.pool.streamLimitChanged(first, to: 2, at: driver.now))
        driver.perform(driver.pool.retired(first, at: driver.now))
        for id in 10...15 { driver.request(UInt64(id)) }
        let second = try #require(driver.connecting.first)
        driver.connected(second, streams: 100)
        #expect(driver.running.values.count { $0 == second } == 2 && driver.pool.waitingCount == 4)
        driver.perform(driver.pool.streamLimitChanged(second, to: 3, at: driver.now))
        #expect(driver.running.values.count { $0 == second } == 3)
    }

    @Test("After GOAWAY no stream starts, and the connection closes when the last one ends")
    func goingAway() throws {
        var driver = PoolDriver(isSecure: true)
        driver.request(1)
        let first = try #require(driver.connecting.first)
        driver.connected(first, streams: 10)
        driver.perform(driver.pool.retired(first, at: driver.now))
        driver.request(2)
        #expect(driver.closed.isEmpty && driver.connecting.count == 1)
        driver.finish(1)
        #expect(driver.closed == [first])
        driver.connectAll(streams: 10)
        #expect(driver.running[2] != nil)
    }

    // Reuse of connections: RFC 9112 §9.3.
    @Test("A connection that HTTP forbids to reuse is closed, and replaced if a request waits")
    func notReusable() throws {
        var driver = PoolDriver()
        for id in 1...7 { driver.request(UInt64(id)) }
        driver.connectAll()
        let used = try #require(driver.running[1])
        driver.finish(1, isReusable: false)
        #expect(driver.closed == [used] && driver.connecting.count == 1 && driver.running.count == 5)
        driver.connectAll()
        #expect(driver.running[7] != nil)
    }

    @Test("Keep-Alive: timeout replaces the idle time, up to a limit")
    func keepAlive() {
        for (hint, end) in [(5, 5), (120, 120), (100_000, 600)] {
            var driver = PoolDriver()
            driver.request(1)
            driver.connectAll()
            driver.finish(1, idleTimeout: .seconds(hint))
            #expect(driver.pool.deadline == driver.now + .seconds(end))
        }
    }

    @Test("Of idle connections the one that was used last is taken")
    func lastUsed() throws {
        var driver = PoolDriver()
        for id in 1...3 { driver.request(UInt64(id)) }
        driver.connectAll()
        let places = driver.running
        for id: UInt64 in [2, 3, 1] { driver.finish(id) }
        driver.request(4)
        #expect(driver.running[4] == places[1])
        driver.request(5)
        #expect(driver.running[5] == places[3])
    }

    @Test("A failed attempt fails the waiting requests if nothing else can serve them")
    func failure() throws {
        var driver = PoolDriver()
        driver.request(1)
        driver.request(2)
        let attempts = driver.connecting
        driver.fail(attempts[0])
        #expect(driver.failed.isEmpty)
        driver.fail(attempts[1])
        #expect(driver.failed == [1: attempts[1], 2: attempts[1]])
        #expect(driver.pool.connectionCount == 0 && driver.pool.waitingCount == 0 && driver.connecting.isEmpty)
        driver.request(3)
        #expect(driver.connecting.count == 1)
    }

    @Test("While other connections work, a failed attempt is repeated after a pause")
    func pause() throws {
        var driver = PoolDriver()
        driver.request(1)
        driver.connectAll()
        driver.request(2)
        let attempt = try #require(driver.connecting.first)
        driver.fail(attempt)
        #expect(driver.failed.isEmpty && driver.pool.connectionCount == 1)
        #expect(driver.pool.deadline == driver.now + .seconds(1))
        driver.request(3)
        #expect(driver.pool.connectionCount == 1)
        driver.now += .seconds(1)
        driver.advance()
        #expect(driver.pool.connectionCount == 3)
        driver.finish(1)
        #expect(driver.running[2] != nil)
    }

    @Test("Cancelling a waiting request stops its attempt; a running one is not affected")
    func cancel() throws {
        var driver = PoolDriver()
        driver.request(1)
        driver.request(2)
        let attempts = driver.connecting
        driver.perform(driver.pool.cancelled(2, at: driver.now))
        #expect(driver.closed == [attempts[1]] && driver.pool.waitingCount == 1)
        driver.connected(attempts[0])
        for id: UInt64 in [1, 7] { #expect(driver.pool.cancelled(id, at: driver.now) == []) }
        #expect(driver.running[1] == attempts[0])
    }

    @Test("A request that is sent again gets a connection that is younger than itself")
    func newConnection() throws {
        var driver = PoolDriver()
        for id in 1...6 { driver.request(UInt64(id)) }
        driver.connectAll()
        let old = Set(driver.running.values)
        for id in 1...6 { driver.finish(UInt64(id)) }
        driver.request(7, restriction: .newConnection)
        // The pool has reached its limit of six connections. To make room, it closes the connection that has been idle
        // longest.
        #expect(driver.closed.count == 1 && driver.connecting.count == 1)
        driver.connectAll()
        #expect(!old.contains(try #require(driver.running[7])))
        #expect(driver.reused.isEmpty)
    }

    @Test("A request that is sent again gets a connection that carried no other request, even if others wait")
    func unusedConnection() throws {
        var driver = PoolDriver()
        for id in 1...6 { driver.request(UInt64(id)) }
        driver.connectAll()
        for id: UInt64 in [7, 8] { driver.request(id, restriction: .newConnection) }
        driver.request(9)
        #expect(driver.connecting.isEmpty)
        driver.finish(1)
        driver.connectAll()
        #expect(driver.running[7] != nil && driver.running[8] == nil && driver.running[9] == nil)
        driver.finish(7)
        driver.connectAll()
        #expect(driver.running[8] != nil && driver.running[9] == nil)
        driver.finish(8)
        #expect(driver.running[9] != nil)
        #expect(driver.reused == [9])
    }

    @Test("A request for HTTP/1 does not use a connection of HTTP/2, and does not offer it")
    func http1() throws {
        var driver = PoolDriver(isSecure: true)
        driver.request(1)
        driver.connectAll(streams: 100)
        driver.request(2, restriction: .http1)
        #expect(driver.offers.last == false)
        driver.connectAll()
        #expect(driver.running[2] != driver.running[1] && driver.running[2] != nil)
        // The pool remembers that the server supports HTTP/2.
        driver.request(3)
        #expect(driver.running[3] == driver.running[1])
    }

    // Idle connections that the peer closes: RFC 9112 §9.5.
    @Test("A connection that the peer closes while idle is forgotten")
    func closedByPeer() throws {
        var driver = PoolDriver()
        driver.request(1)
        driver.connectAll()
        let first = try #require(driver.running[1])
        driver.finish(1)
        driver.lose(first)
        #expect(driver.pool.connectionCount == 0)
        driver.request(2)
        #expect(driver.connecting.count == 1)
        // An event that arrives after its connection was closed must change nothing.
        #expect(driver.pool.finished(first, at: driver.now) == [])
        #expect(driver.pool.retired(first, at: driver.now) == [])
        #expect(driver.pool.connected(first, PoolConnectionFacts(), at: driver.now) == [])
    }

    @Test("Of retired connections, idle ones close, busy ones finish, and none is used again")
    func retire() throws {
        var driver = PoolDriver()
        driver.request(1)
        driver.request(2)
        driver.connectAll()
        let (busy, idle) = (try #require(driver.running[1]), try #require(driver.running[2]))
        driver.finish(2)
        for id in [busy, idle] { driver.perform(driver.pool.retired(id, at: driver.now)) }
        #expect(driver.closed == [idle])
        driver.request(3)
        #expect(driver.running[3] == nil && driver.connecting.count == 1)
        driver.finish(1)
        #expect(driver.closed == [idle, busy])
    }

    @Test("The number of idle connections is limited")
    func idleLimit() {
        var limits = PoolLimits()
        limits.idleConnections = 3
        var driver = PoolDriver(limits: limits)
        for id in 1...5 { driver.request(UInt64(id), host: "\(id).example") }
        driver.connectAll()
        let places = driver.running
        for id in 1...5 {
            driver.now += .seconds(1)
            driver.finish(UInt64(id))
        }
        #expect(driver.closed == [places[1], places[2]])
    }

    @Test("Random events keep the invariants", arguments: 0..<50)
    func random(seed: Int) {
        var numbers = SplitMix64(seed: UInt64(seed))
        var driver = PoolDriver(isSecure: seed % 2 == 0)
        var next: UInt64 = 0
        for _ in 0..<400 {
            switch Int.random(in: 0...9, using: &numbers) {
            case 0...2:
                next += 1
                let routes: [PoolRequest.Route] = [.any, .any, .any, .newConnection, .newConnection, .http1]
                driver.request(
                    next, host: ["a.example", "b.example"].randomElement(using: &numbers) ?? "",
                    priority: Float.random(in: 0...1, using: &numbers),
                    restriction: routes.randomElement(using: &numbers) ?? .any)
            case 3:
                if let id = driver.connecting.randomElement(using: &numbers) {
                    driver.connected(
                        id, streams: Bool.random(using: &numbers) ? Int.random(in: 0...4, using: &numbers) : nil)
                }
            case 4: if let id = driver.connecting.randomElement(using: &numbers) { driver.fail(id) }
            case 5...6:
                if let id = driver.running.keys.sorted().randomElement(using: &numbers) {
                    driver.finish(id, isReusable: Int.random(in: 0...3, using: &numbers) > 0)
                }
            case 7:
                driver.perform(
                    driver.pool.cancelled(UInt64.random(in: 0...(next + 1), using: &numbers), at: driver.now))
            case 8:
                if let id = driver.open.randomElement(using: &numbers) {
                    driver.perform(driver.pool.retired(id, at: driver.now))
                }
            default:
                driver.now += .seconds(Int.random(in: 0...40, using: &numbers))
                driver.advance()
            }
            driver.check()
        }
        // In the end, each waiting request is served or fails, and the pool becomes empty.
        for _ in 0..<2_000 where !(driver.running.isEmpty && driver.connecting.isEmpty) {
            for id in driver.connecting { driver.fail(id) }
            for id in driver.running.keys.sorted() { driver.finish(id, isReusable: false) }
            driver.now += .seconds(2)
            driver.advance()
        }
        driver.now += .seconds(600)
        driver.advance()
        #expect(driver.pool.waitingCount == 0 && driver.pool.connectionCount == 0 && driver.pool.deadline == nil)
    }
}
