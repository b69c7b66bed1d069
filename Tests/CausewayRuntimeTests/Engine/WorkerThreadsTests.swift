import CausewayRuntime
import CausewaySystem
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

    @Test("If a second thread cannot start, work waits for the first one and does not block the caller")
    func noSecondThread() async {
        let starts = Mutex(0)
        let threads = WorkerThreads(limit: 2) { body in
            let number = starts.withLock { count in
                count += 1
                return count
            }
            return number == 1 && (try? System.startThread(named: "test-work", body)) != nil
        }
        let gate = DispatchSemaphore(value: 0)
        let isReleased = Mutex(false)
        threads.run { gate.wait() }
        let wasReleased = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            threads.run { done.resume(returning: isReleased.withLock { $0 }) }
            isReleased.withLock { $0 = true }
            gate.signal()
        }
        #expect(wasReleased)
    }

    @Test("If no thread can start, work runs before the call returns, also work that begins in other work")
    func noThread() {
        let threads = WorkerThreads(limit: 1) { _ in false }
        let order = Mutex<[Int]>([])
        threads.run {
            threads.run { order.withLock { $0.append(1) } }
            order.withLock { $0.append(2) }
        }
        threads.run { order.withLock { $0.append(3) } }
        #expect(order.withLock { $0 } == [1, 2, 3])
    }
}
