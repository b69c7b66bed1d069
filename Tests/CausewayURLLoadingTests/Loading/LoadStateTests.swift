import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("The state of a load")
struct LoadStateTests {
    /// An observer that does nothing with an exchange's events.
    private final class Observer: HTTPResponseObserver {
        func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {}
        func received(_ content: Data) {}
        func ended(_ result: Result<FieldSection, HTTPFailure>) {}
    }

    private let origin = HTTPOrigin(isSecure: true, host: "example.com")
    private let url = URL(string: "https://example.com/a").unsafelyUnwrapped
    private let engine = HTTPEngine()

    /// Returns the handle of a request that uses no connection, because the engine refuses its method.
    private func makeHandle() -> HTTPRequestHandle {
        engine.start(HTTPRequestValue(method: "CONNECT", origin: origin), observer: Observer())
    }

    private func prepare(_ state: inout LoadState, proxyStart: Duration? = nil) -> LoadState.Preparation {
        state.requestPrepared(HTTPRequestValue(origin: origin), .none, engine, proxyStart: proxyStart)
    }

    private func respond(
        _ state: inout LoadState, _ verdict: LoadMachine.Verdict, status: Int = 200, _ fields: [(String, String)] = []
    ) -> LoadState.Arrival {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        let head = HTTPResponseHead(status: status, fields: section)
        let response = HTTPURLResponse(head, to: URLRequest(url: url))
        return state.headArrived(head, response, HTTPConnectionInformation(isReused: true), verdict)
    }

    /// Returns the state of a load that has sent its request and waits for the response.
    private func loading(_ record: TransactionRecord? = nil) -> LoadState {
        var state = LoadState(record: record)
        _ = prepare(&state)
        state.exchangeStarted(makeHandle())
        return state
    }

    /// Returns a load with a running exchange that has received its response head.
    private func loading(_ verdict: LoadMachine.Verdict, _ fields: [(String, String)] = []) -> LoadState {
        var state = loading()
        _ = respond(&state, verdict, fields)
        return state
    }

    private func receive(_ state: inout LoadState, _ text: String) -> LoadMachine.Action {
        state.contentArrived(Data(text.utf8)).action
    }

    private func takeHeld(_ state: inout LoadState) -> (texts: [String], action: LoadMachine.Action) {
        let (pieces, step) = state.heldContentTaken()
        return (pieces.map { String(decoding: $0, as: UTF8.self) }, step.action)
    }

    // MARK: Requests

    @Test("One exchange runs at a time, and none after the end")
    func preparation() {
        var state = LoadState()
        for expected in [LoadState.Preparation.start, .unwanted] {
            let preparation = prepare(&state)
            #expect(preparation == expected)
        }
        #expect(state.origin == origin && state.proxyUse == nil)
        var ended = LoadState()
        _ = ended.stopped()
        let late = prepare(&ended)
        #expect(late == .unwanted)
        ended.exchangeStarted(makeHandle())
        #expect(ended.handle == nil && ended.hasEnded)
    }

    @Test("A request over bound connections needs a lease, which ends with the load")
    func lease() throws {
        let owner = BoundConnections.Owner(
            space: ProtectionSpace(authority: .origin(origin), realm: "", scheme: "ntlm"),
            credential: URLCredential(user: "u", password: "p", persistence: .none))
        let connections = BoundConnections(limit: 1)
        let leased = LockedValue<BoundLease?>(nil)
        connections.acquire(for: owner, isNew: false) { lease in leased.withLock { $0 = lease } }
        let known = leased.withLock { $0.take() }
        let lease = try #require(known)
        var state = LoadState()
        state.withAccess { $0.bound = LoadAccess.Bound(owner: owner, handshake: BoundHandshake()) }
        let first = prepare(&state)
        #expect(first == .lease(owner))
        let binding = state.leaseAcquired(lease)
        #expect(binding != nil)
        let second = prepare(&state)
        #expect(second == .start)
        let end = state.stopped().end
        #expect(end?.bound?.lease === lease)
        let late = state.leaseAcquired(lease)
        #expect(late == nil)
    }

