import CausewayTypes
import Testing

@testable import CausewayProtocols

@Suite("Stage list")
struct StageListTests {
    private static let hello: [UInt8] = [0x48, 0x45, 0x4C, 0x4F]

    @Test("A stage is inserted above one whose handshake is incomplete, and gets its own identifier")
    func inserts() {
        var stages = StageList([RecordStage()])
        let first = stages.ids[0]
        guard let second = stages.insert(RecordStage(), above: first),
            let third = stages.insert(RecordStage(), above: first)
        else {
            Issue.record("the stage was not inserted")
            return
        }
        #expect(stages.ids == [first, third, second] && Set(stages.ids).count == 3)
        let unknown = stages.insert(RecordStage(), above: ProtocolStack.StageID(number: 9))
        #expect(unknown == nil && stages.count == 3)
        var life = StackLifecycle()
        _ = life.start()
        _ = stages.settle(&life, at: .zero)
        stages.bottom.receive(MessageChunk(Self.hello, endsMessage: false), at: .zero)
        let late = stages.insert(RecordStage(), above: first)
        #expect(late == nil && stages.count == 3)
    }

    @Test("A stage starts when the one below it is ready, and the failure of one ends the stages above it")
    func starts() {
        var stages = StageList([RecordStage(), RecordStage()])
        var life = StackLifecycle()
        _ = life.start()
        _ = stages.settle(&life, at: .seconds(1))
        let before = [stages.bottom.status, stages.top.status]
        #expect(before == [.opening, .idle])
        stages.bottom.receive(MessageChunk(Self.hello, endsMessage: false), at: .seconds(2))
        _ = stages.settle(&life, at: .seconds(2))
        let after = [stages.bottom.status, stages.top.status]
        #expect(after == [.ready, .opening] && life.isOpening)
        #expect(stages.handshakes.map { $0.duration } == [.seconds(1)])
        stages.bottom.receive(.end, at: .seconds(3))
        let hasFailed = stages.observe(&life, at: .seconds(3))
        let top = stages.top.status
        #expect(hasFailed && life.hasEnded && top == .failed(.endedEarly))
    }
}
