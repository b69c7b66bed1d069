import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("Group life-cycle")
struct GroupLifecycleTests {
    typealias Lifecycle = GroupLifecycle

    static let noNetwork = Failure(errno: 100)
    static let inUse = Failure(errno: 98)

    enum Event: CaseIterable {
        case started, startedWithMistake, joined, left, broke, cancelled, closed

        func apply(to lifecycle: inout Lifecycle) -> [Lifecycle.Action] {
            switch self {
            case .started: lifecycle.started()
            case .startedWithMistake: lifecycle.startedWithMistake(inUse)
            case .joined: lifecycle.membershipsChanged(to: 2, reason: noNetwork)
            case .left: lifecycle.membershipsChanged(to: 0, reason: noNetwork)
            case .broke: lifecycle.broke(inUse)
            case .cancelled: lifecycle.cancelled()
            case .closed: lifecycle.closed()
            }
        }
    }

    struct Row: CustomTestStringConvertible {
        var name: String
        var before: [Event]
        var event: Event
        var actions: [Lifecycle.Action]
        var state: Lifecycle.State

        var testDescription: String { name }

        init(
            _ name: String, _ before: [Event], _ event: Event, _ actions: [Lifecycle.Action], _ state: Lifecycle.State
        ) {
            (self.name, self.before, self.event, self.actions, self.state) = (name, before, event, actions, state)
        }
    }

    static let rows: [Row] = [
        Row("start opens", [], .started, [.open], .setup),
        Row("start again", [.started], .started, [], .setup),
        Row("a mistake", [], .startedWithMistake, [.close], .failed(inUse)),
        Row("a mistake, closed", [.startedWithMistake], .closed, [.report(.failed(inUse))], .failed(inUse)),
        Row("joined", [.started], .joined, [.report(.ready), .send], .ready),
        Row("joined on another interface too", [.started, .joined], .joined, [], .ready),
        Row("no interface", [.started], .left, [.report(.waiting(noNetwork))], .waiting(noNetwork)),
        Row("still no interface", [.started, .left], .left, [], .waiting(noNetwork)),
        Row("an interface comes", [.started, .left], .joined, [.report(.ready), .send], .ready),
        Row(
            "the last interface goes", [.started, .joined], .left, [.report(.waiting(noNetwork))], .waiting(noNetwork)),
        Row("port in use", [.started], .broke, [.close], .failed(inUse)),
        Row("broken while ready", [.started, .joined], .broke, [.close], .failed(inUse)),
        Row("joined after failure", [.started, .broke], .joined, [], .failed(inUse)),
        Row("events before the start", [], .joined, [], .setup),
        Row("cancel", [.started, .joined], .cancelled, [.close], .cancelled),
        Row("cancelled, closed", [.started, .cancelled], .closed, [.report(.cancelled), .release], .cancelled),
        Row("cancel after failure", [.started, .broke, .closed], .cancelled, [.close], .cancelled),
        Row("cancel before start", [], .cancelled, [.close], .cancelled),
        Row("closed twice", [.cancelled, .closed], .closed, [], .cancelled),
        Row("cancel twice", [.cancelled], .cancelled, [], .cancelled),
        Row("start after cancel", [.cancelled], .started, [], .cancelled),
        Row("joined after cancel", [.started, .cancelled], .joined, [], .cancelled),
        Row("broken after cancel", [.started, .cancelled], .broke, [], .cancelled),
    ]

    @Test(arguments: rows)
    func transition(_ row: Row) {
        var lifecycle = Lifecycle()
        for event in row.before { _ = event.apply(to: &lifecycle) }
        #expect(row.event.apply(to: &lifecycle) == row.actions)
        #expect(lifecycle.state == row.state)
    }

    @Test(
        "Under any order of events, cancelled is reported once and last, and nothing is sent after the end",
        arguments: 0..<200 as Range<UInt64>)
    func anyOrder(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var lifecycle = Lifecycle()
        var actions: [Lifecycle.Action] = []
        for _ in 0..<30 {
            guard let event = Event.allCases.randomElement(using: &random) else { continue }
            let before = lifecycle.isOver
            let new = event.apply(to: &lifecycle)
            if before { #expect(!new.contains(.send) && !new.contains(.open)) }
            actions += new
        }
        actions += lifecycle.cancelled()
        // Report that each close is complete.
        for _ in 0..<31 { actions += lifecycle.closed() }
        #expect(actions.filter { $0 == .report(.cancelled) }.count == 1)
        #expect(actions.last == .release)
        #expect(actions.filter { $0 == .open }.count <= 1)
    }
}
