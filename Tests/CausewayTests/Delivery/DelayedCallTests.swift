import Dispatch
import Testing

@testable import Causeway

@Suite("Delayed calls")
struct DelayedCallTests {
    @Test("A delayed call runs once, on its queue", .timeLimit(.minutes(1)))
    func onQueue() async {
        let queue = DispatchQueue(label: "delayed")
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            queue.call(after: .zero) {
                dispatchPrecondition(condition: .onQueue(queue))
                done.resume()
            }
        }
    }
}
