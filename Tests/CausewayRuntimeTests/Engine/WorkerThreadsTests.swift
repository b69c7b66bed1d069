import CausewayRuntime
import Dispatch
import Synchronization
import Testing

@Suite("Threads for long computations")
struct WorkerThreadsTests {
    private struct Count {
        var running = 0
        var maximum = 0
        var finished: [Int] = []
    }

    @Test("At most `limit` computations run at a time, in order of arrival", arguments: [1, 3])
    func bounded(_ limit: Int) async {
        let threads = WorkerThreads(limit: limit)
        let count = Mutex(Count())
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let all = DispatchGroup()
            for number in 0..<200 {
                all.enter()
                threads.run {
                    count.withLock { count in
                        count.running += 1
                        count.maximum = max(count.maximum, count.running)
                    }
                    count.withLock { count in
                        count.running -= 1
                        count.finished.append(number)
                    }
                    all.leave()
                }
            }
            all.notify(queue: .global()) { done.resume() }
        }
        let result = count.withLock { $0 }
        #expect(result.maximum <= limit && result.finished.sorted() == Array(0..<200))
        if limit == 1 { #expect(result.finished == Array(0..<200)) }
    }
}
