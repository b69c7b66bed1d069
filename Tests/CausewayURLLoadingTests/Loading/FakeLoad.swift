import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Dispatch
import Foundation

@testable import CausewayURLLoading

/// A load without a connection. It holds a response, and records what happens to it.
final class FakeLoad: ConnectingLoad, HoldingLoad, RecoveringLoad {
    enum Step: Equatable {
        /// The load sent the request again. The associated value is the `Authorization` field.
        case sent(String?)
        /// The load sent its request. The associated value is the field `If-None-Match`.
        case requested(String?)
        /// The load ended with a stored response that has this content.
        case replayed(String)
        case delivered
        case finished
        /// The load refused the response, because the response does not open a WebSocket.
        case refused
        case updatedReading
        case paused(Duration)
        case failed(LoadFailure.Cause)
    }

    /// An observer that ignores all events of an exchange.
    private final class Observer: HTTPResponseObserver {
        func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {}
        func received(_ content: Data) {}
        func ended(_ result: Result<FieldSection, HTTPFailure>) {}
    }

    private struct Log {
        var steps: [Step] = []
        var events: [LoadEvent] = []
        var wantsBytes = true
        var isWebSocket = false
        var hasDelegate = true
        var onReport: (@Sendable (LoadEvent) -> Void)?
        /// The challenges that the program has received. Each has a closure to which the test passes the answer.
        var challenges: [(URLAuthenticationChallenge, ChallengeAnswer)] = []
    }

    let network: HTTPNetwork
    let request: URLRequest
    let response: HTTPURLResponse
    let cache: LoadCache?
    let uploading: RunningUpload?
    private let engine = HTTPEngine()
    private let state: LockedValue<LoadState>
    private let log = LockedValue(Log())

    init(
        _ url: String = "https://example.com/a", status: Int = 401, challenges: [String], cache: LoadCache? = nil,
        uploading: RunningUpload? = nil, isMeasured: Bool = false
    ) {
        self.cache = cache
        self.uploading = uploading
        network = HTTPNetwork(Unchecked(.inMemory), queue: DispatchQueue(label: "fake"))
        request = URLRequest(url: URL(string: url).unsafelyUnwrapped)
        var fields = FieldSection()
        for challenge in challenges { fields.append("WWW-Authenticate", challenge) }
        response = HTTPURLResponse(
            url: request.url, statusCode: status, version: "HTTP/1.1", fields: fields, isDecoded: false)
        state = LockedValue(LoadState(record: isMeasured ? TransactionRecord(loading: request) : nil))
        hold()
    }

    /// Makes the load send the request again, and then hold back the response.
    func hold() {
        send()
        let head = HTTPResponseHead(status: response.statusCode, fields: response.fields)
        let followUp = FollowUp(status: head.status, fields: head.fields, isProxyRefusal: false) ?? .challenge
        withState { state in
            _ = state.headArrived(head, response, HTTPConnectionInformation(), .hold(followUp))
            _ = state.exchangeEnded(.success(FieldSection()))
        }
    }

    /// Makes the load send its request again. This request then fails without a response.
    func failExchange(_ failure: HTTPFailure) {
        repeatExchange()
        withState { state in _ = state.exchangeEnded(.failure(failure)) }
    }

    /// Makes the load send its request again and wait for the response.
    func repeatExchange() {
        prepare()
        send()
    }

    /// Makes the load prepare another request.
    func prepare() { withState { state in _ = state.repetitionChosen() } }

    /// Starts an exchange that opens no connection, because the engine refuses its method.
    private func send() {
        let origin = HTTPOrigin(isSecure: true, host: "example.com")
        let handle = engine.start(HTTPRequestValue(method: "CONNECT", origin: origin), observer: Observer())
        withState { state in
            _ = state.requestPrepared(HTTPRequestValue(origin: origin), .none, engine, proxyStart: .zero)
            state.exchangeStarted(handle)
        }
    }

    var steps: [Step] { log.withLock { $0.steps } }
    var events: [LoadEvent] { log.withLock { $0.events } }
    /// The events that the load has reported, as text.
    var words: [String] { events.map(Self.words) }
    var challenges: [URLAuthenticationChallenge] { log.withLock { $0.challenges.map(\.0) } }

    /// Answers the latest authentication challenge, as a program would.
    func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        log.withLock { $0.challenges.last?.1 }?(disposition, credential)
    }

    /// Sets a closure that runs after each event. The closure simulates a call that another thread makes at this
    /// moment.
    func onReport(_ body: @escaping @Sendable (LoadEvent) -> Void) { log.withLock { $0.onReport = body } }

    // MARK: ChallengedLoad

    var askingTask: URLSessionTask? { nil }
    var digestRequest: (DigestRequest, URIReference)? {
        URIReference("https://example.com/a").map { (DigestRequest(method: "GET", target: "/a", content: []), $0) }
    }

    // MARK: DrivenLoad

    func withState<Result: Sendable>(_ body: (inout LoadState) -> Result) -> Result {
        state.withLock { state in body(&state) }
    }

    func perform(_ step: LoadState.Step) {
        switch step.action {
        case .prepare: note(.sent(withAccess { $0.takeAuthorization().field }))
        case .deliverHeld: note(.delivered)
        case .finish: end(.finished)
        case .pause(let delay): note(.paused(delay))
        default: break
        }
    }

    func report(_ event: LoadEvent) {
        let onReport = log.withLock { log in
            log.events.append(event)
            if case .challenge(let challenge, let answer) = event { log.challenges.append((challenge, answer)) }
            return log.onReport
        }
        onReport?(event)
    }

    func end(_ event: LoadEvent) {
        guard withState({ $0.concluded() }) != nil else { return }
        switch event {
        case .failed(let error as LoadFailure): note(.failed(error.cause))
        case .finished: note(.finished)
        default: report(event)
        }
    }

    private func note(_ step: Step) { log.withLock { $0.steps.append(step) } }

    private static func words(_ event: LoadEvent) -> String {
        switch event {
        case .response(let response as HTTPURLResponse, _): "response \(response.statusCode)"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .challenge: "challenge"
        case .measured: "measured"
        case .begins: "begins"
        case .redirect(let redirect): "redirect \(redirect.request.url?.absoluteString ?? "")"
        default: "other"
        }
    }

    // MARK: CachedLoad

    func send(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        note(.requested(value.fields.firstValue(of: "If-None-Match")))
    }

    func replay(_ cached: CachedURLResponse) { note(.replayed(String(decoding: cached.data, as: UTF8.self))) }

    // MARK: DeliveringLoad

    var wantsBytes: Bool {
        get { log.withLock { $0.wantsBytes } }
        set { log.withLock { $0.wantsBytes = newValue } }
    }

    func updateReading() { note(.updatedReading) }

    // MARK: ConnectingLoad

    var hasDelegate: Bool {
        get { log.withLock { $0.hasDelegate } }
        set { log.withLock { $0.hasDelegate = newValue } }
    }

    // MARK: HoldingLoad

    var isWebSocket: Bool {
        get { log.withLock { $0.isWebSocket } }
        set { log.withLock { $0.isWebSocket = newValue } }
    }

    func refused(_ response: HTTPURLResponse, _ reason: String?) { note(.refused) }
}
