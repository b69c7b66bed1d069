import CausewayProtocols
import CausewayTypes
import Testing

@Suite("Framer stage")
struct FramerStageTests {
    private func call(_ stage: inout FramerStage) -> FramerCall? {
        guard case FramerEvent.call(let call)? = stage.nextEvent() else { return nil }
        return call
    }

    private func writes(_ stage: inout FramerStage, _ count: Int) -> Bool { stage.writeNext(count) }

    private func delivers(_ stage: inout FramerStage, _ count: Int) -> Bool {
        stage.deliverNext(count, metadata: [], endsMessage: true)
    }

    private func ready() -> FramerStage {
        var stage = FramerStage()
        stage.start(at: .zero)
        _ = stage.nextEvent()
        stage.startEnded(isReady: true)
        return stage
    }

    /// Returns a framer stage that has begun an input call. The call has not returned yet.
    private func reading(_ bytes: [UInt8]) -> FramerStage {
        var stage = ready()
        stage.receive(MessageChunk(bytes, endsMessage: false), at: .zero)
        _ = stage.nextEvent()
        return stage
    }

    private func inbound(_ stage: inout FramerStage) -> [(bytes: [UInt8], ends: Bool, final: Bool)] {
        var all: [([UInt8], Bool, Bool)] = []
        while let chunk = stage.nextInbound(atMost: .max) {
            all.append((chunk.bytes.bytes, chunk.endsMessage, chunk.isFinal))
        }
        return all
    }

    private func outbound(_ stage: inout FramerStage) -> [(bytes: [UInt8], ends: Bool, final: Bool)] {
        var all: [([UInt8], Bool, Bool)] = []
        while let chunk = stage.nextOutbound(atMost: .max) {
            all.append((chunk.bytes.bytes, chunk.endsMessage, chunk.isFinal))
        }
        return all
    }

    @Test("One call at a time: start first, then the calls that arrived meanwhile")
    func oneCall() {
        var stage = FramerStage()
        #expect(call(&stage) == nil)
        stage.start(at: .zero)
        stage.receive(MessageChunk([1], endsMessage: false), at: .zero)
        #expect(call(&stage)?.kind == .start)
        #expect(call(&stage) == nil)
        stage.inputEnded(wanting: 0)
        #expect(call(&stage) == nil)
        stage.startEnded(isReady: false)
        #expect(stage.status == .opening)
        let input = call(&stage)
        #expect(input?.kind == .input)
        #expect(input?.length == 1)
        stage.markReady()
        #expect(stage.status == .ready)
    }

    @Test("A window has the requested bytes, or reports that there are fewer")
    func window() {
        var stage = reading([1, 2, 3, 4])
        let some = stage.inputWindow(minimum: 2, maximum: 3)
        #expect(Array(some.bytes) == [1, 2, 3])
        #expect(some.meetsMinimum && !some.isComplete)
        let few = stage.inputWindow(minimum: 5, maximum: 9)
        #expect(Array(few.bytes) == [1, 2, 3, 4])
        #expect(!few.meetsMinimum)
        #expect(stage.inputWindow(minimum: 0, maximum: 0).bytes.isEmpty)
        #expect(Array(stage.inputWindow(minimum: 1, maximum: .max).bytes) == [1, 2, 3, 4])
        #expect(stage.inputWindow(minimum: -1, maximum: -5).bytes.isEmpty)
    }

    @Test("The cursor moves, stays, and skips bytes that have not arrived")
    func cursor() {
        var stage = reading([1, 2, 3])
        stage.advanceInput(by: 1)
        #expect(stage.inputWindow(minimum: 1, maximum: 1).bytes.first == 2)
        stage.advanceInput(by: 0)
        stage.advanceInput(by: -4)
        #expect(stage.inputWindow(minimum: 1, maximum: 1).bytes.first == 2)
        stage.advanceInput(by: 5)
        #expect(stage.inputWindow(minimum: 0, maximum: 9).bytes.isEmpty)
        stage.inputEnded(wanting: 0)
        stage.receive(MessageChunk([4, 5], endsMessage: false), at: .zero)
        #expect(call(&stage) == nil)
        stage.receive(MessageChunk([6, 7, 8], endsMessage: false), at: .zero)
        #expect(call(&stage)?.length == 2)
        #expect(Array(stage.inputWindow(minimum: 1, maximum: 9).bytes) == [7, 8])
    }

