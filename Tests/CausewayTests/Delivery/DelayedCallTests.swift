import Dispatch
import Testing

@testable import Causeway

@Suite("Delayed calls")
struct DelayedCallTests {
    @Test("A delayed call runs once, on its queue")
    func onQueue() async {
        let (key, queue) = (DispatchSpecificKey<Bool>(), DispatchQueue(label: "delayed"))
        queue.setSpecific(key: key, value: true)
        // The closure must run only once. A second run would resume the continuation again and trap.
        let isOnQueue = await withCheckedContinuation { (done: CheckedContinuation<Bool?, Never>) in
            queue.call(after: .zero) { done.resume(returning: DispatchQueue.getSpecific(key: key)) }
        }
        #expect(isOnQueue == true)
    }

    @Test("Every duration is a delay")
    func longest() async {
        let (queue, longest) = (DispatchQueue(label: "delayed"), Duration.seconds(Int64.max) * 18)
        for delay in [longest, .seconds(Int64.max), .nanoseconds(Int64.max)] {
            queue.call(after: delay) { Issue.record("called after \(delay)") }
        }
        await withCheckedContinuation { done in queue.call(after: .zero - longest) { done.resume() } }
    }
}
