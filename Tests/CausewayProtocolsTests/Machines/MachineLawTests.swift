import CausewayTestKit
import Testing

@Suite("The five laws of state machines")
struct MachineLawTests {
    static let trials: [any MachineTesting] =
        LifecycleTrials.all + EstablishmentTrials.all + ResolutionTrials.all + ByteMachineTrials.all
        + StageTrials.all + PolicyTrials.all

    @Test("A machine obeys the five laws in random histories", arguments: trials)
    func obeysLaws(_ trial: any MachineTesting) {
        for breach in trial.breaches(seeds: MachineSeeds.range) { Issue.record("\(breach)") }
    }

    @Test("Each machine has one trial")
    func hasOneTrial() {
        let names = Self.trials.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(
            names.sorted() == [
                "AddressRace", "ArrivalPace", "AttemptRace", "AuthenticationAttempts", "ConnectionLifecycle",
                "DNSClient", "FramerStage", "GroupLifecycle", "GroupMembership", "HTTP1Client", "HTTP1Server",
                "ListenerLifecycle", "NameLookup", "PACConversation", "ProtocolStack", "SendQueue", "TunnelStage",
                "WebSocketMachine", "WebSocketStage",
            ])
    }
}
