import Testing

@testable import CausewayHTTPProtocols

@Suite("Handshakes that belong to a connection")
struct BoundHandshakeTests {
    private let connection = PoolConnectionID(slot: 1, serial: 7)

    @Test("The answer to a token uses the connection that it came from, and carries the content")
    func answersOnSameConnection() {
        var handshake = BoundHandshake(isOpening: true)
        #expect(handshake.connection == nil)
        handshake.responded(on: connection)
        let continues = handshake.tokenArrived()
        #expect(continues)
        #expect(handshake.connection == connection)
        #expect(!handshake.isOpening)
    }

    @Test("Without a known connection, a token cannot be answered")
    func needsConnection() {
        var handshake = BoundHandshake(isOpening: true)
        handshake.responded(on: nil)
        let continues = handshake.tokenArrived()
        #expect(!continues)
        #expect(handshake.isOpening)
    }

    @Test("A handshake whose connection closes between two messages starts over, at most twice")
    func startsOver() {
        var handshake = BoundHandshake(isOpening: true)
        for repetition in 0...BoundHandshake.maximumRepetitions {
            handshake.responded(on: connection)
            let continues = handshake.tokenArrived()
            let repeats = handshake.exchangeFailed()
            #expect(continues)
            #expect(repeats == (repetition < BoundHandshake.maximumRepetitions))
            if repeats { handshake.started(isOpening: true) }
        }
    }

    @Test("The failure of a first message has another reason")
    func keepsFirstFailure() {
        var handshake = BoundHandshake(isOpening: true)
        handshake.responded(on: connection)
        let repeats = handshake.exchangeFailed()
        #expect(!repeats)
    }

    @Test("A handshake that starts over may use any new connection")
    func leavesConnection() {
        var handshake = BoundHandshake()
        handshake.responded(on: connection)
        _ = handshake.tokenArrived()
        handshake.started(isOpening: false)
        #expect(!handshake.isUnderWay)
        #expect(handshake.needsNewConnection)
    }
}
