@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import FoundationEssentials
import Testing

/// What a flow makes of datagrams that somebody else has read for it.
extension Runtime {
    @Suite("Flow: receiving datagrams", .timeLimit(.minutes(1)))
    struct DatagramFlowTests {
        static func arrive(_ stage: Stage, _ texts: String...) {
            stage.loop.batch {
                stage.flow.arrived(
                    texts.map { DatagramBatch.Train(bytes: Data($0.utf8), segment: $0.utf8.count, mark: PacketMark()) })
            }
            stage.settle()
        }

        @Test("One datagram answers one call, each is complete and none is final")
        func oneEach() {
            let stage = Stage(kind: .datagram)
            stage.receiveMessage("1")
            stage.receive("2", 1, 100)
            Self.arrive(stage, "ab", "cd", "ef")
            stage.receiveMessage("3")
            #expect(stage.log.all == ["1 'ab' complete", "2 'cd' complete", "3 'ef' complete"])
        }

        @Test("A minimum does not hold a datagram back, a maximum cuts it into pieces")
        func bounds() {
            let stage = Stage(kind: .datagram)
            stage.receive("1", 50, 100)
            stage.receive("2", 1, 2)
            stage.receive("3", 1, 2)
            Self.arrive(stage, "ab", "cde")
            #expect(stage.log.all == ["1 'ab' complete", "2 'cd'", "3 'e' complete"])
        }

        @Test("An empty datagram is a message")
        func empty() {
            let stage = Stage(kind: .datagram)
            stage.receiveMessage("1")
            Self.arrive(stage, "")
            #expect(stage.log.all == ["1 '' complete"])
        }

        @Test("A batch takes all, and takes its turn among the other calls")
        func batches() {
            let stage = Stage(kind: .datagram)
            let batch: @Sendable (String) -> BatchCompletion = { [log = stage.log] name in
                { batch, error in
                    let texts = batch.map { $0.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
                    log.note("\(name) \(texts ?? "none")\(error.map { " error \($0.code)" } ?? "")")
                }
            }
            stage.receiveMessage("1")
            stage.flow.receiveBatch(batch("2"))
            stage.flow.receiveBatch(batch("3"))
            Self.arrive(stage, "ab", "cd", "ef")
            Self.arrive(stage, "gh")
            stage.flow.receiveBatch(batch("4"))
            stage.close()
            #expect(stage.log.all == ["1 'ab' complete", "2 cd ef", "3 gh", "4 none error \(ECANCELED)", "closed"])
        }

        @Test("A task takes a batch, and learns of the end")
        func batchTask() async {
            let stage = Stage(kind: .datagram)
            let task = stage.task { [stage] in
                do {
                    while true {
                        let batch = try await stage.flow.receiveBatch()
                        stage.log.note("\(batch?.count ?? 0)")
                    }
                } catch {
                    stage.log.note("error \((error as? Failure)?.code ?? 0)")
                }
            }
            Self.arrive(stage, "ab", "cd")
            Self.arrive(stage, "ef")
            stage.close()
            await task.value
            #expect(Set(stage.log.all) == ["2", "1", "error \(ECANCELED)", "closed"])
        }

        @Test("What arrives unasked is kept, within bounds, and given later")
        func unasked() {
            let stage = Stage(kind: .datagram)
            Self.arrive(stage, "ab")
            let train = DatagramBatch.Train(bytes: Data(count: 65_000), segment: 1_000, mark: PacketMark())
            var accepted = 0
            while accepted < 1_000, stage.flow.arrived([train]) { accepted += 1 }
            #expect(accepted == DatagramInbox.byteLimit / 65_000)
            stage.receiveMessage("1")
            #expect(stage.log.all == ["1 'ab' complete"])
        }

        @Test("Datagrams after the end are dropped")
        func afterClose() {
            let stage = Stage(kind: .datagram)
            stage.close()
            Self.arrive(stage, "ab")
            stage.receiveMessage("1")
            #expect(stage.log.all == ["closed", "1 error \(ECANCELED)"])
        }
    }
}
