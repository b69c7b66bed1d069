import CausewayRuntime
import CausewaySystem
import CausewayTypes
import Synchronization
import Testing

extension Runtime {
    @Suite("Unfinished handshakes")
    struct OpeningTests {
        private static func begin(_ openings: UnfinishedOpenings?) -> (Stage, StackChannel) {
            let stage = Stage()
            let channel = StackChannel(over: stage.flow, isDatagram: false)
            channel.begin([StackLayer(LineStage())], within: .seconds(75), among: openings) {
                [log = stage.log] outcome in
                switch outcome {
                case .ready: log.note("ready")
                case .ended: log.note("ended")
                case .failed(let failure): log.note("failed \(failure.code)")
                }
            }
            stage.settle()
            return (stage, channel)
        }

        @Test("An accepted peer that is silent has ten seconds, others as long as connecting may take")
        func silence() {
            let openings = UnfinishedOpenings()
            let (stage, channel) = Self.begin(openings)
            #expect(openings.count == 1)
            stage.loop.advance(by: .seconds(9))
            stage.settle()
            #expect(stage.log.all.isEmpty && openings.count == 1)
            stage.loop.advance(by: .seconds(2))
            stage.settle()
            #expect(stage.log.all == ["failed \(Errno.timedOut)"] && openings.count == 0)
            let (other, otherChannel) = Self.begin(nil)
            other.loop.advance(by: .seconds(60))
            other.settle()
            #expect(other.log.all.isEmpty)
            withExtendedLifetime((channel, otherChannel)) {}
        }

        @Test("A finished, failed or cancelled handshake is no longer counted")
        func counted() {
            let openings = UnfinishedOpenings()
            let (finished, channel) = Self.begin(openings)
            finished.arrive("H")
            #expect(finished.log.all == ["ready"] && openings.count == 0)
            let (cancelled, other) = Self.begin(openings)
            #expect(openings.count == 1)
            other.close(abortively: true) {}
            cancelled.settle()
            #expect(openings.count == 0)
            withExtendedLifetime((channel, other)) {}
        }

        @Test("Above the usual number, silent handshakes are dropped, the oldest first; those with progress are not")
        func crowd() {
            let openings = UnfinishedOpenings(usual: 4, absolute: 8)
            let given = Mutex<[Int]>([])
            let tickets = Mutex<[Int: UnfinishedOpenings.Ticket]>([:])
            for number in 0..<20 {
                let ticket = openings.enter { patience in
                    // Handshakes with odd numbers make progress, so they are dropped only when their time limit has
                    // passed.
                    guard number % 2 == 0 || patience == .zero else { return false }
                    given.withLock { $0.append(number) }
                    let ticket = tickets.withLock { $0.removeValue(forKey: number) }
                    withExtendedLifetime(ticket) {}
                    return true
                }
                tickets.withLock { $0[number] = ticket }
            }
            let order = given.withLock { $0 }
            #expect(Array(order.prefix(2)) == [0, 2] && openings.count <= 8)
            #expect(order.count == Set(order).count)
            tickets.withLock { $0 = [:] }
            #expect(openings.count == 0)
        }

        @Test("A loop without descriptors reports that, and runs work that needs none")
        func stranded() async throws {
            let error = SystemError(errno: Errno.tooManyFiles, call: "epoll_create1")
            let loop = try TimerOnlyLoop(name: "stranded", because: error)
            let stage = Stage(begins: false)
            #expect(throws: error) { _ = try loop.register(0, for: .readable, stage.flow) }
            let order = Mutex<[String]>([])
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                loop.execute {
                    order.withLock { $0.append(loop.isCurrent ? "call" : "elsewhere") }
                    // No timer fires while the loop runs this call, however long the call takes.
                    let dropped = loop.schedule(after: .milliseconds(1)) { order.withLock { $0.append("dropped") } }
                    loop.cancel(dropped)
                    _ = loop.schedule(after: .milliseconds(20)) {
                        order.withLock { $0.append("timer") }
                        done.resume()
                    }
                }
            }
            #expect(order.withLock { $0 } == ["call", "timer"])
            await Task(executorPreference: loop.executor) { #expect(loop.isCurrent) }.value
        }
    }
}
