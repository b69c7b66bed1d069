import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

/// Tests a flow under random events, such as calls, readiness events, short reads and writes, ends of the stream, and
/// cancellations. Some events occur during a system call.
extension Runtime {
    @Suite("Flow under random events")
    struct FlowPropertyTests {
        /// The state of one random run: the flow under test, and the expected results.
        final class Run: Sendable {
            struct State: Sendable {
                var random: SplitMix64
                var arrived: [UInt8] = []
                var received: [UInt8] = []
                var receiveAnswers: [Int] = []
                var receiveCount = 0
                var sent: [UInt8] = []
                var sendAnswers: [Int: Bool] = [:]
                var sendEnds: [Int: Int] = [:]
                var sendCount = 0
                var answeredTwice = 0
                var hasEnded = false
                var isClosed = false
                var finalCount = 0
                var depth = 0
            }

            let stage = Stage()
            let state: LockedValue<State>

            init(seed: UInt64) {
                var random = SplitMix64(seed: seed)
                stage.kernel.room = random.integer(in: 0...100)
                if random.chance(oneIn: 2) { stage.kernel.largestWrite = random.integer(in: 1...60) }
                state = LockedValue(State(random: random))
                // Perform random operations during a system call. They simulate calls from other threads.
                let meddle: @Sendable (IOResult) -> Void = { [unowned self] _ in
                    let mayMeddle = self.state.withLock { state in
                        guard state.depth < 2, state.random.chance(oneIn: 4) else { return false }
                        state.depth += 1
                        return true
                    }
                    guard mayMeddle else { return }
                    self.step()
                    self.state.withLock { $0.depth -= 1 }
                }
                stage.kernel.duringReads(meddle)
                stage.kernel.duringWrites(meddle)
            }

            private func draw(_ range: ClosedRange<Int>) -> Int { state.withLock { $0.random.integer(in: range) } }

            // MARK: Events

            func step() {
                switch draw(0...22) {
                case 0...4: receive()
                case 5: receiveMessage()
                case 6...9: send()
                case 10...14: arrive()
                case 15...18: makeRoom()
                case 19: edge(draw(0...1) == 0 ? .readable : .writable)
                case 20 where draw(0...9) == 0: end()
                case 21 where draw(0...19) == 0: close()
                case 22 where draw(0...1) == 0: stage.flow.cork()
                default: stage.flow.uncork()
                }
            }

            private func edge(_ readiness: Readiness) { stage.loop.batch { stage.flow.ready(for: readiness) } }

            private func receive() {
                let minimum = draw(0...60)
                let id = nextReceive()
                stage.flow.receive(minimum: minimum, maximum: draw(1...80)) { [unowned self] in self.answered(id, $0) }
            }

            private func receiveMessage() {
                guard draw(0...5) == 0 else { return }
                let id = nextReceive()
                stage.flow.receiveMessage { [unowned self] in self.answered(id, $0) }
            }

            private func nextReceive() -> Int {
                state.withLock { state in
                    state.receiveCount += 1
                    return state.receiveCount
                }
            }

            private func answered(_ id: Int, _ content: ReceivedContent) {
                let bytes = content.data.map { Array($0) } ?? []
                state.withLock { state in
                    state.receiveAnswers.append(id)
                    state.received += bytes
                    if content.isFinal, content.error == nil { state.finalCount += 1 }
                }
            }

            private func send() {
                let count = draw(0...120)
                let (id, bytes) = state.withLock { state in
                    state.sendCount += 1
                    let bytes = state.random.bytes(count)
                    state.sent += bytes
                    state.sendEnds[state.sendCount] = state.sent.count
                    return (state.sendCount, bytes)
                }
                stage.flow.send(
                    Outbound(
                        Data(bytes),
                        waiter: .callback { [unowned self] failure in
                            self.state.withLock { state in
                                if state.sendAnswers[id] != nil { state.answeredTwice += 1 }
                                state.sendAnswers[id] = failure == nil
                            }
                        }))
            }

            private func arrive() {
                let count = draw(1...200)
                let bytes = state.withLock { state -> [UInt8] in
                    guard !state.hasEnded else { return [] }
                    let bytes = state.random.bytes(count)
                    state.arrived += bytes
                    return bytes
                }
                guard !bytes.isEmpty else { return }
                stage.kernel.arrive(bytes)
                edge(.readable)
            }

            /// Makes more room in the simulated send buffer. If the last write did not fit, reports `writable`. In
            /// other cases, reports `writable` in one of ten calls, at random.
            private func makeRoom() {
                let lastWrite = stage.kernel.writes.last
                let wasBlocked = lastWrite.map { $0.result != .moved($0.offered) } ?? false
                stage.kernel.room += draw(1...150)
                if wasBlocked || draw(0...9) == 0 { edge(.writable) }
            }

            private func end() {
                state.withLock { $0.hasEnded = true }
                stage.kernel.end()
                edge([.readable, .peerClosed])
            }

            func close() {
                state.withLock { $0.isClosed = true }
                _ = stage.flow.close(abortively: draw(0...1) == 0, owner: stage.owner)
            }

            // MARK: Invariants

            /// Checks that the flow has no work left that it could do without further events.
            func expectNoneForgotten(_ seed: UInt64) {
                stage.kernel.duringReads(nil)
                stage.kernel.duringWrites(nil)
                stage.flow.uncork()
                stage.settle()
                let state = state.withLock { $0 }
                guard !state.isClosed else { return }
                let isWaiting = state.receiveAnswers.count < state.receiveCount
                if isWaiting { #expect(stage.kernel.unread == 0, "seed \(seed): available content was not read") }
                if isWaiting { #expect(!state.hasEnded, "seed \(seed): a request waits after the end") }
                if state.sendAnswers.count < state.sendCount {
                    let lastWrite = stage.kernel.writes.last
                    #expect(
                        lastWrite.map { $0.result != .moved($0.offered) } == true,
                        "seed \(seed): possible writes were not done")
                }
            }

            func expectAllAnswered(_ seed: UInt64) {
                let state = state.withLock { $0 }
                #expect(state.receiveAnswers == Array(1..<(state.receiveCount + 1)), "seed \(seed)")
                #expect(state.sendAnswers.count == state.sendCount && state.answeredTwice == 0, "seed \(seed)")
                #expect(
                    state.arrived.starts(with: state.received), "seed \(seed): bytes lost, duplicated or out of order")
                #expect(
                    state.sent.starts(with: stage.kernel.written),
                    "seed \(seed): bytes lost, duplicated or out of order")
                for (id, isSent) in state.sendAnswers where isSent {
                    #expect(
                        (state.sendEnds[id] ?? .max) <= stage.kernel.written.count,
                        "seed \(seed): completed before it was taken")
                }
                #expect(state.finalCount <= 1, "seed \(seed)")
                #expect(stage.kernel.callsAfterClose == 0 && stage.kernel.endings.count == 1, "seed \(seed)")
                #expect(stage.log.all.last == "closed" && stage.log.count == 1, "seed \(seed): \(stage.log.all)")
            }
        }

        @Test("Every request completes once, in order, and no byte is lost", arguments: 0..<20 as Range<UInt64>)
        func everythingAnswered(_ block: UInt64) {
            for seed in (block * 25)..<(block * 25 + 25) {
                let run = Run(seed: seed)
                for _ in 0..<120 {
                    run.step()
                    run.stage.settle()
                }
                run.expectNoneForgotten(seed)
                run.close()
                run.stage.settle()
                run.expectAllAnswered(seed)
            }
        }
    }
}
