import CausewayRuntime
import CausewayTestKit
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Turns of the protocols above a flow")
    struct TurnTests {
        /// Returns an open channel with a test protocol.
        private static func openChannel(on stage: Stage) -> StackChannel {
            let channel = StackChannel(over: stage.flow, isDatagram: false)
            channel.begin([StackLayer(LineStage())], within: .seconds(75)) { [weak channel] outcome in
                if case .ready = outcome { channel?.readyIsTold() }
            }
            stage.settle()
            stage.arrive("H")
            return channel
        }

        @Test("A program that receives again and again lets other work of its queue run")
        func shares() {
            let stage = Stage()
            let channel = Self.openChannel(on: stage)
            let (log, delivery) = (stage.log, stage.delivery)
            @Sendable func receive(_ number: Int) {
                channel.receiveMessage { _ in
                    if number == 0 { delivery.post(.call { log.note("other") }) }
                    log.note("\(number)")
                    if number < 99 { receive(number + 1) }
                }
            }
            receive(0)
            stage.settle()
            stage.arrive(String(repeating: "x\n", count: 100))
            let lines = log.all
            #expect(lines.filter { $0 != "other" } == (0..<100).map(String.init))
            #expect(lines.firstIndex(of: "other").map { $0 <= 20 } == true)
            channel.close(abortively: true) {}
            stage.settle()
        }

        @Test("A peer that never pauses does not stop the program's sends")
        func sendsBesideReceives() {
            let stage = Stage()
            let channel = Self.openChannel(on: stage)
            let log = stage.log
            @Sendable func send(_ number: Int) {
                channel.send(
                    StackMessage(
                        Data("\(number)".utf8),
                        waiter: .callback { _ in
                            log.note("sent")
                            if number < 99 { send(number + 1) }
                        }))
            }
            @Sendable func receive(_ number: Int) {
                channel.receiveMessage { _ in
                    if number == 0 { send(0) }
                    log.note("received")
                    if number < 999 { receive(number + 1) }
                }
            }
            receive(0)
            stage.settle()
            stage.arrive(String(repeating: "x\n", count: 1_000))
            let lines = log.all
            #expect(lines.count == 1_100)
            // The results of sends and receives must be mixed, because neither direction waits until the other has
            // ended. The exact number of sends is not fixed, because the queue runs in parallel with the loop.
            for part in 0..<3 {
                let share = Set(lines[(part * 200)..<((part + 1) * 200)])
                #expect(share == ["sent", "received"], "results \(part * 200) and later")
            }
            channel.close(abortively: true) {}
            stage.settle()
        }
    }
}
