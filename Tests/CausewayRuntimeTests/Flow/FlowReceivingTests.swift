import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Flow: receiving")
    struct FlowReceivingTests {
        enum Act {
            case wants(Int, Int)
            case wantsMessage
            case arrives(String)
            /// Content arrives together with the end of the stream.
            case arrivesLast(String)
            case ends
            case fails(CInt)
            case cancels
        }

        struct Row: CustomTestStringConvertible {
            var name: String
            var acts: [Act]
            var lines: [String]

            var testDescription: String { name }
        }

        static let content: [Row] = [
            Row(name: "what is there", acts: [.wants(1, 100), .arrives("hello")], lines: ["1 'hello'"]),
            Row(name: "what was there before", acts: [.arrives("hello"), .wants(1, 100)], lines: ["1 'hello'"]),
            Row(
                name: "exact reads of a header and a body", acts: [.arrives("4abcd9"), .wants(1, 1), .wants(4, 4)],
                lines: ["1 '4'", "2 'abcd'"]),
            Row(name: "never more than the maximum", acts: [.arrives("abcdef"), .wants(1, 4)], lines: ["1 'abcd'"]),
            Row(
                name: "waits for the minimum", acts: [.wants(5, 9), .arrives("ab"), .arrives("cd"), .arrives("ef")],
                lines: ["1 'abcdef'"]),
            Row(
                name: "several pending receives complete in order",
                acts: [.wants(3, 3), .wants(1, 1), .wants(2, 9), .arrives("abcdef")],
                lines: ["1 'abc'", "2 'd'", "3 'ef'"]),
            Row(
                name: "a receive with a smaller minimum does not overtake",
                acts: [.wants(4, 4), .wants(1, 1), .arrives("ab"), .arrives("cde")],
                lines: ["1 'abcd'", "2 'e'"]),
            Row(
                name: "left-over bytes come first",
                acts: [.wants(2, 2), .arrives("abcd"), .wants(1, 3), .arrives("ef"), .wants(1, 3)],
                lines: ["1 'ab'", "2 'cd'", "3 'ef'"]),
        ]

        static let ends: [Row] = [
            Row(
                name: "the end with content below the minimum",
                acts: [.wants(9, 9), .arrivesLast("abc"), .wants(1, 9)],
                lines: ["1 'abc' complete final", "2 complete final error \(ENODATA)"]),
            // The content completes the receive call at once. The end of the stream is detected and delivered
            // afterwards.
            Row(
                name: "the end after the content was received",
                acts: [.wants(1, 9), .arrivesLast("abc"), .wants(1, 9)],
                lines: ["1 'abc'", "2 complete final"]),
            Row(name: "the end without content", acts: [.wants(1, 9), .ends], lines: ["1 complete final"]),
            Row(name: "the end before the call", acts: [.ends, .wants(1, 9)], lines: ["1 complete final"]),
            Row(
                name: "every later receive reports the end",
                acts: [.ends, .wants(1, 9), .wants(1, 9), .wantsMessage],
                lines: [
                    "1 complete final", "2 complete final error \(ENODATA)", "3 complete final error \(ENODATA)",
                ]),
            Row(
                name: "all pending receives report the end", acts: [.wants(1, 9), .wants(1, 9), .wants(1, 9), .ends],
                lines: [
                    "1 complete final", "2 complete final error \(ENODATA)", "3 complete final error \(ENODATA)",
                ]),
            Row(
                name: "a message is the whole stream", acts: [.wantsMessage, .arrives("abc"), .arrives("def"), .ends],
                lines: ["1 'abcdef' complete final"]),
        ]

        static let failures: [Row] = [
            Row(
                name: "a reset completes all receives", acts: [.wants(1, 9), .wants(1, 9), .fails(ECONNRESET)],
                lines: ["1 error \(ECONNRESET)", "2 error \(ECONNRESET)", "failed \(ECONNRESET)"]),
            Row(
                name: "earlier content is returned with the error",
                acts: [.wants(9, 9), .wants(1, 9), .arrives("abc"), .fails(ECONNRESET)],
                lines: ["1 'abc' error \(ECONNRESET)", "2 error \(ECONNRESET)", "failed \(ECONNRESET)"]),
            Row(
                name: "receives after a failure complete at once",
                acts: [.wants(1, 9), .fails(ECONNRESET), .wants(1, 9)],
                lines: ["1 error \(ECONNRESET)", "failed \(ECONNRESET)", "2 error \(ECONNRESET)"]),
            Row(
                name: "cancelling completes all receives, then ends",
                acts: [.wants(1, 9), .wants(4, 9), .wantsMessage, .cancels],
                lines: ["1 error \(ECANCELED)", "2 error \(ECANCELED)", "3 error \(ECANCELED)", "closed"]),
            Row(
                name: "cancelling returns earlier content", acts: [.wants(9, 9), .arrives("abc"), .cancels],
                lines: ["1 'abc' error \(ECANCELED)", "closed"]),
            Row(
                name: "receives after cancelling", acts: [.cancels, .wants(1, 9)],
                lines: ["closed", "1 error \(ECANCELED)"]),
            Row(
                name: "cancelling after a failure", acts: [.wants(1, 9), .fails(ECONNRESET), .cancels],
                lines: ["1 error \(ECONNRESET)", "failed \(ECONNRESET)", "nothing to close"]),
        ]

        @Test("Answers", arguments: content + ends + failures)
        func answers(_ row: Row) {
            let stage = Stage()
            var calls = 0
            for act in row.acts {
                switch act {
                case .wants(let minimum, let maximum):
                    calls += 1
                    stage.receive("\(calls)", minimum, maximum)
                case .wantsMessage:
                    calls += 1
                    stage.receiveMessage("\(calls)")
                case .arrives(let text): stage.arrive(text)
                case .arrivesLast(let text):
                    stage.kernel.arrive(text.utf8)
                    stage.kernel.end()
                    stage.edge([.readable, .peerClosed])
                case .ends:
                    stage.kernel.end()
                    stage.edge([.readable, .peerClosed])
                case .fails(let code):
                    stage.kernel.failReads(code)
                    stage.edge([.readable, .failed, .hangUp])
                case .cancels: stage.close()
                }
            }
            #expect(stage.log.all == row.lines)
            #expect(stage.kernel.callsAfterClose == 0)
        }

        @Test(
            "An end read while a write reports a reset is no end: truncated content never looks complete",
            arguments: [true, false])
        func doubtfulEnd(isReset: Bool) {
            let stage = Stage()
            stage.receive("1", 1, 9)
            if isReset { stage.kernel.failNextWrite(ECONNRESET) }
            stage.kernel.duringWrites { _ in
                stage.kernel.duringWrites(nil)
                stage.kernel.end()
                stage.edge([.readable, .peerClosed])
                stage.log.note("written")
            }
            stage.send("2", "abc")
            let answers =
                isReset
                ? ["2 error \(ECONNRESET)", "1 error \(ECONNRESET)", "failed \(ECONNRESET)"]
                : ["2 sent", "1 complete final"]
            #expect(stage.log.all == ["written"] + answers)
        }

        @Test(
            "A write that finds the connection gone during a read leaves the error to the read",
            arguments: [ECONNRESET, 0, -1])
        func brokenPipe(reason: CInt) {
            let stage = Stage()
            stage.receive("1", 4, 9)
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.failNextWrite(EPIPE)
                // This code runs on the connection's queue. Send from here, because the test stage would wait for its
                // own sends.
                for name in ["2", "3"] {
                    let waiter = SendWaiter.callback { [log = stage.log] in log.note(Stage.line(name, $0)) }
                    stage.flow.send(Outbound(Data("abc".utf8), waiter: waiter))
                }
            }
            switch reason {
            case 0: stage.kernel.arrive("x".utf8)
            // The end of the stream, which may also mean a reset after a failed write.
            case -1: stage.kernel.end()
            default: stage.kernel.failReads(reason)
            }
            stage.edge(.readable)
            let told = max(reason, 0) == 0 ? EPIPE : reason
            let first = reason == 0 ? "1 'x' error \(told)" : "1 error \(told)"
            // `reason` is the error of the read, or 0 if the read succeeds. After a successful read, the flow reads
            // again, because more content may have arrived.
            let sends = ["2 error \(told)", "3 error \(told)"]
            #expect(stage.log.all == (reason > 0 ? [first] + sends : sends + [first]) + ["failed \(told)"])
        }

        @Test("Bytes that arrive one at a time, each with its own edge, are all received")
        func dripFeed() {
            let stage = Stage()
            let text = "the quick brown fox"
            for count in [3, 1, 5, 10] { stage.receive("\(count)", count, count) }
            for character in text { stage.arrive(String(character)) }
            #expect(stage.log.all == ["3 'the'", "1 ' '", "5 'quick'", "10 ' brown fox'"])
        }

        @Test("Without a pending receive nothing is read: the peer's window closes")
        func noReadAhead() {
            let stage = Stage()
            stage.arrive(String(repeating: "x", count: 100_000))
            #expect(stage.kernel.reads.isEmpty && stage.kernel.unread == 100_000)
            stage.receive("1", 1, 9)
            let readOnce = stage.kernel.reads.count
            stage.arrive("more")
            stage.edge([.readable, .writable])
            #expect(stage.kernel.reads.count == readOnce)
        }

        @Test("A small receive reads ahead by a bounded amount, and left-over bytes cost no read")
        func boundedReadAhead() {
            let stage = Stage()
            stage.kernel.arrive(repeatElement(UInt8(ascii: "x"), count: 1 << 20))
            stage.receive("1", 1, 1)
            stage.edge(.readable)
            let taken = (1 << 20) - stage.kernel.unread
            #expect(taken > 0 && taken <= 16 << 10)
            let reads = stage.kernel.reads.count
            for call in 2...100 { stage.receive("\(call)", 1, 1) }
            #expect(stage.log.count == 100)
            #expect(stage.kernel.reads.count == reads)
        }

        @Test("Requests before the transport is attached wait for it")
        func beforeBegin() {
            let stage = Stage(begins: false)
            stage.receive("1", 1, 9)
            stage.kernel.arrive("abc".utf8)
            stage.flow.ready(for: .readable)
            stage.settle()
            #expect(stage.log.all.isEmpty)
            stage.begin()
            #expect(stage.log.all == ["1 'abc'"])
        }

        @Test("A flow without a transport completes requests and closes")
        func closedBeforeBegin() {
            let stage = Stage(begins: false)
            stage.receive("1", 1, 9)
            stage.close()
            #expect(stage.log.all == ["1 error \(ECANCELED)", "closed"])
            // A transport that is attached after the flow was closed is closed without being used.
            stage.begin()
            #expect(stage.kernel.endings == [.graceful] && stage.kernel.reads.isEmpty)
        }

        @Test("The flow keeps pending requests when its transport is detached")
        func detaching() {
            let stage = Stage()
            stage.receive("1", 5, 9)
            stage.arrive("abc")
            stage.loop.batch { stage.flow.detach() }
            stage.settle()
            #expect(stage.log.all == ["detached"] && stage.kernel.endings.count == 1)
            let next = ScriptedKernel()
            stage.begin(next)
            next.arrive("def".utf8)
            stage.edge(.readable)
            #expect(stage.log.all == ["detached", "1 'abcdef'"])
            #expect(stage.kernel.callsAfterClose == 0)
        }

        @Test("A failure without a pending read or write does not use a closed transport")
        func lateEdges() {
            let stage = Stage()
            stage.close(abortively: true)
            for readiness: Readiness in [.readable, .writable, [.failed, .hangUp]] { stage.edge(readiness) }
            #expect(stage.kernel.endings == [.abortive] && stage.kernel.callsAfterClose == 0)
            #expect(stage.log.all == ["closed"])
        }

        @Test("Cancelling during a read closes after the read, and completes once")
        func cancelDuringRead() {
            let stage = Stage()
            let seen = Log()
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                _ = stage.flow.close(abortively: false, owner: stage.owner)
                seen.note("\(stage.kernel.endings.count)")
            }
            stage.receive("1", 1, 9)
            stage.arrive("abc")
            #expect(seen.all == ["0"])
            #expect(stage.kernel.endings == [.graceful] && stage.kernel.callsAfterClose == 0)
            #expect(stage.log.all == ["1 error \(ECANCELED)", "closed"])
        }

        /// A read must not copy all content received so far. Otherwise this test would copy half a terabyte.
        @Test("A long exact receive has linear cost")
        func longExactReceive() {
            let stage = Stage()
            let length = 32 << 20
            stage.kernel.largestRead = 1_000
            let counts = Log()
            stage.flow.receive(minimum: length, maximum: length) { content in
                counts.note("\(content.data?.count ?? 0) \(content.data?.last ?? 0)")
            }
            stage.kernel.arrive(Array(repeating: 0, count: length - 1) + [7])
            for _ in 0...(length / 1_000) {
                stage.loop.batch { stage.flow.ready(for: .readable) }
                stage.queue.sync {}
            }
            stage.settle()
            #expect(counts.all == ["\(length) 7"])
        }

        @Test("Counts the bytes that the program received")
        func counts() {
            let stage = Stage()
            stage.receive("1", 1, 9)
            stage.arrive("abc")
            #expect(stage.flow.transferred == (3, 0))
        }
    }
}
