import CausewayTestKit

@testable import CausewayHTTPProtocols

extension HTTPTrials {
    private struct Loaded: Sendable {
        /// All questions that the machine has asked so far, whether answered or not.
        var questions: [LoadMachine.Question] = []
    }

    static var load: any MachineTesting {
        MachineTrial("LoadMachine", model: Loaded()) { _ in
            LoadMachine()
        } event: { machine, loaded, _, random in
            let action =
                switch random.integer(in: 0...5) {
                case 0, 1: exchangeEvent(&machine, &random)
                case 2, 3: decision(&machine, &loaded, &random)
                default: otherEvent(&machine, &random)
                }
            return action == .none ? [] : [action]
        }.untimed().ending { $0 == .end }
    }

    private static func exchangeEvent(_ machine: inout LoadMachine, _ random: inout SplitMix64) -> LoadMachine.Action {
        switch random.integer(in: 0...7) {
        case 0: machine.contentArrived(random.integer(in: 1...40_000))
        case 1: machine.exchangeEnded(isComplete: true)
        case 2: machine.exchangeEnded(isComplete: false)
        case 3: machine.headArrived(.useStored)
        case 4: machine.headArrived(.sendAgain)
        case 5: machine.headArrived(.deliver)
        default: machine.headArrived(.hold(.challenge))
        }
    }

    private static func decision(
        _ machine: inout LoadMachine, _ loaded: inout Loaded, _ random: inout SplitMix64
    ) -> LoadMachine.Action {
        switch random.integer(in: 0...5) {
        case 0: if let question = machine.asked() { loaded.questions.append(question) }
        case 1:
            guard let question = loaded.questions.randomElement(using: &random) else { break }
            if machine.answered(question) { return machine.repetitionChosen() }
        case 2: return machine.deliveryChosen()
        case 3: return machine.heldContentTaken()
        case 4: return machine.recoveryFound()
        default: return machine.repetitionChosen()
        }
        return .none
    }

    private static func otherEvent(_ machine: inout LoadMachine, _ random: inout SplitMix64) -> LoadMachine.Action {
        switch random.integer(in: 0...15) {
        case 0: machine.demandChanged(isWanted: random.chance(oneIn: 2))
        case 1: machine.pathLost()
        case 2: machine.pathFound()
        case 3: machine.uploadInterrupted(for: .seconds(1))
        case 4, 5: machine.pauseElapsed()
        case 6: random.chance(oneIn: 3) ? machine.storedResponseFound() : .none
        case 7: machine.storedRedirectFound()
        case 8: random.chance(oneIn: 3) ? machine.loadEnded() : .none
        default: machine.requestPrepared()
        }
    }
}
