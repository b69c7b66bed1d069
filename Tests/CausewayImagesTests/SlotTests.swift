import CausewayImageFormats
import CausewaySystem
import CausewayTestKit
import Testing

@Suite("Image slots")
struct SlotTests {
    private typealias Slot = ImageSlot<Int, String>

    @Test("I1: The placeholder is drawn until the image arrives, and another picture after a failure")
    func placeholder() {
        var slot = Slot(placeholder: "grey", failurePicture: "broken")
        #expect(slot.picture == "grey")
        let first = slot.begin(1)
        #expect(slot.picture == "grey")
        slot.preview("coarse", for: first)
        #expect(slot.picture == "coarse")
        slot.finish(.success("fine"), for: first)
        #expect(slot.picture == "fine")
        // Request the same image again. No new load must start, and the picture must stay visible.
        let again = slot.beginIfNeeded(1)
        #expect(again == nil && slot.picture == "fine")
        let second = slot.begin(2)
        #expect(slot.picture == "grey")
        slot.finish(.failure(CancellationError()), for: second)
        #expect(slot.picture == "broken")
        let afterFailure = slot.beginIfNeeded(2)
        #expect(afterFailure != nil)
        slot.clear()
        #expect(slot.picture == "grey" && slot.id == nil)
    }

    @Test("I1: The states of a button have images of their own, or that of the first state")
    func states() {
        enum State { case normal, highlighted, disabled }
        var slots = ImageSlots<State, Int, String>(first: .normal, slot: Slot(placeholder: "grey"))
        #expect(slots.picture(in: .highlighted) == "grey")
        let normal = slots[.normal].begin(1)
        slots[.normal].finish(.success("n"), for: normal)
        #expect(slots.picture(in: .highlighted) == "n" && slots.picture(in: .disabled) == "n")
        let highlighted = slots[.highlighted].begin(2)
        #expect(slots.picture(in: .highlighted) == "grey")
        // A ticket for one state's image is not valid for another state's image.
        let isWrongTaken = slots[.normal].finish(.success("h"), for: highlighted)
        let isTaken = slots[.highlighted].finish(.success("h"), for: highlighted)
        #expect(!isWrongTaken && isTaken)
        #expect(slots.picture(in: .highlighted) == "h" && slots.picture(in: .normal) == "n")
        slots.clear()
        #expect(slots.picture(in: .normal) == "grey")
    }

    @Test("I7: A loaded image becomes visible over the time of the fade, one from memory at once")
    func fade() {
        let clock = VirtualClock()
        var slot = Slot(fade: .milliseconds(200))
        let ticket = slot.begin(1)
        clock.advance(by: .seconds(5))
        #expect(slot.opacity(at: clock.now.offset) == 1)
        slot.finish(.success("a"), for: ticket, at: clock.now.offset)
        #expect(slot.opacity(at: clock.now.offset) == 0 && slot.isFading(at: clock.now.offset))
        clock.advance(by: .milliseconds(50))
        #expect(slot.opacity(at: clock.now.offset) == 0.25)
        clock.advance(by: .seconds(1))
        #expect(slot.opacity(at: clock.now.offset) == 1 && !slot.isFading(at: clock.now.offset))
        let ready = slot.begin(2)
        slot.finish(.success("b"), for: ready, wasLoaded: false, at: clock.now.offset)
        #expect(slot.opacity(at: clock.now.offset) == 1)
    }

    @Test("I2: In 10,000 random orders no image lands in the wrong row")
    func randomOrders() {
        for seed in 0..<10_000 {
            let clock = VirtualClock()
            var random = SplitMix64(seed: UInt64(seed))
            let rows = Rows(count: 3)
            for step in 0..<12 {
                let (row, id) = (random.integer(in: 0...2), random.integer(in: 0...5))
                clock.schedule(after: .milliseconds(step * 10)) { rows.show(id, in: row) }
                for part in 0..<2 {
                    let delay = step * 10 + random.integer(in: 0...100)
                    let fails = random.chance(oneIn: 5)
                    clock.schedule(after: .milliseconds(delay)) {
                        rows.arrive(step, isPreview: part == 0, fails: fails)
                    }
                }
            }
            clock.advance(by: .seconds(1))
            if let fault = rows.fault { Issue.record("seed \(seed): \(fault)") }
        }
    }

    /// The rows of a list, and the image requests made for them, in order.
    private final class Rows: Sendable {
        private struct State {
            var slots: [Slot]
            var requests: [(row: Int, id: Int, ticket: Slot.Ticket?)] = []
            var wanted: [Int?]
            var fault: String?
        }

        private let state: LockedValue<State>

        init(count: Int) {
            state = LockedValue(
                State(
                    slots: [Slot](repeating: Slot(placeholder: "grey"), count: count),
                    wanted: [Int?](repeating: nil, count: count)))
        }

        var fault: String? { state.withLock { $0.fault } }

        func show(_ id: Int, in row: Int) {
            state.withLock { state in
                let ticket = state.slots[row].beginIfNeeded(id)
                state.wanted[row] = id
                state.requests.append((row, id, ticket))
                Self.check(&state)
            }
        }

        /// Simulates the arrival of a request's result: an image, a preview or a failure. In the test, the result often
        /// arrives late, or before the request was made.
        func arrive(_ index: Int, isPreview: Bool, fails: Bool) {
            state.withLock { state in
                guard index < state.requests.count, let ticket = state.requests[index].ticket else { return }
                let request = state.requests[index]
                // Deliver the image to every row, although only one row requested it. This simulates a program that
                // confuses its rows.
                for row in state.slots.indices {
                    let picture = "\(request.id)"
                    if isPreview {
                        state.slots[row].preview(picture, for: ticket)
                    } else {
                        state.slots[row].finish(
                            fails ? .failure(CancellationError()) : .success(picture), for: ticket)
                    }
                }
                Self.check(&state)
            }
        }

        private static func check(_ state: inout State) {
            for (row, slot) in state.slots.enumerated() where slot.picture != "grey" {
                if slot.picture != state.wanted[row].map(String.init) {
                    state.fault = "row \(row) shows \(slot.picture ?? "nothing")"
                }
            }
        }
    }
}
