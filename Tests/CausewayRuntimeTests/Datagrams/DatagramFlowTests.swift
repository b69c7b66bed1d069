@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import FoundationEssentials
import Testing

/// Tests a flow whose datagrams are read by a shared socket.
extension Runtime {
    @Suite("Flow: receiving datagrams")
    struct DatagramFlowTests {
        static func arrive(_ stage: Stage, _ texts: String...) {
            stage.loop.batch {
                stage.flow.arrived(
                    texts.map { DatagramBatch.Train(bytes: Data($0.utf8), segment: $0.utf8.count, mark: PacketMark()) })
            }
            stage.settle()
        }

        @Test("One datagram completes one receive, and is complete but not final")
        func oneEach() {
            let stage = Stage(kind: .datagram)
            stage.receiveMessage("1")
            stage.receive("2", 1, 100)
            Self.arrive(stage, "ab", "cd", "ef")
            stage.receiveMessage("3")
            #expect(stage.log.all == ["1 'ab' complete", "2 'cd' complete", "3 'ef' complete"])
        }

        @Test("A minimum does not delay a datagram, and a maximum splits it")
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

        @Test("A batch takes all datagrams, in order with other receives")
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

        @Test("A task receives a batch, and then the end")
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

        @Test("Datagrams without a receive are kept up to a limit, and delivered later")
        func unasked() {
            let stage = Stage(kind: .datagram)
            Self.arrive(stage, "ab")
            let train = DatagramBatch.Train(bytes: Data(count: 65_000), segment: 1_000, mark: PacketMark())
            var accepted = 0
            while accepted < 1_000, stage.flow.arrived([train]) != .none { accepted += 1 }
            #expect(accepted == DatagramInbox.byteLimit / 65_000)
            stage.receiveMessage("1")
            #expect(stage.log.all == ["1 'ab' complete"])
        }

        @Test("Receives started in completions complete in the same turn of the queue, in order")
        func chain() {
            let stage = Stage(kind: .datagram)
            Self.chain(stage.flow, "", stage.log)
            Self.arrive(stage, "a", "b", "c", "d", "e")
            #expect(stage.log.all == ["a", "b", "c", "d", "e"])
        }

        @Test("A flow hands over 64 datagrams at once, and then yields to another flow on its queue")
        func fairness() {
            let (busy, other) = (Stage(kind: .datagram), Stage(kind: .datagram))
            other.flow.deliver(on: busy.delivery)
            Self.chain(busy.flow, "busy ", busy.log)
            Self.chain(other.flow, "other ", busy.log)
            busy.queue.sync {
                Self.arrive(busy.flow, (0..<200).map { "\($0)" })
                Self.arrive(other.flow, ["0"])
            }
            busy.settle()
            let lines = busy.log.all
            #expect(lines.filter { $0.hasPrefix("busy ") } == (0..<200).map { "busy \($0)" })
            #expect(lines.firstIndex(of: "other 0") == 64)
        }

        @Test("A flow that is cancelled in a completion delivers no more")
        func cancelledWithin() {
            let stage = Stage(kind: .datagram)
            stage.flow.receiveMessage { [stage] content in
                stage.log.note(Stage.line("1", content))
                _ = stage.flow.close(abortively: false, owner: stage.owner)
            }
            stage.flow.receiveMessage { [stage] content in stage.log.note(Stage.line("2", content)) }
            Self.arrive(stage, "ab", "cd")
            #expect(stage.log.all == ["1 'ab' complete", "2 error \(ECANCELED)", "closed"])
        }

        @Test("Datagrams that arrived before a failure are delivered before it")
        func failure() {
            let stage = Stage(kind: .datagram)
            stage.queue.sync {
                stage.flow.receiveMessage { [stage] content in stage.log.note(Stage.line("1", content)) }
                stage.flow.receiveMessage { [stage] content in stage.log.note(Stage.line("2", content)) }
                Self.arrive(stage.flow, ["ab"])
                stage.flow.fail(Failure(errno: ENETDOWN))
            }
            stage.settle()
            #expect(stage.log.all == ["1 'ab' complete", "2 error \(ENETDOWN)", "failed \(ENETDOWN)"])
        }

        @Test("A task receives available datagrams without waiting, and yields after 64")
        func immediate() {
            let stage = Stage(kind: .datagram)
            #expect(stage.flow.takeDatagram() == nil)
            Self.arrive(stage.flow, (0..<100).map { "\($0)" })
            var taken: [String] = []
            while let content = stage.flow.takeDatagram() {
                taken.append(String(decoding: content.data, as: UTF8.self))
            }
            #expect(taken == (0..<64).map { "\($0)" })
            stage.receiveMessage("next")
            #expect(stage.log.all == ["next '64' complete"])
        }

        /// Receives one message after another, and notes their text.
        static func chain(_ flow: Flow, _ name: String, _ log: Log) {
            flow.receiveMessage { [weak flow] content in
                guard let data = content.data else { return }
                log.note(name + String(decoding: data, as: UTF8.self))
                if let flow { chain(flow, name, log) }
            }
        }

        static func arrive(_ flow: Flow, _ texts: [String]) {
            flow.arrived(
                texts.map { DatagramBatch.Train(bytes: Data($0.utf8), segment: $0.utf8.count, mark: PacketMark()) })
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
