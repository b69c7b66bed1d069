import Testing

@testable import CausewayHTTPProtocols

/// Tests the demand for content, the connectivity, and the end of a load.
extension LoadMachineTests {
    @Test("The response is read while the program wants content; heads are always read")
    func readsOnDemand() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.demandChanged(isWanted: false) }, .none),
                ({ $0.headArrived(.deliver) }, .deliver), ({ $0.demandChanged(isWanted: false) }, .read(false)),
                ({ $0.demandChanged(isWanted: false) }, .none), ({ $0.demandChanged(isWanted: true) }, .read(true)),
            ])
    }

    @Test("A load that ended while its program wanted nothing reads no more")
    func readsNothingAfterTheEnd() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.headArrived(.deliver) }, .deliver),
                ({ $0.demandChanged(isWanted: false) }, .read(false)), ({ $0.loadEnded() }, .end),
                ({ $0.demandChanged(isWanted: true) }, .none), ({ $0.demandChanged(isWanted: false) }, .none),
            ])
    }

    @Test("Waiting for connectivity, and its end, are each reported once")
    func reportsWaiting() {
        var machine = LoadMachine()
        expect(
            &machine,
            [
                ({ $0.requestPrepared() }, .send), ({ $0.pathFound() }, .none), ({ $0.pathLost() }, .reportWaiting),
                ({ $0.pathLost() }, .none), ({ $0.pathFound() }, .reportContinuing), ({ $0.pathFound() }, .none),
            ])
    }

    @Test("A stopped load ends once in any phase, and ignores all that follows")
    func stops() {
        let prefixes: [[Event]] = [
            [], [{ $0.requestPrepared() }], [{ $0.requestPrepared() }, { $0.headArrived(.hold(.challenge)) }],
            [{ $0.requestPrepared() }, { $0.headArrived(.hold(.challenge)) }, { $0.exchangeEnded(isComplete: true) }],
            [{ $0.storedRedirectFound() }, { $0.deliveryChosen() }],
            [{ $0.requestPrepared() }, { $0.headArrived(.sendAgain) }],
            [{ $0.requestPrepared() }, { $0.uploadInterrupted(for: .zero) }],
            [{ $0.requestPrepared() }, { $0.headArrived(.useStored) }],
            [{ $0.requestPrepared() }, { $0.exchangeEnded(isComplete: false) }],
            [{ $0.requestPrepared() }, { $0.headArrived(.deliver) }],
        ]
        for prefix in prefixes {
            var machine = LoadMachine()
            for event in prefix { _ = event(&machine) }
            expect(
                &machine,
                [
                    ({ $0.loadEnded() }, .end), ({ $0.loadEnded() }, .none),
                    ({ $0.exchangeEnded(isComplete: false) }, .none), ({ $0.pauseElapsed() }, .none),
                    ({ $0.repetitionChosen() }, .none), ({ $0.deliveryChosen() }, .none),
                    ({ $0.heldContentTaken() }, .none), ({ $0.requestPrepared() }, .none),
                    ({ $0.storedResponseFound() }, .none), ({ $0.pathLost() }, .none),
                ])
            #expect(machine.hasEnded)
        }
    }

    @Test("A connection is handed over in content that is delivered")
    func permitsHandOver() {
        var machine = holding()
        #expect(!machine.permitsHandOver)
        expect(
            &machine,
            [({ $0.exchangeEnded(isComplete: true) }, .decide(.challenge)), ({ $0.deliveryChosen() }, .deliverHeld)])
        #expect(!machine.permitsHandOver)
        #expect(machine.heldContentTaken() == .finish)
        #expect(machine.permitsHandOver)
    }
}