    @Test("Bytes are delivered without a copy, at once or as they arrive")
    func deliversNext() {
        var stage = reading([1, 2, 3])
        #expect(delivers(&stage, 2))
        #expect(!delivers(&stage, 4))
        #expect(stage.inputWindow(minimum: 0, maximum: 9).bytes.isEmpty)
        stage.inputEnded(wanting: 0)
        var got = inbound(&stage)
        #expect(got.map(\.bytes) == [[1, 2], [3]])
        #expect(got.map(\.ends) == [true, false])
        stage.receive(MessageChunk([4, 5, 6, 7], endsMessage: false), at: .zero)
        got = inbound(&stage)
        #expect(got.map(\.bytes) == [[4, 5, 6]])
        #expect(got.map(\.ends) == [true])
        #expect(call(&stage)?.length == 1)
    }

    @Test("Deliveries keep their order, copied or not, and an empty delivery can end a message")
    func deliveryOrder() {
        var stage = reading([1, 2])
        _ = stage.deliverNext(3, metadata: [], endsMessage: false)
        stage.deliver(ByteChain([9]), metadata: [], endsMessage: false)
        _ = stage.deliverNext(0, metadata: [], endsMessage: true)
        stage.inputEnded(wanting: 0)
        stage.receive(MessageChunk([3], endsMessage: false), at: .zero)
        let got = inbound(&stage)
        #expect(got.map(\.bytes) == [[1, 2], [3], [9], []])
        #expect(got.map(\.ends) == [false, false, false, true])
    }

    @Test("The next call waits for the requested number of bytes; only the end allows fewer")
    func wanting() {
        var stage = reading([1])
        stage.inputEnded(wanting: 4)
        stage.receive(MessageChunk([2, 3], endsMessage: false), at: .zero)
        #expect(call(&stage) == nil)
        stage.receive(MessageChunk([4], endsMessage: false), at: .zero)
        #expect(call(&stage)?.length == 4)
        stage.inputEnded(wanting: 100)
        #expect(call(&stage) == nil)
        stage.receive(.end, at: .zero)
        let last = call(&stage)
        #expect(last?.isComplete == true)
        let window = stage.inputWindow(minimum: 100, maximum: 100)
        #expect(window.bytes.count == 4 && window.isComplete && !window.meetsMinimum)
        stage.inputEnded(wanting: 100)
        #expect(call(&stage) == nil)
        #expect(inbound(&stage).map(\.final) == [true])
        #expect(inbound(&stage).isEmpty)
    }

    @Test("A stream that ends inside a message is reported")
    func cutOff() {
        var stage = reading([1, 2])
        _ = stage.deliverNext(5, metadata: [], endsMessage: true)
        stage.inputEnded(wanting: 0)
        stage.receive(.end, at: .zero)
        #expect(call(&stage)?.kind == .input)
        stage.inputEnded(wanting: 0)
        let got = inbound(&stage)
        #expect(got.map(\.bytes) == [[1, 2], []])
        #expect(got.last?.final == true)
        #expect(got.last?.ends == false)
    }

    @Test("A stream that ends inside a partly delivered message is reported")
    func cutOffPart() {
        var stage = reading([1, 2])
        stage.advanceInput(by: 2)
        stage.deliver(ByteChain([1, 2]), metadata: [], endsMessage: false)
        stage.inputEnded(wanting: 0)
        stage.receive(.end, at: .zero)
        #expect(call(&stage)?.kind == .input)
        stage.inputEnded(wanting: 0)
        let got = inbound(&stage)
        #expect(got.map(\.bytes) == [[1, 2], []])
        #expect(got.last?.final == true && got.last?.ends == false)
    }

