import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Timer heap")
struct TimerHeapTests {
    @Test(
        "Timers fire once each in the order of their deadlines, and never after cancellation",
        arguments: 0..<50 as Range<UInt64>)
    func agreesWithSorting(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = TimerHeap<Int>()
        var model: [(id: UInt64, deadline: Duration, body: Int)] = []
        var now: Duration = .zero
        for body in 0..<600 {
            switch random.integer(in: 0...5) {
            case 0...2:
                let deadline = now + .milliseconds(random.integer(in: -5...50))
                model.append((heap.add(at: deadline, body), deadline, body))
            case 3:
                guard let victim = model.randomElement(using: &random) else { continue }
                #expect(heap.cancel(victim.id) == victim.body)
                #expect(heap.cancel(victim.id) == nil)
                model.removeAll { $0.id == victim.id }
            case 4: now += .milliseconds(random.integer(in: 0...20))
            default:
                let due = model.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                var fired: [Int] = []
                while let body = heap.popDue(at: now) { fired.append(body) }
                #expect(fired == due.map(\.body))
                model.removeAll { $0.deadline <= now }
            }
            #expect(heap.count == model.count)
            #expect(heap.nextDeadline() == model.map(\.deadline).min())
        }
    }

    @Test("Timers with equal deadlines fire in the order in which they were added")
    func orderOfSetting() {
        var heap = TimerHeap<Int>()
        for body in 0..<100 { _ = heap.add(at: .seconds(1), body) }
        #expect(heap.popDue(at: .milliseconds(999)) == nil)
        var fired: [Int] = []
        while let body = heap.popDue(at: .seconds(1)) { fired.append(body) }
        #expect(fired == Array(0..<100))
    }

    @Test("Cancelling a timer that has fired, or an unknown one, has no effect")
    func lateCancel() {
        var heap = TimerHeap<Int>()
        let id = heap.add(at: .zero, 1)
        #expect(heap.popDue(at: .zero) == 1)
        #expect(heap.cancel(id) == nil && heap.cancel(999) == nil)
        #expect(heap.count == 0 && heap.nextDeadline() == nil)
    }

    @Test("Cancelling a timer releases its body, regardless of other cancelled entries")
    func releasesBodies() {
        final class Body {}
        weak var weakBody: Body?
        var heap = TimerHeap<Body>()
        var ids: [UInt64] = []
        for _ in 0..<500 { ids.append(heap.add(at: .seconds(1), Body())) }
        do {
            let body = Body()
            weakBody = body
            ids.append(heap.add(at: .seconds(2), body))
        }
        for id in ids { heap.cancel(id) }
        #expect(weakBody == nil && heap.count == 0 && heap.nextDeadline() == nil)
    }
}
