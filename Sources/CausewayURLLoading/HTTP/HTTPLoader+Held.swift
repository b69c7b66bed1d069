internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Responses that are held back because another request may follow them.
extension HTTPLoader {
    /// Handles the held response.
    func decide(_ followUp: FollowUp) {
        guard let response = state.withLock({ state in state.exchange.response }) else { return }
        switch followUp {
        case .proxyChallenge: proxyChallenged(response)
        case .challenge: challenged(response)
        case .retry: repeatRequest(after: response)
        case .redirect: redirected(response)
        }
    }

    /// Sends the request once more if a connection of another kind can help. Otherwise the response is delivered.
    private func repeatRequest(after response: HTTPURLResponse) {
        let isReused = state.withLock { state in state.exchange.isReused }
        let context = RetryContext(
            method: request.values.method, connection: isReused ? .reused : .new,
            counts: RetryCounts(repeated: isWebSocket ? 1 : 0))
        guard case .retry(let route, _) = RetryRules.decide(.answered(status: response.statusCode), context) else {
            return deliverHeld()
        }
        state.withLock { state in state.access.repeated = route }
        sendAgain()
    }

    /// Delivers the held response, because no request follows it.
    func deliverHeld() { report { $0.deliveryChosen() } }

    /// Sends the request again after the current exchange ends.
    func sendAgain() {
        // The handle is taken with the decision. After the lock, the exchange can end, and the next one has another handle.
        let (action, handle) = state.withLock { state -> (LoadMachine.Action, HTTPRequestHandle?) in
            let action = state.machine.repetitionChosen()
            return (action, action == .cancelExchange ? state.exchange.handle.take() : nil)
        }
        handle?.cancel()
        perform(action)
    }

    /// Passes the held response and its content to the task.
    func releaseHeld() {
        guard let response = state.withLock({ state in state.exchange.response }) else { return }
        guard !isWebSocket else { return refused(response) }
        attempt.report(.response(response, storagePolicy(for: response)))
        while true {
            let (pieces, action) = takeHeld()
            for piece in pieces { deliver(piece, isEncoded: response.isContentDecoded) }
            guard pieces.isEmpty else { continue }
            perform(action)
            return updateReading()
        }
    }

    /// Removes and returns the held content. If there is none, later content is delivered directly.
    private func takeHeld() -> ([Data], LoadMachine.Action) {
        state.withLock { state in
            guard !state.held.isEmpty else { return ([], state.machine.heldContentTaken()) }
            defer { state.held = [] }
            return (state.held, .none)
        }
    }

    /// Prepares the next exchange.
    func prepareAgain() {
        let (old, isWanted, isOpening) = state.withLock { state -> (TransactionRecord?, Bool, Bool) in
            guard !state.machine.hasEnded else { return (nil, false, false) }
            state.record?.dates.response.end = Date()
            defer {
                if state.record != nil { state.record = Self.newRecord(request) }
                state.held = []
            }
            return (state.record, true, state.access.bound?.handshake.isOpening == true)
        }
        guard isWanted else { return }
        if let old {
            attempt.report(.measured(old))
            attempt.report(.begins(TransactionRecord(request: request)))
        }
        let offset = nextOffset
        if let offset, request.values.body != .none { attempt.report(.sendsAgain(from: offset)) }
        guard case .stream = request.values.body, !isRepeatable, !isOpening, let offset else { return start() }
        // The stream has been read, so the program must supply another one.
        let question = openQuestion()
        attempt.report(
            .needsStream(from: offset) { [self] stream in
                guard takesAnswer(to: question) else { return }
                guard let stream else { return fail(LoadFailure(.bodyStreamExhausted)) }
                if hasOwnCookies { findCookies { [self] in send($0, stream) } } else { send(.storage, stream) }
            })
    }

    private func send(_ cookies: CookieSource, _ stream: Unchecked<InputStream>) {
        do throws(LoadFailure) {
            send(try makeRequest(cookies), makeBody(stream))
        } catch {
            fail(error)
        }
    }

    /// Whether the loader can read the request's body stream again without the program.
    private var isRepeatable: Bool {
        switch attempt.task.plan.source {
        case .file, .form: true
        case .request, .data, .stream: false
        }
    }
}