    @Test("A framer that requests more than the limit fails, and its stage requests no more")
    func tooMuch() {
        var stage = reading([1])
        stage.inputEnded(wanting: FramerStage.windowLimit + 1)
        #expect(stage.status == .failed(.tooLong))
        stage = reading([1])
        stage.inputEnded(wanting: 1 << 20)
        #expect(stage.inboundRoom == (1 << 20) - 1)
        stage = reading([1])
        _ = stage.inputWindow(minimum: .max, maximum: .max)
        stage.inputEnded(wanting: 0)
        #expect(stage.status == .failed(.tooLong))
    }

    @Test("A framer without progress is not called again before more bytes arrive")
    func noProgress() {
        var stage = reading([1, 2, 3])
        stage.inputEnded(wanting: 0)
        #expect(call(&stage) == nil)
        stage.receive(MessageChunk([4], endsMessage: false), at: .zero)
        #expect(call(&stage)?.length == 4)
        stage.advanceInput(by: 1)
        stage.inputEnded(wanting: 0)
        #expect(call(&stage)?.length == 3)
    }

    @Test("While delivered content is not taken, the framer is not called and there is no room")
    func backPressure() {
        var stage = ready()
        var received = 0
        for _ in 0..<100 {
            guard stage.inboundRoom > 0 else { break }
            stage.receive(MessageChunk([UInt8](repeating: 1, count: 10_000), endsMessage: false), at: .zero)
            received += 10_000
            while call(&stage) != nil {
                _ = stage.deliverNext(10_000, metadata: [], endsMessage: true)
                stage.inputEnded(wanting: 0)
            }
        }
        #expect(stage.inboundRoom == 0)
        #expect(received <= FramerStage.bufferLimit + 20_000)
        #expect(inbound(&stage).count * 10_000 <= received)
        #expect(stage.inboundRoom > 0)
    }

    @Test("Empty messages that wait for the framer use up the room")
    func roomForEmptyMessages() {
        var stage = reading([1])
        var count = 0
        while stage.inboundRoom > 0, count < 10_000 {
            stage.receive(MessageChunk([]), at: .zero)
            count += 1
        }
        #expect(count == 1024)
        stage.inputEnded(wanting: 0)
        #expect(call(&stage)?.isComplete == true)
        stage.inputEnded(wanting: 0)
        #expect(stage.inboundRoom > 0)
    }

    @Test("Empty messages between awaited bytes neither use up the room nor hold up the bytes")
    func passesEmptyMessages() {
        var stage = reading([1])
        #expect(!delivers(&stage, 3))
        stage.inputEnded(wanting: 0)
        for _ in 0..<5_000 where stage.inboundRoom > 0 { stage.receive(MessageChunk([]), at: .zero) }
        #expect(stage.inboundRoom > 0)
        stage.receive(MessageChunk([2, 3]), at: .zero)
        let got = inbound(&stage)
        #expect(got.map(\.bytes) == [[1], [2, 3]])
        #expect(got.map(\.ends) == [false, true])
        #expect(call(&stage)?.isComplete == true)
    }

    @Test("Output: written and moved bytes become one message, and the rest is dropped")
    func output() {
        var stage = ready()
        #expect(!writes(&stage, 0))
        stage.send(MessageChunk([1, 2, 3, 4]), at: .zero)
        stage.send(MessageChunk([5]), at: .zero)
        let first = call(&stage)
        #expect(first?.kind == .output)
        #expect(first?.length == 4)
        #expect(first?.isComplete == true)
        stage.write(ByteChain([9]))
        #expect(!writes(&stage, 5))
        #expect(!writes(&stage, -1))
        #expect(writes(&stage, 2))
        #expect(Array(stage.outputWindow(minimum: 1, maximum: 9).bytes) == [3, 4])
        stage.outputEnded()
        #expect(outbound(&stage).map(\.bytes) == [[9, 1, 2]])
        #expect(call(&stage)?.length == 1)
        stage.outputEnded()
        #expect(outbound(&stage).isEmpty)
        #expect(stage.outputWindow(minimum: 0, maximum: 9).bytes.isEmpty)
    }

