import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

/// Tests that content from before a transport failure is still received, followed by the failure.
extension Runtime {
    @Suite("Flow with a failing transport")
    struct FlowLossTests {
        /// The way in which the flow detects the transport's failure.
        enum Discovery: CaseIterable, Sendable {
            case report, write, writeBehindAnEnd
        }

        private static func breakTransport(_ stage: Stage, _ discovery: Discovery) {
            switch discovery {
            case .report:
                stage.kernel.failReads(ECONNRESET)
                stage.edge([.readable, .failed, .hangUp])
            case .write, .writeBehindAnEnd:
                // The failed write clears the error that is pending on the socket. A later read therefore returns the
                // end of the stream, not the error.
                stage.kernel.end()
                stage.kernel.failNextWrite(discovery == .write ? ECONNRESET : EPIPE)
                stage.send("s", "x")
            }
        }

        @Test("Content without a pending receive is received later, then the failure", arguments: Discovery.allCases)
        func unread(_ discovery: Discovery) {
            let stage = Stage()
            stage.arrive("abcdef")
            Self.breakTransport(stage, discovery)
            let code = discovery == .writeBehindAnEnd ? EPIPE : ECONNRESET
            let told = (discovery == .report ? [] : ["s error \(code)"]) + ["lost \(code)"]
            #expect(stage.log.take() == told)
            stage.receive("1", 1, 4)
            #expect(stage.log.take().first == "1 'abcd'")
            stage.send("t", "y")
            #expect(stage.log.take() == ["t error \(code)"])
            stage.receive("2", 1, 9)
            #expect(stage.log.take() == ["2 'ef'", "failed \(code)"])
            // If the peer ended its stream before the failure, the end is reported first.
            if discovery == .writeBehindAnEnd { stage.receive("e", 1, 9) }
            stage.receive("3", 1, 9)
            let end = discovery == .writeBehindAnEnd ? ["e complete final"] : []
            #expect(stage.log.take() == end + ["3 error \(code)"])
            #expect(stage.kernel.callsAfterClose == 0)
        }

        @Test("Content that was written whole when the transport breaks is sent; the rest fails", arguments: [2, 4])
        func answerDuringWrite(_ written: Int) {
            let stage = Stage(begins: false)
            stage.flow.attach(.scripted(stage.kernel), owner: stage.owner)
            stage.send("s", "xx")
            stage.send("t", "yy")
            stage.kernel.largestWrite = written
            stage.kernel.duringWrites { _ in
                // While the write still runs, the peer replies to the content and resets the connection.
                stage.kernel.duringWrites(nil)
                stage.kernel.arrive("answer".utf8)
                stage.kernel.failReads(ECONNRESET)
                stage.flow.ready(for: [.readable, .failed, .hangUp])
            }
            stage.loop.batch { stage.flow.begin() }
            stage.settle()
            let second = written == 4 ? "t sent" : "t error \(ECONNRESET)"
            #expect(stage.log.take().sorted() == ["lost \(ECONNRESET)", "s sent", second])
            stage.receive("1", 1, 9)
            #expect(stage.log.take().first == "1 'answer'")
            #expect(stage.kernel.callsAfterClose == 0)
        }

        @Test("Content that arrived before a flow starts is received too")
        func beforeTheBeginning() {
            let stage = Stage(begins: false)
            stage.kernel.arrive("abc".utf8)
            stage.kernel.failReads(ECONNRESET)
            stage.flow.attach(.scripted(stage.kernel), owner: stage.owner)
            stage.edge([.readable, .failed, .hangUp])
            stage.loop.batch { stage.flow.begin() }
            stage.receive("1", 1, 9)
            stage.receive("2", 1, 9)
            #expect(
                stage.log.all.filter { !$0.hasPrefix("lost") } == [
                    "1 'abc'", "failed \(ECONNRESET)", "2 error \(ECONNRESET)",
                ])
        }

        @Test(
            "Long content is received in parts, and an exact receive beyond it gets the rest with the failure"
        )
        func long() {
            let stage = Stage()
            let text = String(repeating: "0123456789", count: 10_000)
            stage.arrive(text)
            Self.breakTransport(stage, .report)
            _ = stage.log.take()
            var received = ""
            while received.count < 99_000 {
                stage.receive("", 9_000, 9_000)
                let line = stage.log.take().first { $0.hasPrefix(" '") } ?? ""
                guard line.count > 3 else { break }
                received += line.dropFirst(2).dropLast()
            }
            #expect(received == text.prefix(99_000))
            stage.receive("rest", 9_000, 9_000)
            let lines = stage.log.take()
            #expect(
                lines.first?.hasPrefix("rest '0123") == true && lines.first?.hasSuffix("error \(ECONNRESET)") == true)
            #expect(lines.last == "failed \(ECONNRESET)")
        }

        @Test("With nothing left to read, a failure is reported at once")
        func nothingLeft() {
            let stage = Stage()
            Self.breakTransport(stage, .report)
            #expect(stage.log.all == ["failed \(ECONNRESET)"])
        }

        @Test("A cancelled receive leaves the content before the failure to the next")
        func cancelledReceive() async {
            let stage = Stage()
            let task = stage.task { [stage] in
                stage.log.note(Stage.line("1", await stage.flow.receive(minimum: 9, maximum: 9)))
            }
            stage.arrive("abc")
            task.cancel()
            stage.settle()
            Self.breakTransport(stage, .report)
            stage.receive("2", 1, 9)
            stage.receive("3", 1, 9)
            #expect(
                stage.log.all.filter { !$0.hasPrefix("lost") } == [
                    "1 error \(ECANCELED)", "2 'abc'", "failed \(ECONNRESET)", "3 error \(ECONNRESET)",
                ])
            await task.value
        }

        @Test("Cancelling with unread content completes pending requests and ends")
        func cancelled() {
            let stage = Stage()
            stage.arrive("abc")
            Self.breakTransport(stage, .report)
            stage.close()
            #expect(stage.log.all == ["lost \(ECONNRESET)", "closed"])
        }

        @Test("Requests in every order: each byte before a failure is received once and in order", arguments: 0..<200)
        func randomly(seed: Int) {
            let stage = Stage()
            var random = SplitMix64(seed: UInt64(seed))
            stage.kernel.largestRead = random.integer(in: 1...40)
            let text = (0..<random.integer(in: 1...300)).map { String($0 % 10) }.joined()
            var rest = Substring(text)
            var isBroken = false
            for call in 0..<2_000 {
                switch random.integer(in: 0...3) {
                case 0 where !rest.isEmpty:
                    let piece = rest.prefix(random.integer(in: 1...50))
                    rest = rest.dropFirst(piece.count)
                    stage.arrive(String(piece))
                case 1 where rest.isEmpty && !isBroken:
                    isBroken = true
                    Self.breakTransport(stage, random.chance(oneIn: 2) ? .report : .write)
                case 2 where isBroken: stage.send("s\(call)", "x")
                default: stage.receive("r", random.integer(in: 1...30), random.integer(in: 30...60))
                }
                if stage.log.all.contains("failed \(ECONNRESET)") { break }
            }
            let received = stage.log.all.filter { $0.hasPrefix("r '") }.map { $0.split(separator: "'")[1] }.joined()
            #expect(received == text)
        }
    }
}
