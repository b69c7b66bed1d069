@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayWire
import Testing

@Suite("Bonjour engine")
struct BonjourEngineTests {
    @Test("After a withdrawal that needs no goodbyes, the engine calls back and releases the network")
    func departs() {
        let loop = ManualLoop()
        let engine = BonjourEngine(on: loop, hostLabel: "test", scope: .agent(on: []))
        let service = ServiceDescription(name: "a", type: "_t._tcp", port: 9)
        let completions = LockedValue(0)
        for count in 1...2 {
            let id = engine.advertise(service) { _ in }
            loop.runUntilIdle()
            loop.batch { #expect(engine.state.value.network != nil) }
            engine.withdraw(id) { completions.withLock { $0 += 1 } }
            loop.runUntilIdle()
            loop.advance(by: .milliseconds(5))
            #expect(completions.withLock { $0 } == count)
            loop.batch { #expect(engine.state.value.network == nil) }
        }
    }
}
