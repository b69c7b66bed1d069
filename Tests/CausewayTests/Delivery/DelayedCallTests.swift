import Dispatch
import Testing

@testable import Causeway

@Suite("Delayed calls")
struct DelayedCallTests {
    @Test("A delayed call runs once, on its queue")
    func onQueue() async {
        let (key, queue) = (DispatchSpecificKey<Bool>(), DispatchQueue(label: "delayed"))
        queue.setSpecific(key: key, value: true)
        // A second call would resume the continuation again, which traps.
        let isOnQueue = await withCheckedContinuation { (done: CheckedContinuation<Bool?, Never>) in
            queue.call(after: .zero) { done.resume(returning: DispatchQueue.getSpecific(key: key)) }
        }
        #expect(isOnQueue == true)
    }
}