    @Test("Another exchange ends the transaction, and begins the metrics of the next one")
    func transactions() throws {
        let request = URLRequest(url: url)
        var state = loading(TransactionRecord(loading: request))
        _ = respond(&state, .hold(.challenge), status: 401)
        _ = receive(&state, "held")
        let ended = state.transactionEnded(request)
        let record = try #require(ended?.record)
        #expect((record.response as? HTTPURLResponse)?.statusCode == 401 && record.dates.response.end != nil)
        #expect(record.counts.responseBody == 4)
        let next = state.transactionMeasured()
        #expect(next?.response == nil && next?.counts.responseBody == 0)
        var unmeasured = loading(.hold(.challenge))
        let other = unmeasured.transactionEnded(request)
        #expect(other != nil && other?.record == nil)
    }

    // MARK: Held responses

    @Test("Content that arrives while held content is delivered does not overtake it")
    func order() {
        var state = loading(.hold(.redirect))
        let held = receive(&state, "a")
        let decision = state.deliveryChosen().action
        // The load machine waits for the end of the response, or for 64 KiB of content. Then it decides.
        #expect(held == .hold && decision == .none)
        let limit = receive(&state, String(repeating: "b", count: LoadMachine.heldLimit))
        let delivery = state.deliveryChosen().action
        #expect(limit == .decide(.redirect) && delivery == .deliverHeld)
        let meanwhile = receive(&state, "c")
        #expect(meanwhile == .hold)
        let first = takeHeld(&state)
        #expect(first.texts.count == 3 && first.texts.first == "a" && first.texts.last == "c")
        let late = receive(&state, "d")
        #expect(late == .hold)
        let second = takeHeld(&state)
        let last = takeHeld(&state)
        #expect(second.texts == ["d"] && last.texts.isEmpty && last.action == .none)
        let direct = state.contentArrived(Data("e".utf8))
        guard case .task? = direct.destination else {
            Issue.record("content is delivered directly after the held content")
            return
        }
    }

    @Test("An exchange that ends during the hold or the delivery finishes the load after the held content")
    func endDuringHold() {
        var state = loading(.hold(.challenge))
        _ = receive(&state, "a")
        #expect(state.completeHeldContent == nil)
        let decision = state.exchangeEnded(.success(FieldSection())).action
        #expect(decision == .decide(.challenge) && state.handle == nil)
        #expect(state.completeHeldContent == [Data("a".utf8)] && state.undecidedResponse != nil && state.isReused)
        _ = state.deliveryChosen()
        #expect(state.undecidedResponse == nil && state.response != nil)
        let (taken, rest) = (takeHeld(&state), takeHeld(&state))
        #expect(taken.texts == ["a"] && rest.action == .finish)
        var other = loading(.hold(.challenge))
        _ = receive(&other, String(repeating: "b", count: LoadMachine.heldLimit))
        _ = other.deliveryChosen()
        let end = other.exchangeEnded(.success(FieldSection())).action
        #expect(end == .none)
        let (pieces, finish) = (takeHeld(&other), takeHeld(&other))
        #expect(pieces.texts.count == 1 && finish.action == .finish)
    }

    @Test("A repetition takes the handle with the decision, so that it cannot cancel the next exchange")
    func repetition() {
        var state = loading(.hold(.challenge))
        _ = receive(&state, String(repeating: "a", count: LoadMachine.heldLimit))
        let step = state.repetitionChosen()
        #expect(step.action == .cancelExchange && step.end.handle != nil && state.handle == nil)
        let early = prepare(&state)
        #expect(early == .unwanted)
        let next = state.exchangeEnded(.failure(.cancelled)).action
        #expect(next == .prepare)
        let end = state.stopped().end
        #expect(end != nil && end?.exchange.handle == nil)
    }

    @Test("A repetition after the end has nothing to cancel; the end has taken handle and origin")
    func repetitionAfterEnd() {
        var state = loading(.hold(.challenge))
        _ = receive(&state, String(repeating: "a", count: LoadMachine.heldLimit))
        let end = state.stopped().end
        #expect(end?.exchange.handle != nil && end?.exchange.secureOrigin == origin)
        let step = state.repetitionChosen()
        #expect(step.action == .none && step.end.handle == nil)
    }

