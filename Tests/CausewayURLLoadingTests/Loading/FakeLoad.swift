import Causeway
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Dispatch
import Foundation

@testable import CausewayURLLoading

/// A load without a connection, which holds a 401 response and writes down what becomes of it.
final class FakeLoad: ChallengedLoad {
    enum Step: Equatable {
        /// The request is sent again with this field `Authorization`.
        case sent(String?)
        case delivered
        case failed(LoadFailure.Cause)
    }

    struct State {
        var machine = LoadMachine()
        var access = LoadAccess()
        var steps: [Step] = []
        /// The challenges that the program has got, with their answers.
        var challenges: [(URLAuthenticationChallenge, ChallengeAnswer)] = []
    }

    let network: HTTPNetwork
    let request: URLRequest
    let origin = HTTPOrigin(isSecure: true, host: "example.com")
    let response: HTTPURLResponse
    let state = LockedValue(State())

    init(_ url: String = "https://example.com/a", challenges: [String]) {
        network = HTTPNetwork(Unchecked(.inMemory), queue: DispatchQueue(label: "fake"))
        request = URLRequest(url: URL(string: url).unsafelyUnwrapped)
        var fields = FieldSection()
        for challenge in challenges { fields.append("WWW-Authenticate", challenge) }
        response = HTTPURLResponse(
            url: request.url, statusCode: 401, version: "HTTP/1.1", fields: fields, isDecoded: false)
        hold()
    }

    /// Makes the load hold its response, after the request was sent again.
    func hold() {
        state.withLock { state in
            _ = state.machine.requestPrepared()
            _ = state.machine.headArrived(.hold(.challenge))
            _ = state.machine.exchangeEnded(isComplete: true)
        }
    }

    var steps: [Step] { state.withLock { $0.steps } }
    var challenges: [URLAuthenticationChallenge] { state.withLock { $0.challenges.map(\.0) } }

    /// Answers the last challenge.
    func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        state.withLock { $0.challenges.last?.1 }?(disposition, credential)
    }

    // MARK: ChallengedLoad

    var askingTask: URLSessionTask? { nil }
    var undecidedResponse: HTTPURLResponse? { state.withLock { $0.machine.isDeciding } ? response : nil }
    var digestRequest: (DigestRequest, URIReference)? {
        URIReference("https://example.com/a").map { (DigestRequest(method: "GET", target: "/a", content: []), $0) }
    }

    func withAccess<Result: Sendable>(_ body: (inout LoadAccess) -> Result) -> Result {
        state.withLock { body(&$0.access) }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        state.withLock { $0.challenges.append((challenge, answer)) }
    }

    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void
    ) {
        let question = state.withLock { $0.machine.asked() }
        ask { [self] answer in
            guard let question, state.withLock({ $0.machine.answered(question) }) else { return }
            then(answer)
        }
    }

    func sendAgain() {
        state.withLock { state in
            _ = state.machine.repetitionChosen()
            state.steps.append(.sent(state.access.takeAuthorization().field))
        }
    }

    func deliverHeld() {
        state.withLock { state in
            _ = state.machine.deliveryChosen()
            state.steps.append(.delivered)
        }
    }

    func fail(_ failure: LoadFailure) {
        state.withLock { state in
            _ = state.machine.loadEnded()
            state.steps.append(.failed(failure.cause))
        }
    }
}
