import Testing

@testable import CausewayHTTPProtocols

@Suite("Requests that wait for a connection")
struct WaitingRequestsTests {
    @Test("Cancelled requests leave no entries behind while another request waits")
    func cancelled() {
        var waiting = WaitingRequests()
        waiting.insert(0, priority: 0.5, serial: 0)
        var maximum = 0
        for id in 1...10_000 as ClosedRange<UInt64> {
            waiting.insert(id, priority: 0.5, serial: id)
            let isRemoved = waiting.remove(id)
            #expect(isRemoved)
            maximum = max(maximum, waiting.entryCount)
        }
        #expect(maximum <= 2 * 2 + 64 && waiting.count == 1)
        let order = waiting.takeAll()
        #expect(order == [0] && waiting.entryCount == 0)
    }

    @Test("The order is kept when outdated entries are removed")
    func order() {
        var waiting = WaitingRequests()
        for id in 0..<300 as Range<UInt64> { waiting.insert(id, priority: id % 2 == 0 ? 0.25 : 0.75, serial: id) }
        for id in 0..<300 as Range<UInt64> where id % 3 != 0 { _ = waiting.remove(id) }
        waiting.reprioritize(6, 1)
        let rest = stride(from: 0, to: 300 as UInt64, by: 6)
        let expected = [6] + rest.map { $0 + 3 } + rest.filter { $0 != 6 }
        let order = waiting.takeAll()
        #expect(order == expected)
    }
}