    @Test("A question has one answer, and none after the end")
    func questions() throws {
        var state = LoadState()
        let known = state.asked()
        let question = try #require(known)
        let answers = [state.answered(question), state.answered(question)]
        #expect(answers == [true, false])
        let other = state.asked()
        _ = state.stopped()
        let late = state.answered(try #require(other))
        let asked = state.asked()
        #expect(!late && asked == nil)
    }

    // MARK: Responses

    @Test("A discarded response ends its exchange early, except for status 304")
    func discarded() {
        var state = loading()
        let again = respond(&state, .sendAgain, status: 200)
        #expect(again.action == .discard && again.end.handle != nil && again.end.secureOrigin == origin)
        #expect(state.response == nil && state.handle == nil)
        var confirmed = loading()
        let arrival = respond(&confirmed, .useStored, status: 304)
        #expect(arrival.action == .discard && arrival.end.handle == nil && confirmed.handle != nil)
    }

    @Test("The first reason of a failed exchange counts")
    func failures() {
        var state = loading()
        let handle = state.waitRefused(.closed)
        #expect(handle != nil)
        let step = state.exchangeEnded(.failure(.cancelled))
        #expect(step.action == .recover)
        guard case .closed = state.exchangeFailure else {
            Issue.record("the later reason counts")
            return
        }
        let late = state.waitRefused(.closed)
        #expect(late == nil)
        let recovery = state.recoveryFound()
        #expect(recovery.action == .decide(nil) && recovery.end.secureOrigin == origin)
    }

    @Test("Only an exchange with a proxy has a beginning")
    func proxy() {
        var state = LoadState()
        _ = prepare(&state, proxyStart: .seconds(1))
        #expect(state.proxyUse?.origin == origin && state.proxyUse?.start == .seconds(1))
    }

    @Test("A load with a decoder ends after decoding, and counts both sizes")
    func decoder() throws {
        var state = loading(TransactionRecord(loading: URLRequest(url: url)))
        _ = respond(&state, .deliver, [("Content-Encoding", "gzip")])
        let first = state.contentArrived(Data("ab".utf8))
        guard case .newDecoder? = first.destination else {
            Issue.record("the first content needs a decoder")
            return
        }
        let decoded = DecodedContent(try ContentDecoder([.gzip]))
        state.decoderMade(decoded)
        let second = state.contentArrived(Data("c".utf8))
        guard case .decoder? = second.destination else {
            Issue.record("later content goes to the decoder")
            return
        }
        #expect(decoded.hasBacklog)
        let (decoder, early) = state.contentFinished()
        #expect(decoder === decoded && early == nil)
        let conclusion = state.concluded()
        #expect(conclusion?.record?.counts.responseBody == 3)
        #expect(conclusion?.record?.counts.responseBodyAfterDecoding == 0)
        let again = state.concluded()
        #expect(again == nil)
    }

    @Test("Reading follows the demand, and the last change of several threads counts")
    func reading() {
        var state = loading(.deliver)
        let stopped = state.demandChanged(wantsBytes: false, applied: nil)
        #expect(stopped?.reads == false)
        let same = state.demandChanged(wantsBytes: false, applied: false)
        #expect(same == nil)
        // Another thread has applied an older state before this call.
        let newer = state.demandChanged(wantsBytes: false, applied: true)
        #expect(newer?.reads == false)
        _ = state.exchangeEnded(.success(FieldSection()))
        let late = state.demandChanged(wantsBytes: true, applied: nil)
        #expect(late == nil)
    }

    // MARK: Ends

    @Test("A whole response ends the load, which has left the challenges with the head")
    func whole() {
        var state = loading()
        let arrival = respond(&state, .deliver)
        let conclusion = state.wholeResponseArrived(3)
        #expect(arrival.end.secureOrigin == origin)
        #expect(conclusion != nil && conclusion?.end.exchange.secureOrigin == nil)
        #expect(conclusion?.end.exchange.handle == nil && conclusion?.record == nil)
        let again = state.wholeResponseArrived(3)
        let request = state.handOverRequested { _ in }
        #expect(again == nil && !request.isAccepted)
    }

    @Test("A handover is accepted in delivered content, and between the end and its report, once")
    func handOver() {
        var state = loading()
        let early = state.handOverRequested { _ in }
        #expect(!early.isAccepted)
        _ = respond(&state, .deliver)
        let accepted = state.handOverRequested { _ in }
        #expect(accepted.isAccepted && accepted.handle != nil)
        _ = state.concluded()
        let first = state.handOverEnded()
        let second = state.handOverEnded()
        #expect(first != nil && second == nil)
        var ended = loading(.deliver)
        _ = ended.concluded()
        let between = ended.handOverRequested { _ in }
        #expect(between.isAccepted && between.handle == nil)
        let completion = ended.handOverEnded()
        let late = ended.handOverRequested { _ in }
        #expect(completion != nil && !late.isAccepted)
    }

    @Test("A stored response takes the place of the load, once")
    func stored() throws {
        let session = URLSession(configuration: .ephemeral)
        let task = try #require(session.dataTask(with: url).core)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        let replay = DataLoader(
            CachedURLResponse(response: response, data: Data()),
            for: LoadAttempt(request: URLRequest(url: url), task: task))
        var state = LoadState()
        let found = state.storedResponseFound(replay)
        let again = state.storedResponseFound(replay)
        #expect(found != nil && again == nil && state.demandTargets.replay === replay)
        let request = state.handOverRequested { _ in }
        let stop = state.stopped()
        #expect(!request.isAccepted && stop.end == nil && stop.replay === replay)
        #expect(state.demandTargets.replay == nil)
    }

