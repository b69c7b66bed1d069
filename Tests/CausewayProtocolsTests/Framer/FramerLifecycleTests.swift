import CausewayTypes
import Testing

@testable import CausewayProtocols

@Suite("The life of a framer")
struct FramerLifecycleTests {
    private func started() -> FramerLifecycle {
        var life = FramerLifecycle()
        life.start()
        _ = life.outerCall()
        return life
    }

    @Test("Start is called once, and cleanup is called once after the end")
    func outerCalls() {
        var life = FramerLifecycle()
        let early = life.outerCall()
        #expect(early == nil)
        life.start()
        let start = life.outerCall()
        #expect(start == .start)
        #expect(life.isRunning && life.status == .opening)
        life.start()
        let second = life.outerCall()
        #expect(second == nil)
        life.end(.endedEarly)
        #expect(life.isOver && !life.hasEnded && life.status == .failed(.endedEarly))
        let cleanup = life.outerCall()
        #expect(cleanup == .cleanup)
        let last = life.outerCall()
        #expect(last == nil)
        #expect(life.hasEnded)
    }

    @Test("A framer that was never called gets no calls")
    func neverCalled() {
        var life = FramerLifecycle()
        life.start()
        life.close()
        let call = life.outerCall()
        #expect(call == nil)
        #expect(life.hasEnded && life.status == .closed)
    }

    @Test("A ready framer is stopped after its content, another one at once")
    func stop() {
        var opening = started()
        opening.close()
        let atOnce = opening.stopCall(contentWaits: true)
        #expect(atOnce == .stop)
        var ready = started()
        let isReady = ready.becameReady()
        #expect(isReady && ready.status == .ready)
        let unasked = ready.stopCall(contentWaits: false)
        #expect(unasked == nil)
        ready.close()
        #expect(ready.isClosing)
        let waiting = ready.stopCall(contentWaits: true)
        #expect(waiting == nil)
        let due = ready.stopCall(contentWaits: false)
        #expect(due == .stop)
        let second = ready.stopCall(contentWaits: false)
        #expect(second == nil)
    }

    @Test("A closing framer does not become ready, and its failure does not count")
    func closing() {
        var life = started()
        life.close()
        let isReady = life.becameReady()
        #expect(!isReady)
        life.end(.aborted)
        #expect(life.status == .closed)
        life.end(.endedEarly)
        #expect(life.status == .closed)
    }
}
