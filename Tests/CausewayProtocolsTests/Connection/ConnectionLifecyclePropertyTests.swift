import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("Connection life-cycle under any order of events")
struct ConnectionLifecyclePropertyTests {
    typealias Lifecycle = ConnectionLifecycle
    typealias Event = ConnectionLifecycleTests.Event

    static func randomEvent(_ random: inout SplitMix64, isDatagram: Bool) -> Event {
        switch random.integer(in: 0...23) {
        case 0...2: .started
        case 3: .startedEstablished
        case 4: .startedWithMistake
        case 5...8: .established
        case 9...11: .exhausted
        case 12...14: .retry
        case 15: .broke
        case 16: .cancelled
        case 17: .aborted
        case 18, 19: .closed
        case 20: .lost
        default: .endpointCancelled(isDatagram: isDatagram)
        }
    }

    /// Checks each action that the state machine returns.
    struct Watcher {
        let isDatagram: Bool
        var reported: [Lifecycle.State] = []
        var isReleased = false
        var isWatchingNetwork = false
        var closeCount = 0
        var failCount = 0
        var isOpen = false

        mutating func note(_ action: Lifecycle.Action) {
            #expect(!isReleased, "\(action) after the release")
            if reported.last == .cancelled { #expect(action == .release, "\(action) after cancelled") }
            switch action {
            case .report(let state): note(state)
            case .establish: #expect(reported.last == .preparing)
            case .tryNextEndpoint: #expect(reported.last == .preparing)
            case .accept: #expect(reported == [.preparing])
            case .stopEstablishing: #expect(reported.last == .preparing)
            case .watchNetwork:
                #expect(!isWatchingNetwork)
                isWatchingNetwork = true
            case .stopWatching:
                #expect(isWatchingNetwork)
                isWatchingNetwork = false
            case .open:
                #expect(reported.last == .ready && !isOpen)
                isOpen = true
            case .fail:
                failCount += 1
                #expect(failCount == 1 && closeCount == 0)
            case .close:
                closeCount += 1
                #expect(closeCount == 1 && !isWatchingNetwork)
            case .release:
                #expect(reported.last == .cancelled)
                isReleased = true
            }
        }

        private mutating func note(_ state: Lifecycle.State) {
            let last = reported.last
            reported.append(state)
            switch (last, state) {
            case (_, .setup): Issue.record("setup was reported")
            case (nil, .preparing), (nil, .failed), (nil, .cancelled): break
            case (.preparing, .ready), (.preparing, .waiting), (.waiting, .preparing): break
            case (.ready, .preparing):
                #expect(isDatagram, "a stream returned to preparing")
                isOpen = false
            case (.preparing, .failed), (.waiting, .failed): #expect(failCount == 1)
            // If a connection fails after it was ready, it may leave its flow open.
            case (.ready, .failed): break
            case (.failed, .cancelled), (.preparing, .cancelled), (.waiting, .cancelled), (.ready, .cancelled):
                #expect(closeCount == 1)
            default: Issue.record("from \(String(describing: last)) to \(state)")
            }
        }
    }

    @Test("One end, cancelled last and once, no return to an earlier state", arguments: 0..<20 as Range<UInt64>)
    func rules(_ block: UInt64) {
        for seed in (block * 100)..<(block * 100 + 100) {
            var random = SplitMix64(seed: seed)
            let isDatagram = random.chance(oneIn: 2)
            var lifecycle = Lifecycle()
            var watcher = Watcher(isDatagram: isDatagram)
            var wasCancelled = false
            for _ in 0..<40 {
                let event = Self.randomEvent(&random, isDatagram: isDatagram)
                for action in event.apply(to: &lifecycle) { watcher.note(action) }
                if case .cancelled = event { wasCancelled = true }
                if case .aborted = event { wasCancelled = true }
                #expect(lifecycle.isEnding == wasCancelled)
                #expect(lifecycle.state == watcher.reported.last ?? .setup)
            }
            // A cancellation must end the connection from every state.
            for event in [Event.cancelled, .closed, .closed, .cancelled] {
                for action in event.apply(to: &lifecycle) { watcher.note(action) }
            }
            #expect(watcher.isReleased && lifecycle.state == .cancelled, "seed \(seed)")
            #expect(watcher.reported.count { $0 == .cancelled } == 1)
            #expect(watcher.closeCount == 1 && !watcher.isWatchingNetwork)
        }
    }
}