    @Test("A stored redirect is held with its content, unless a request was sent")
    func storedRedirect() {
        let redirect = HTTPURLResponse(HTTPResponseHead(status: 302), to: URLRequest(url: url))
        var state = LoadState()
        let isHeld = state.storedRedirectFound(redirect, Data("a".utf8))
        #expect(isHeld && state.undecidedResponse === redirect && state.completeHeldContent == [Data("a".utf8)])
        var sent = loading()
        let isLate = sent.storedRedirectFound(redirect, Data())
        #expect(!isLate && sent.response == nil)
    }

    @Test("The end of the load returns the challenges that wait for an answer")
    func challenges() {
        let (first, second) = (ChallengeOnce { _, _ in }, ChallengeOnce { _, _ in })
        var state = loading()
        let isWaiting = [state.challengeArrived(first), state.challengeArrived(second)]
        #expect(isWaiting == [true, true])
        state.challengeAnswered(first)
        let waiting = state.stopped().challenges
        #expect(waiting.count == 1 && waiting.first === second)
        let late = state.challengeArrived(first)
        #expect(!late)
    }

    @Test("Events after the end change nothing")
    func lateEvents() {
        var state = loading()
        _ = state.stopped()
        let arrival = respond(&state, .deliver)
        let content = state.contentArrived(Data("a".utf8))
        #expect(arrival.action == .none && content.action == .none && content.destination == nil)
        #expect(arrival.end.handle == nil && arrival.end.secureOrigin == nil)
        let actions = [
            state.exchangeEnded(.success(FieldSection())).action, state.deliveryChosen().action,
            state.repetitionChosen().action, state.recoveryFound().action, state.pauseElapsed().action,
            state.pathLost().action, state.contentSent(1).action,
        ]
        #expect(actions.allSatisfy { $0 == .none })
        let request = URLRequest(url: url)
        let transaction = state.transactionEnded(request)
        let isHeld = state.storedRedirectFound(HTTPURLResponse(HTTPResponseHead(status: 302), to: request), Data())
        let (end, conclusion) = (state.stopped().end, state.concluded())
        #expect(transaction == nil && !isHeld && end == nil && conclusion == nil)
    }
}
