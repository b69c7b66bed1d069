import CausewaySystem
import Testing

@testable import Causeway

@Suite("Answers of a program's block")
struct SingleAnswerTests {
    @Test("Only the first answer is forwarded")
    func once() {
        let received = LockedValue<[Int]>([])
        let answer = SingleAnswer<Int> { value in received.withLock { $0.append(value) } }
        answer.give(1)
        answer.give(2)
        #expect(received.withLock { $0 } == [1])
    }

    @Test("An answer from within the receiver is ignored and does not block")
    func nested() {
        let count = LockedValue(0)
        let other = LockedValue<SingleAnswer<Int>?>(nil)
        let answer = SingleAnswer<Int> { value in
            count.withLock { $0 += value }
            other.withLock { $0 }?.give(10)
        }
        other.withLock { $0 = answer }
        answer.give(1)
        other.withLock { $0 = nil }
        #expect(count.withLock { $0 } == 1)
    }
}
