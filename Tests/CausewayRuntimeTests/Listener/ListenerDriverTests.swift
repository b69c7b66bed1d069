import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Listener driver")
    struct ListenerDriverTests {
        @Test("At the limit, connections stay in the backlog until the limit is raised")
        func admission() {
            var admission = ListenerDriver.Admission()
            let acceptsFirst = admission.acceptsNext()
            admission.handedOver()
            // Without a limit, nothing is counted.
            #expect(acceptsFirst && admission.allowance == .max)
            let isDueBelowLimit = admission.allow(1)
            let acceptsBelowLimit = admission.acceptsNext()
            admission.handedOver()
            let acceptsAtLimit = admission.acceptsNext()
            #expect(!isDueBelowLimit && acceptsBelowLimit && !acceptsAtLimit && admission.allowance == 0)
            let isDue = [admission.allow(-3), admission.allow(2)]
            let acceptsAgain = admission.acceptsNext()
            #expect(isDue == [false, true] && acceptsAgain)
        }

        @Test("Without descriptors one timer tries again, however many connections arrive")
        func retry() {
            var admission = ListenerDriver.Admission()
            let begins = [admission.beginsRetry(), admission.beginsRetry(), admission.beginsRetry()]
            admission.endRetry()
            let beginsAgain = admission.beginsRetry()
            #expect(begins == [true, false, false] && beginsAgain)
        }

        @Test("A limit of 0 that is set while a connection is accepted stays", arguments: [5, Int.max])
        func limitDuringAccept(before: Int) {
            var admission = ListenerDriver.Admission()
            _ = admission.allow(before)
            let acceptsBefore = admission.acceptsNext()
            _ = admission.allow(0)
            admission.handedOver()
            let acceptsAfter = admission.acceptsNext()
            #expect(acceptsBefore && !acceptsAfter && admission.allowance == 0)
        }
    }
}
