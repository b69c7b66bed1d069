import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("Listener life-cycle")
struct ListenerLifecycleTests {
    typealias Lifecycle = ListenerLifecycle

    enum Event: CaseIterable {
        case started, startedWithMistake, opened, broke, cancelled, closed

        func apply(to lifecycle: inout Lifecycle) -> [Lifecycle.Action] {
            switch self {
            case .started: lifecycle.started()
            case .startedWithMistake: lifecycle.startedWithMistake(.mistake)
            case .opened: lifecycle.opened()
            case .broke: lifecycle.broke(.reset)
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
    }

    static let rows: [Row] = [
        Row(name: "start opens", before: [], event: .started, actions: [.open], state: .setup),
        Row(name: "start again", before: [.started], event: .started, actions: [], state: .setup),
        Row(name: "opened", before: [.started], event: .opened, actions: [.report(.ready)], state: .ready),
        Row(
            name: "no handler", before: [], event: .startedWithMistake, actions: [.report(.failed(.mistake))],
            state: .failed(.mistake)),
        Row(
            name: "port in use", before: [.started], event: .broke, actions: [.close], state: .failed(.reset)),
        Row(
            name: "closed after failure", before: [.started, .broke], event: .closed,
            actions: [.report(.failed(.reset))], state: .failed(.reset)),
        Row(
            name: "broken while listening", before: [.started, .opened], event: .broke, actions: [.close],
            state: .failed(.reset)),
        Row(name: "broken twice", before: [.started, .broke], event: .broke, actions: [], state: .failed(.reset)),
        Row(
            name: "cancel", before: [.started, .opened], event: .cancelled, actions: [.close], state: .cancelled),
        Row(
            name: "closed after cancel", before: [.started, .opened, .cancelled], event: .closed,
            actions: [.report(.cancelled), .release], state: .cancelled),
        Row(
            name: "cancel before the start", before: [], event: .cancelled, actions: [.close], state: .cancelled),
        Row(
            name: "cancel after failure", before: [.started, .broke, .closed], event: .cancelled, actions: [.close],
            state: .cancelled),
        Row(
            name: "closed twice", before: [.cancelled, .closed], event: .closed, actions: [], state: .cancelled),
        Row(
            name: "one of two closings", before: [.started, .broke, .cancelled], event: .closed, actions: [],
            state: .cancelled),
        Row(
            name: "both closings", before: [.started, .broke, .cancelled, .closed], event: .closed,
            actions: [.report(.failed(.reset)), .report(.cancelled), .release], state: .cancelled),
        Row(name: "cancel twice", before: [.cancelled], event: .cancelled, actions: [], state: .cancelled),
        Row(name: "start after cancel", before: [.cancelled], event: .started, actions: [], state: .cancelled),
        Row(
            name: "opened after cancel is closed", before: [.started, .cancelled], event: .opened, actions: [.close],
            state: .cancelled),
        Row(
            name: "opened after failure is closed", before: [.started, .broke], event: .opened, actions: [.close],
            state: .failed(.reset)),
    ]

    @Test("Transitions", arguments: rows)
    func transitions(_ row: Row) {
        var lifecycle = Lifecycle()
        for event in row.before { _ = event.apply(to: &lifecycle) }
        #expect(row.event.apply(to: &lifecycle) == row.actions)
        #expect(lifecycle.state == row.state)
    }

    @Test(
        "Under any order of events, states only advance, and cancelled is last and reported once",
        arguments: 0..<20 as Range<UInt64>)
    func rules(_ block: UInt64) {
        for seed in (block * 100)..<(block * 100 + 100) {
            var random = SplitMix64(seed: seed)
            var lifecycle = Lifecycle()
            var reported: [Lifecycle.State] = []
            var opens = 0
            var releases = 0
            for _ in 0..<12 {
                let event = Event.allCases.randomElement(using: &random)!
                var actions = event.apply(to: &lifecycle)[...]
                while let action = actions.popFirst() {
                    switch action {
                    case .report(let state): reported.append(state)
                    case .open:
                        opens += 1
                        #expect(reported.isEmpty)
                    case .close: actions += lifecycle.closed()
                    case .release:
                        releases += 1
                        #expect(reported.last == .cancelled)
                    }
                }
                #expect(lifecycle.state == reported.last ?? .setup)
            }
            #expect(opens <= 1 && releases == reported.count { $0 == .cancelled })
            let ranks = reported.map(Self.rank)
            #expect(zip(ranks, ranks.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(reported)")
        }
    }

    /// Returns a number that shows how early a listener state must occur. Later states have higher numbers.
    private static func rank(_ state: Lifecycle.State) -> Int {
        switch state {
        case .setup: 0
        case .waiting: 1
        case .ready: 2
        case .failed: 3
        case .cancelled: 4
        }
    }
}
