import Testing

@testable import CausewayHTTPProtocols

@Suite("A load's exchanges and decisions")
struct LoadMachineTests {
    typealias Event = (inout LoadMachine) -> LoadMachine.Action

    /// Sends each event to a load machine. Checks that the machine returns the expected action.
    func expect(
        _ machine: inout LoadMachine, _ steps: [(Event, LoadMachine.Action)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (index, (event, expected)) in steps.enumerated() {
            let action = event(&machine)
            #expect(action == expected, "step \(index)", sourceLocation: sourceLocation)
        }
    }

    /// Returns a load that holds back its exchange's response.
    func holding() -> LoadMachine {
        var machine = LoadMachine()
        expect(&machine, [({ $0.requestPrepared() }, .send), ({ $0.headArrived(.hold(.challenge)) }, .hold)])
        return machine
    }

    private func ask(_ machine: inout LoadMachine) throws -> LoadMachine.Question {
        let question = machine.asked()
        return try #require(question)
    }

    // MARK: Held responses

    @Test("The next exchange starts after the end of this one")
    func startsNextAfterEnd() {
        var machine = holding()
        expect(
            &machine,
            [
                ({ $0.contentArrived(LoadMachine.heldLimit) }, .decide(.challenge)),
                ({ $0.repetitionChosen() }, .cancelExchange),
                ({ $0.requestPrepared() }, .none), ({ $0.contentArrived(1) }, .none),
                ({ $0.exchangeEnded(isComplete: false) }, .prepare), ({ $0.requestPrepared() }, .send),
            ])
    }

    @Test("A response that has ended is followed at once")
    func followsEndedResponse() {
        var machine = holding()
        expect(
            &machine,
            [
                ({ $0.contentArrived(5) }, .hold), ({ $0.exchangeEnded(isComplete: true) }, .decide(.challenge)),
                ({ $0.repetitionChosen() }, .prepare), ({ $0.deliveryChosen() }, .none),
            ])
    }

    @Test("A held response is delivered if nothing follows")
    func deliversHeld() {
        var machine = holding()
        expect(
            &machine,
            [
                ({ $0.exchangeEnded(isComplete: true) }, .decide(.challenge)), ({ $0.deliveryChosen() }, .deliverHeld),
                ({ $0.deliveryChosen() }, .none), ({ $0.repetitionChosen() }, .none),
                ({ $0.heldContentTaken() }, .finish), ({ $0.loadEnded() }, .end),
            ])
    }

    @Test("At most 64 KiB are held before the decision")
    func limitsHeldContent() {
        var machine = holding()
        expect(
            &machine,
            [
                ({ $0.contentArrived(LoadMachine.heldLimit - 1) }, .hold),
                ({ $0.demandChanged(isWanted: false) }, .none), ({ $0.contentArrived(1) }, .decide(.challenge)),
                ({ $0.demandChanged(isWanted: true) }, .read(false)), ({ $0.contentArrived(1) }, .hold),
            ])
    }

    @Test("Content that arrives while a held response is delivered does not overtake it")
    func keepsOrder() {
        var machine = holding()
        expect(
            &machine,
            [
                ({ $0.contentArrived(LoadMachine.heldLimit) }, .decide(.challenge)),
                ({ $0.deliveryChosen() }, .deliverHeld),
                ({ $0.contentArrived(1) }, .hold), ({ $0.heldContentTaken() }, .none),
                ({ $0.contentArrived(1) }, .deliver), ({ $0.exchangeEnded(isComplete: true) }, .finish),
            ])
    }

    @Test("The head is enough to decide if the connection breaks in a held response")
    func decidesAboutHead() {
        var machine = holding()
        expect(
            &machine,
            [({ $0.exchangeEnded(isComplete: false) }, .decide(.challenge)), ({ $0.repetitionChosen() }, .prepare)])
    }

    // MARK: Questions

    @Test("A question has one answer, and a new question closes an earlier one")
    func takesOneAnswer() throws {
        var machine = holding()
        #expect(machine.exchangeEnded(isComplete: true) == .decide(.challenge))
        let first = try ask(&machine)
        let second = try ask(&machine)
        let answers = [machine.answered(first), machine.answered(second), machine.answered(second)]
        #expect(answers == [false, true, false])
    }

    @Test("A late answer does not decide about a later response")
    func ignoresLateAnswer() throws {
        var machine = holding()
        #expect(machine.exchangeEnded(isComplete: true) == .decide(.challenge))
        let question = try ask(&machine)
        expect(
            &machine,
            [
                ({ $0.repetitionChosen() }, .prepare), ({ $0.requestPrepared() }, .send),
                ({ $0.headArrived(.hold(.challenge)) }, .hold),
                ({ $0.exchangeEnded(isComplete: true) }, .decide(.challenge)),
            ])
        let isTaken = machine.answered(question)
        #expect(!isTaken)
    }

    @Test("A question stays open while the held response ends")
    func keepsQuestion() throws {
        var machine = holding()
        #expect(machine.contentArrived(LoadMachine.heldLimit) == .decide(.challenge))
        let question = try ask(&machine)
        #expect(machine.exchangeEnded(isComplete: true) == .none)
        let isTaken = machine.answered(question)
        #expect(isTaken)
    }

    @Test("While an exchange runs without a held response, there is no question")
    func asksNothingElse() {
        var machine = LoadMachine()
        #expect(machine.requestPrepared() == .send)
        let question = machine.asked()
        #expect(question == nil)
    }

    @Test("After the maximum number of repetitions, the response is delivered")
    func limitsRepetitions() {
        var machine = LoadMachine()
        for count in 0...LoadMachine.repetitionLimit {
            let isLast = count == LoadMachine.repetitionLimit
            expect(
                &machine,
                [
                    ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.hold(.challenge)) }, .hold),
                    ({ $0.exchangeEnded(isComplete: true) }, .decide(.challenge)),
                    ({ $0.repetitionChosen() }, isLast ? .deliverHeld : .prepare),
                ])
        }
    }

    @Test("A request is retried once after a status such as 421")
    func retriesOnce() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.hold(.retry)) }, .hold),
                ({ $0.exchangeEnded(isComplete: true) }, .decide(.retry)), ({ $0.repetitionChosen() }, .prepare),
                ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.hold(.retry)) }, .deliver),
            ])
    }

    // MARK: The cache

    @Test("A stored response is delivered after the exchange that confirms it")
    func deliversStoredAfterEnd() {
        for isComplete in [true, false] {
            var machine = LoadMachine()
            expect(
                &machine,
                [
                    ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.useStored) }, .discard),
                    ({ $0.contentArrived(9) }, .none), ({ $0.storedResponseFound() }, .none),
                    ({ $0.exchangeEnded(isComplete: isComplete) }, .deliverStored),
                    ({ $0.storedResponseFound() }, .end), ({ $0.storedResponseFound() }, .none),
                ])
        }
    }

    @Test("After a 304 for another response, the request is sent again")
    func sendsAgain() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.sendAgain) }, .discard),
                ({ $0.exchangeEnded(isComplete: true) }, .prepare), ({ $0.requestPrepared() }, .send),
            ])
    }

    @Test("A stored redirect is decided like one that arrived, and a late lookup has no effect")
    func decidesAboutStoredRedirect() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.storedRedirectFound() }, .decide(.redirect)), ({ $0.requestPrepared() }, .none),
                ({ $0.storedResponseFound() }, .none), ({ $0.deliveryChosen() }, .deliverHeld),
                ({ $0.heldContentTaken() }, .finish),
            ])
    }

    // MARK: Failures

    @Test("A failed exchange without a response is repeated with a credential, or fails the load")
    func recovers() {
        for repeats in [true, false] {
            var machine = LoadMachine()
            expect(
                &machine,
                [
                    ({ $0.requestPrepared() }, .send), ({ $0.exchangeEnded(isComplete: false) }, .recover),
                    ({ $0.recoveryFound() }, .decide(nil)),
                    (
                        { repeats ? $0.repetitionChosen() : $0.deliveryChosen() }, repeats ? .prepare : .fail
                    ),
                ])
        }
    }

    @Test("A connection that breaks in the content fails the load")
    func failsInContent() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.deliver) }, .deliver),
                ({ $0.contentArrived(1) }, .deliver), ({ $0.exchangeEnded(isComplete: false) }, .fail),
                ({ $0.recoveryFound() }, .none),
            ])
    }

    @Test("An upload continues after its pause and the end of the exchange, in either order", arguments: [true, false])
    func continuesUpload(endsFirst: Bool) {
        var machine = LoadMachine()
        let steps: [Event] = [{ $0.exchangeEnded(isComplete: false) }, { $0.pauseElapsed() }]
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.uploadInterrupted(for: .zero) }, .pause(.zero)),
                (steps[endsFirst ? 0 : 1], .none), (steps[endsFirst ? 1 : 0], .prepare),
                ({ $0.pauseElapsed() }, .none), ({ $0.requestPrepared() }, .send),
                ({ $0.exchangeEnded(isComplete: false) }, .recover),
                ({ $0.uploadInterrupted(for: .seconds(1)) }, .pause(.seconds(1))), ({ $0.pauseElapsed() }, .prepare),
            ])
    }
}
