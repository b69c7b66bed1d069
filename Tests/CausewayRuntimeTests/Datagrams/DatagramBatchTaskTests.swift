import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import FoundationEssentials
import Testing

/// Tasks that wait for a batch, on the loop's executor.
extension Runtime {
    @Suite("Flow: cancelled receives of batches")
    struct DatagramBatchTaskTests {
        /// Receives a batch, and notes its datagrams or the error.
        static func take(_ stage: Stage, _ name: String) async {
            do throws(Failure) {
                let batch = try await stage.flow.receiveBatch()
                let texts = batch.map { $0.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
                stage.log.note("\(name) \(texts ?? "end")")
            } catch {
                stage.log.note("\(name) error \(error.code)")
            }
        }

        static func receive(_ stage: Stage, _ name: String) -> Task<Void, Never> {
            stage.task { [stage] in await Self.take(stage, name) }
        }

        @Test("Cancelling a task ends only its receive, and loses no datagram")
        func waiting() async {
            let stage = Stage(kind: .datagram)
            let first = Self.receive(stage, "1")
            let second = Self.receive(stage, "2")
            first.cancel()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            DatagramFlowTests.arrive(stage, "ab", "cd")
            #expect(stage.log.all == ["1 error \(ECANCELED)", "2 ab cd"])
            await first.value
            await second.value
        }

        @Test("A task that was cancelled before receives nothing, and the datagrams stay")
        func before() async {
            let stage = Stage(kind: .datagram)
            DatagramFlowTests.arrive(stage, "ab", "cd")
            let task = Task(executorPreference: stage.loop.executor) { [stage] in await Self.take(stage, "1") }
            task.cancel()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            let next = Self.receive(stage, "2")
            #expect(stage.log.all == ["1 error \(ECANCELED)", "2 ab cd"])
            await task.value
            await next.value
        }

        @Test("Cancelling a task whose batch has arrived changes nothing")
        func after() async {
            let stage = Stage(kind: .datagram)
            let task = Self.receive(stage, "1")
            stage.loop.batch {
                DatagramFlowTests.arrive(stage.flow, ["ab"])
                task.cancel()
            }
            stage.settle()
            #expect(stage.log.all == ["1 ab"])
            await task.value
        }

        @Test("Cancelling the home task ends only its receive")
        func home() async {
            let stage = Stage(kind: .datagram)
            let home = stage.task { [stage] in
                stage.flow.makeHome()
                await Self.take(stage, "1")
                await Self.take(stage, "2")
                stage.flow.leaveHome()
            }
            stage.flow.cancelHome()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            DatagramFlowTests.arrive(stage, "ab")
            #expect(stage.log.all == ["1 error \(ECANCELED)", "2 ab"])
            await home.value
        }
    }
}