    @Test("A message in parts stays one message in the lower protocol, even if its last part is dropped")
    func parts() {
        var stage = ready()
        stage.send(MessageChunk([1], endsMessage: false), at: .zero)
        stage.send(MessageChunk([2]), at: .zero)
        #expect(call(&stage)?.isComplete == false)
        _ = stage.writeNext(1)
        stage.outputEnded()
        // Here the framer writes without a request, in the middle of the message.
        stage.write(ByteChain([7]))
        #expect(call(&stage)?.isComplete == true)
        stage.outputEnded()
        let got = outbound(&stage)
        #expect(got.map(\.bytes) == [[1], [7], []])
        #expect(got.map(\.ends) == [false, false, true])
    }

    @Test("The end of output follows the written bytes")
    func outputEnd() {
        var stage = ready()
        stage.send(MessageChunk([1]), at: .zero)
        stage.send(.end, at: .zero)
        #expect(outbound(&stage).isEmpty)
        #expect(call(&stage)?.kind == .output)
        _ = stage.writeNext(1)
        stage.outputEnded()
        #expect(call(&stage) == nil)
        let got = outbound(&stage)
        #expect(got.map(\.bytes) == [[1], []])
        #expect(got.map(\.final) == [false, true])
    }

    @Test("Pass-through: the framer is not called, and messages are unchanged")
    func passesThrough() {
        var stage = reading([1, 2, 3])
        stage.advanceInput(by: 1)
        stage.send(MessageChunk([4]), at: .zero)
        stage.passThroughInput()
        stage.passThroughOutput()
        stage.inputEnded(wanting: 0)
        stage.receive(MessageChunk([5], endsMessage: false), at: .zero)
        stage.send(MessageChunk([6]), at: .zero)
        stage.send(.end, at: .zero)
        stage.receive(.end, at: .zero)
        #expect(call(&stage) == nil)
        #expect(inbound(&stage).flatMap(\.bytes) == [2, 3, 5])
        let got = outbound(&stage)
        #expect(got.map(\.bytes) == [[4], [6], []])
        #expect(got.last?.final == true)
    }

    @Test("A framer that passes bytes through while it parses keeps the bytes it skips")
    func passesThroughWhileLooking() {
        var stage = reading([1, 2, 3, 4])
        #expect(Array(stage.inputWindow(minimum: 1, maximum: 3).bytes) == [1, 2, 3])
        stage.passThroughInput()
        stage.deliver(ByteChain([9]), metadata: [], endsMessage: false)
        #expect(Array(stage.inputWindow(minimum: 1, maximum: 1).bytes) == [1])
        stage.advanceInput(by: 0)
        #expect(inbound(&stage).flatMap(\.bytes) == [9])
        stage.advanceInput(by: 3)
        #expect(inbound(&stage).flatMap(\.bytes) == [4])
        stage.inputEnded(wanting: 0)
        stage.receive(MessageChunk([5], endsMessage: false), at: .zero)
        #expect(call(&stage) == nil)
        #expect(inbound(&stage).flatMap(\.bytes) == [5])

        var unanswered = reading([1])
        _ = unanswered.inputWindow(minimum: 1, maximum: 1)
        unanswered.passThroughInput()
        #expect(inbound(&unanswered).isEmpty)
        unanswered.inputEnded(wanting: 0)
        #expect(inbound(&unanswered).flatMap(\.bytes) == [1])
    }

    private struct Mark: StageMetadata, Equatable {
        var number: Int
    }

    private func marks(_ stage: inout FramerStage) -> [[Int]] {
        var all: [[Int]] = []
        while let chunk = stage.nextInbound(atMost: .max) {
            all.append(chunk.metadata.compactMap { ($0 as? Mark)?.number })
        }
        return all
    }

