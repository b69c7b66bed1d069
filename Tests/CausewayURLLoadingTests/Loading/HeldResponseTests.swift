import CausewayHTTPProtocols
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Held responses")
struct HeldResponseTests {
    private func receive(_ load: FakeLoad, _ text: String) {
        load.withState { state in _ = state.contentArrived(Data(text.utf8)) }
    }

    /// Makes a load deliver a response that it has held back.
    private func deliver(_ load: FakeLoad) {
        load.withState { state in _ = state.deliveryChosen() }
        HeldResponse(of: load)?.deliver()
    }

    @Test("Status 421 repeats the request over a new connection, but not to open a WebSocket (RFC 9110 §15.5.20)")
    func misdirected() {
        let load = FakeLoad(status: 421, challenges: [])
        HeldResponse(of: load)?.decide(.retry)
        #expect(load.steps == [.sent(nil)])
        #expect(load.withAccess { $0.repeated } == .newConnection)
        let webSocket = FakeLoad(status: 421, challenges: [])
        webSocket.isWebSocket = true
        HeldResponse(of: webSocket)?.decide(.retry)
        #expect(webSocket.steps == [.delivered])
    }

    @Test("Status 408 on a new connection is delivered (RFC 9110 §15.5.9)")
    func timeout() {
        let load = FakeLoad(status: 408, challenges: [])
        HeldResponse(of: load)?.decide(.retry)
        #expect(load.steps == [.delivered] && load.withAccess { $0.repeated } == nil)
    }

    @Test(
        "A response that no request can follow is delivered",
        arguments: [FollowUp.challenge, .proxyChallenge, .redirect])
    func nothingFollows(followUp: FollowUp) {
        let load = FakeLoad(challenges: [])
        HeldResponse(of: load)?.decide(followUp)
        #expect(load.steps == [.delivered] && load.words.isEmpty)
    }

    @Test("Content that arrives during the delivery follows the held content, and the end comes last")
    func order() {
        let load = FakeLoad(challenges: [])
        for text in ["a", "b"] { receive(load, text) }
        load.onReport { [weak load] event in
            guard case .data(let data) = event, data == Data("a".utf8) else { return }
            load?.withState { state in _ = state.contentArrived(Data("c".utf8)) }
        }
        deliver(load)
        #expect(load.words == ["response 401", "a", "b", "c"])
        #expect(load.steps == [.finished, .updatedReading])
    }

    @Test("Without demand, reading stops after each piece")
    func demand() {
        let load = FakeLoad(challenges: [])
        receive(load, "a")
        load.wantsBytes = false
        deliver(load)
        #expect(load.words == ["response 401", "a"])
        #expect(load.steps == [.updatedReading, .finished, .updatedReading])
    }

    @Test("A held response opens no WebSocket")
    func webSocket() {
        let load = FakeLoad(challenges: [])
        load.isWebSocket = true
        deliver(load)
        #expect(load.words.isEmpty && load.steps == [.refused])
    }

    @Test("A load that ended holds no response")
    func ended() {
        let load = FakeLoad(challenges: [])
        load.fail(LoadFailure(.cancelled))
        #expect(HeldResponse(of: load) == nil)
    }
}
