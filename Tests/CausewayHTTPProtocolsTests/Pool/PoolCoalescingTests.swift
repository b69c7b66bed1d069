import Testing

@testable import CausewayHTTPProtocols

@Suite("Coalescing of HTTP/2 connections (RFC 9113 §9.1.1)")
struct PoolCoalescingTests {
    /// Returns a pool with a connection to `a.example` at 192.0.2.1 whose certificate also names other hosts.
    private func driver(streams: Int? = 10, names: [String] = ["a.example", "*.b.example"]) throws -> (
        PoolDriver, PoolConnectionID
    ) {
        var driver = PoolDriver(isSecure: true)
        driver.request(1)
        let id = try #require(driver.connecting.first)
        driver.connected(id, streams: streams, names: names, address: "192.0.2.1")
        return (driver, id)
    }

    @Test("The same address and a certificate for the other name: the connection is shared")
    func shared() throws {
        var (driver, first) = try driver()
        driver.request(2, host: "x.b.example")
        driver.request(3, host: "x.b.example")
        let attempt = try #require(driver.connecting.first)
        driver.perform(driver.pool.resolved(attempt, addresses: ["192.0.2.9", "192.0.2.1"], at: driver.now))
        #expect(driver.running[2] == first && driver.running[3] == first && driver.closed == [attempt])
        #expect(driver.reused == [2, 3] && driver.pool.waitingCount == 0)
        // Later requests use the connection without another name resolution.
        driver.request(4, host: "x.b.example")
        #expect(driver.running[4] == first && driver.connecting.isEmpty)
        for id in 1...4 { driver.finish(UInt64(id)) }
        #expect(driver.pool.deadline == driver.now + .seconds(60))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var host = "x.b.example"
        var address = "192.0.2.1"
        var route = ""
        var identity = ""
        var streams: Int? = 10
    }

    @Test(
        "Everything else gets a separate connection",
        arguments: [
            Row(testDescription: "another address", address: "192.0.2.2"),
            Row(testDescription: "another name", host: "c.example"),
            Row(testDescription: "a wildcard covers one label", host: "y.x.b.example"),
            Row(testDescription: "a wildcard does not cover its own suffix", host: "b.example"),
            Row(testDescription: "another route", route: "proxy"),
            Row(testDescription: "another client certificate", identity: "c"),
            Row(testDescription: "HTTP/1", streams: nil),
        ])
    func separate(row: Row) throws {
        var (driver, first) = try driver(streams: row.streams)
        driver.request(2, host: row.host, route: row.route, identity: row.identity)
        let attempt = try #require(driver.connecting.first)
        driver.perform(driver.pool.resolved(attempt, addresses: [row.address], at: driver.now))
        #expect(driver.running[2] == nil && driver.closed.isEmpty && driver.connecting == [attempt])
        driver.connected(attempt, streams: 10)
        #expect(driver.running[2] == attempt && attempt != first)
    }

    @Test("After 421 a separate connection is established, and the server is not shared again")
    func misdirected() throws {
        var (driver, first) = try driver()
        driver.request(2, host: "x.b.example")
        let attempt = try #require(driver.connecting.first)
        driver.perform(driver.pool.resolved(attempt, addresses: ["192.0.2.1"], at: driver.now))
        driver.finish(2)
        driver.request(3, host: "x.b.example", restriction: .ownConnection)
        let second = try #require(driver.connecting.first)
        driver.perform(driver.pool.resolved(second, addresses: ["192.0.2.1"], at: driver.now))
        driver.connected(second, streams: 10, address: "192.0.2.1")
        #expect(driver.running[3] == second && second != first)
        driver.request(4, host: "x.b.example")
        #expect(driver.running[4] == second)
    }

    @Test("A full connection is shared as far as it has room")
    func full() throws {
        var (driver, first) = try driver(streams: 2)
        driver.request(2, host: "x.b.example")
        driver.request(3, host: "x.b.example")
        let attempt = try #require(driver.connecting.first)
        driver.perform(driver.pool.resolved(attempt, addresses: ["192.0.2.1"], at: driver.now))
        #expect(driver.running[2] == first && driver.running[3] == nil && driver.connecting == [attempt])
        driver.connected(attempt, streams: 2)
        #expect(driver.running[3] == attempt)
    }

    @Test("When the shared connection goes away, the other host gets a new connection")
    func gone() throws {
        var (driver, first) = try driver()
        driver.request(2, host: "x.b.example")
        driver.perform(
            driver.pool.resolved(try #require(driver.connecting.first), addresses: ["192.0.2.1"], at: driver.now))
        driver.perform(driver.pool.retired(first, at: driver.now))
        driver.request(3, host: "x.b.example")
        #expect(driver.running[3] == nil && driver.connecting.count == 1)
    }

    @Test("Names of certificates (RFC 9525 §6.3)")
    func names() {
        #expect(PoolConnection.matches(name: "a.example", host: "a.example"))
        #expect(PoolConnection.matches(name: "*.a.example", host: "x.a.example"))
        #expect(!PoolConnection.matches(name: "*.example", host: "a.example"))
        #expect(!PoolConnection.matches(name: "x*.a.example", host: "xy.a.example"))
        #expect(!PoolConnection.matches(name: "192.0.2.1", host: "192.0.2.1"))
        #expect(!PoolConnection.matches(name: "*.a.example", host: ".a.example"))
        #expect(!PoolConnection.matches(name: "e\u{301}.example", host: "\u{E9}.example"))
        #expect(!PoolConnection.matches(name: "*.e\u{301}.example", host: "a.\u{E9}.example"))
    }
}
