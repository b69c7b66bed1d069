import Causeway
import Dispatch
import Testing

@Suite("Path monitor")
struct NWPathMonitorTests {
    @Test("The first callback runs on the queue, and its path is the current one")
    func callback() async throws {
        let queue = DispatchQueue(label: "paths")
        let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
        let (paths, feed) = AsyncStream.makeStream(of: NWPath.self)
        monitor.pathUpdateHandler = { path in
            dispatchPrecondition(condition: .onQueue(queue))
            feed.yield(path)
        }
        monitor.start(queue: queue)
        let path = try #require(await paths.first { _ in true })
        #expect(path.status == .satisfied)
        #expect(path.availableInterfaces.map(\.type) == [.loopback])
        #expect(monitor.currentPath == path)
        #expect(monitor.queue === queue)
        monitor.cancel()
    }

    @Test("Iteration starts the monitor, and cancelling the monitor ends the iteration")
    func iteration() async {
        let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
        var count = 0
        for await path in monitor {
            #expect(path.status == .satisfied)
            count += 1
            monitor.cancel()
        }
        #expect(count == 1)
    }

    @Test("Each of two iterations receives the path")
    func twoIterations() async {
        let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
        var first = monitor.makeAsyncIterator()
        #expect(await first.next()?.status == .satisfied)
        var second = monitor.makeAsyncIterator()
        #expect(await second.next()?.status == .satisfied)
        monitor.cancel()
        #expect(await first.next() == nil)
    }
}
