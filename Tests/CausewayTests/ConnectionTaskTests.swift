import CausewayRuntime
import CausewaySystem
import Dispatch
import Foundation
import Testing

@testable import Causeway

@Suite("Connections used by tasks")
struct ConnectionTaskTests {
    private let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: 9)

    @Test("Grouped content is not sent early, because it must not arrive twice")
    func groupedContentIsNotEarly() async {
        let parameters = NWParameters.tcp
        parameters.allowFastOpen = true
        let connection = NWConnection(to: endpoint, using: parameters)
        let task = Task { try await connection.send(together: [Data("once".utf8), Data("withdrawn".utf8)]) }
        task.cancel()
        await #expect(throws: NWError.posix(.ECANCELED)) { try await task.value }
        let flow = connection.driver.flow
        #expect(flow.unsentByteCount == 4)
        #expect(flow.earlyContent(atMost: 100) == Data())
    }

    @Test("Each of several calls of `close()` returns, also after the connection is released")
    func closing() async {
        let connection = NWConnection(to: endpoint, using: .tcp)
        let (releases, feed) = AsyncStream.makeStream(of: Int.self)
        for number in 1...2 { connection.update { $0.released.append { feed.yield(number) } } }
        await connection.close()
        #expect(connection.state == .cancelled)
        var iterator = releases.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 2)
        await connection.close()
    }

    @Test("A released connection keeps no handler, so `close()` cannot wait for a call of one")
    func released() {
        let connection = NWConnection(to: endpoint, using: .tcp)
        connection.connectionReleased()
        let isKept = connection.update { handlers in handlers.released.append {} }
        #expect(!isKept)
        connection.stateUpdateHandler = { _ in }
        #expect(connection.stateUpdateHandler == nil)
    }

    @Test("`close()` waits until `cancelled` is reported")
    func closingWaitsForReport() async {
        let queue = DispatchQueue(label: "reports")
        // An invalid endpoint: the connection fails without using the network.
        let connection = NWConnection(to: .unix(path: ""), using: .tcp)
        let wasReported = LockedValue(false)
        connection.stateUpdateHandler = { state in if state == .cancelled { wasReported.withLock { $0 = true } } }
        queue.suspend()
        connection.start(queue: queue)
        connection.cancel()
        while connection.state != .cancelled { await Task.yield() }
        let closing = Task {
            await connection.close()
            return wasReported.withLock { $0 }
        }
        // Give the call time to return too early, in case it has this error.
        for _ in 0..<100 { await Task.yield() }
        queue.resume()
        #expect(await closing.value)
    }
}