    @Test("A framer's metadata precede those of the lower message in which the content began")
    func lowerMetadata() {
        var stage = ready()
        for number in [1, 2] { stage.receive(MessageChunk([1, 2, 3], metadata: [Mark(number: number)]), at: .zero) }
        #expect(call(&stage)?.kind == .input)
        // First deliver two bytes of the first message. Then deliver two bytes of which one belongs to each message.
        for number in [10, 11] { _ = stage.deliverNext(2, metadata: [Mark(number: number)], endsMessage: true) }
        stage.deliver(ByteChain([9]), metadata: [Mark(number: 12)], endsMessage: true)
        #expect(marks(&stage) == [[10, 1], [11, 1], [12, 2]])
        stage.passThroughInput()
        stage.receive(MessageChunk([4], metadata: [Mark(number: 3)]), at: .zero)
        #expect(marks(&stage) == [[2], [3]])
    }

    @Test("The timer: set, reset, stopped; late and repeated events have no effect")
    func timer() {
        var stage = ready()
        stage.scheduleWakeUp(at: .milliseconds(10))
        #expect(stage.deadline == .milliseconds(10))
        stage.advance(to: .milliseconds(9))
        #expect(call(&stage) == nil)
        stage.scheduleWakeUp(at: .milliseconds(20))
        stage.advance(to: .milliseconds(15))
        #expect(call(&stage) == nil)
        stage.advance(to: .milliseconds(25))
        stage.advance(to: .milliseconds(26))
        #expect(stage.deadline == nil)
        #expect(call(&stage)?.kind == .wakeUp)
        stage.wakeUpEnded()
        #expect(call(&stage) == nil)
        stage.scheduleWakeUp(at: .milliseconds(30))
        stage.scheduleWakeUp(at: nil)
        stage.advance(to: .seconds(1))
        #expect(call(&stage) == nil)
    }

    @Test("Failure: reported once, with cleanup after the current call")
    func fails() {
        var stage = reading([1])
        stage.write(ByteChain([8]))
        stage.markFailed(.misuse)
        stage.markFailed(.aborted)
        #expect(stage.status == .failed(.misuse))
        #expect(call(&stage) == nil)
        stage.inputEnded(wanting: 0)
        #expect(call(&stage)?.kind == .cleanup)
        stage.cleanupEnded()
        #expect(call(&stage) == nil)
        #expect(outbound(&stage).map(\.bytes) == [[8]])
    }

    @Test("Deferred stop: the stage closes when the framer says so, and bytes written until then are sent")
    func stopsLate() {
        var stage = ready()
        stage.send(MessageChunk([1]), at: .zero)
        stage.close(at: .zero)
        #expect(call(&stage)?.kind == .output)
        _ = stage.writeNext(1)
        stage.outputEnded()
        #expect(call(&stage)?.kind == .stop)
        stage.stopEnded(isDone: false)
        #expect(stage.status == .ready)
        stage.write(ByteChain([2]))
        stage.markFailed(nil)
        #expect(stage.status == .ready)
        #expect(outbound(&stage).map(\.bytes) == [[1], [2]])
        #expect(stage.status == .closed)
        #expect(call(&stage)?.kind == .cleanup)
    }

    @Test("A framer that was never started is never called")
    func neverStarted() {
        var stage = FramerStage()
        stage.close(at: .zero)
        #expect(stage.status == .closed)
        stage.abort(.aborted)
        #expect(call(&stage) == nil)
    }

    @Test("A handshake that the peer cuts off fails")
    func handshakeCutOff() {
        var stage = FramerStage()
        stage.start(at: .zero)
        _ = stage.nextEvent()
        stage.startEnded(isReady: false)
        stage.receive(.end, at: .zero)
        #expect(call(&stage)?.kind == .input)
        stage.inputEnded(wanting: 2)
        #expect(stage.status == .failed(.endedEarly))
    }
}
