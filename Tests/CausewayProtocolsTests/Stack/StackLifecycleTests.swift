import CausewayTypes
import Testing

@testable import CausewayProtocols

@Suite("Stack lifecycle")
struct StackLifecycleTests {
    private static func name(_ event: ProtocolStack.Event?) -> String {
        switch event {
        case .ready?: "ready"
        case .stage?: "stage"
        case .failed?: "failed"
        case .closed?: "closed"
        case nil: "none"
        }
    }

    @Test("Stages close from the top down, and the end is reported once")
    func closes() {
        var life = StackLifecycle()
        let starts = [life.start(), life.start()]
        #expect(starts == [true, false])
        life.becameReady()
        #expect(life.isReady)
        let closings = [life.close(stageCount: 2), life.close(stageCount: 2)]
        #expect(closings == [true, false])
        #expect(life.isClosing && !life.isReady && !life.deliversContent)
        let indices = [life.nextClosing(), life.nextClosing()]
        #expect(indices == [1, 0])
        #expect(!life.hasEnded)
        let last = life.nextClosing()
        #expect(last == nil && life.hasEnded)
        life.failed(.misuse)
        let events = [life.takeEvent(), life.takeEvent()].map(Self.name)
        #expect(events == ["closed", "none"])
    }

    @Test("After a failure, received content is delivered only if the stack was ready", arguments: [true, false])
    func fails(wasReady: Bool) {
        var life = StackLifecycle()
        _ = life.start()
        #expect(life.isOpening && life.hasPendingHandshakes)
        if wasReady { life.becameReady() }
        life.failed(.aborted)
        #expect(life.deliversContent == wasReady)
        #expect(life.hasEnded && !life.isReady && !life.isOpening)
        let isClosing = life.close(stageCount: 1)
        #expect(!isClosing)
        let event = life.takeEvent()
        #expect(Self.name(event) == "failed" && !life.hasEvent)
    }

    @Test("A stack that fails while it closes delivers no more content")
    func failsWhileClosing() {
        var life = StackLifecycle()
        _ = life.start()
        life.becameReady()
        _ = life.close(stageCount: 1)
        life.failed(.endedEarly)
        #expect(life.hasEnded && !life.deliversContent)
    }
}
