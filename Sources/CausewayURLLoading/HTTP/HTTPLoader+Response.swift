internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: HTTPResponseObserver {
    func waits(_ reason: NWError) {
        if endWaiting(refusedBy: reason) { return }
        let isFirst = state.withLock { state in
            defer { state.isWaitingForPath = true }
            return !state.isWaitingForPath
        }
        if isFirst { attempt.report(.waiting) }
    }

    /// Reports that the load no longer waits for connectivity.
    func endWaiting() {
        let wasWaiting = state.withLock { state in
            defer { state.isWaitingForPath = false }
            return state.isWaitingForPath
        }
        if wasWaiting { attempt.report(.continues) }
    }

    func informed(_ head: HTTPResponseHead) {
        if head.status == 104 { noteUpload(head) }
        attempt.report(.informational(makeResponse(head)))
    }

    func sent(_ count: Int) {
        state.withLock { state in state.record?.noteSent(count) }
        endWaiting()
        attempt.report(.sent(Int64(count)))
    }

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        guard let response = accept(head, connection) else { return }
        let parts = ReplacingParts(head, for: attempt.task.plan.outlet)
        if let parts { state.withLock { state in state.parts = parts } }
        attempt.report(.response(response, parts == nil ? storagePolicy(for: response) : .notAllowed))
        if !attempt.wantsBytes { updateReading() }
    }

    func completed(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ content: Data?) {
        let task = attempt.task
        guard case .handler = task.plan.outlet, !head.fields.contains("Content-Encoding"),
            ReplacingParts(head, for: task.plan.outlet) == nil
        else {
            responded(head, connection)
            if let content { received(content) }
            return ended(.success(FieldSection()))
        }
        guard let response = accept(head, connection) else {
            // Another request may follow, or a stored response is delivered.
            if let content { received(content) }
            return ended(.success(FieldSection()))
        }
        let exchange = exchangeIfStorable(response)
        let (isWanted, record, bound) = endWhole(content?.count ?? 0)
        bound?.lease?.end()
        guard isWanted else { return }
        if let record { attempt.report(.measured(record)) }
        attempt.report(.whole(response, content ?? Data(), exchange))
        endHandOver(nil)
    }

    /// Ends the load with a response that arrived in one piece, unless the load has ended. Also returns the metrics.
    private func endWhole(_ count: Int) -> (isWanted: Bool, record: TransactionRecord?, bound: Bound?) {
        state.withLock { state in
            guard state.phase == .streaming else { return (false, nil, nil) }
            state.phase = .ended
            state.exchange.handle = nil
            state.exchange.reading = nil
            state.exchange.engine = nil
            state.exchange.response = nil
            state.record?.counts.responseBody += Int64(count)
            if state.record?.response != nil { state.record?.dates.response.end = Date() }
            return (true, state.record, state.access.bound.take())
        }
    }

    /// Processes a final response head. Returns the response, or `nil` if the program does not get it now.
    private func accept(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) -> HTTPURLResponse? {
        endWaiting()
        guard !continuesUpload(head) else { return nil }
        let response = makeResponse(head)
        let isHeld = mayBeFollowed(head, connection)
        let verdict = judge(head)
        let (isExpected, secureOrigin, usesCredential) = state.withLock { state -> (Bool, HTTPOrigin?, Bool) in
            guard state.phase == .waiting || state.phase == .confirmed || state.phase == .restarting else {
                return (false, nil, false)
            }
            state.record?.note(head, response, connection)
            if state.access.bound != nil { state.access.bound?.arrived = connection.details.id }
            if state.phase == .waiting {
                state.phase = isHeld ? .holding : .streaming
                if isHeld { state.exchange.isReused = connection.isReused }
                state.exchange.response = response
            }
            return (true, state.exchange.origin.isSecure ? state.exchange.origin : nil, !state.access.isUnused)
        }
        guard isExpected else { return nil }
        if let origin = secureOrigin {
            network.challenges.remove(self, origin)
            network.noteStrictTransport(head.fields, of: origin)
            network.noteAlternatives(head, of: origin)
        }
        if head.fields.contains("Set-Cookie") { storeCookies(head.fields) }
        if usesCredential, head.status != 401, !isProxyRefusal(head, connection) { credentialAccepted(head.fields) }
        switch verdict {
        case .deliver: break
        // The exchange with the 304 response has ended except for its last event. Another one ends early.
        case .useStored(let handle):
            if head.status != 304 { handle?.cancel() }
            return nil
        case .sendAgain: return nil
        }
        guard !isHeld else { return nil }
        guard !isWebSocket else {
            refused(response)
            return nil
        }
        return response
    }

    func received(_ content: Data) {
        enum Destination {
            case task, newDecoder, decoder, none, decision
            case parts(ReplacingParts)
        }
        let destination = state.withLock { state -> Destination in
            state.record?.counts.responseBody += Int64(content.count)
            switch state.phase {
            case .streaming:
                guard let decoder = state.content else {
                    if state.exchange.response?.isContentDecoded == true { return .newDecoder }
                    return state.parts.map { .parts($0) } ?? .task
                }
                decoder.append(content)
                return .decoder
            case .holding:
                state.held.pieces.append(content)
                state.held.count += content.count
                guard state.held.count >= Self.heldLimit else { return .none }
                state.phase = .deciding
                return .decision
            case .deciding:
                state.held.pieces.append(content)
                state.held.count += content.count
                return .none
            case .waiting, .restarting, .pausing, .confirmed, .ended: return .none
            }
        }
        switch destination {
        case .task: deliver(content, isEncoded: false)
        case .parts(let parts):
            deliver(content, in: parts)
            if !attempt.wantsBytes { updateReading() }
        case .newDecoder: deliver(content, isEncoded: true)
        case .decoder: deliverDecoded()
        case .decision:
            updateReading()
            decide()
        case .none: break
        }
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        switch result {
        case .success: responseEnded()
        case .failure(let failure):
            switch state.withLock({ state in state.phase }) {
            case .restarting: restart()
            case .confirmed: deliverConfirmed()
            default: failed(failure)
            }
        }
    }

    private func responseEnded() {
        enum Next { case finish, decode, decide, restart, deliverStored, none }
        let next = state.withLock { state -> Next in
            guard state.phase != .pausing else { return .none }
            state.exchange.handle = nil
            state.exchange.reading = nil
            switch state.phase {
            case .streaming:
                guard let decoder = state.content else { return .finish }
                decoder.end()
                return .decode
            case .holding:
                state.held.isComplete = true
                state.phase = .deciding
                return .decide
            case .deciding:
                state.held.isComplete = true
                return .none
            case .restarting: return .restart
            case .confirmed: return .deliverStored
            case .waiting, .pausing, .ended: return .none
            }
        }
        switch next {
        case .finish: finish()
        case .decode: deliverDecoded()
        case .decide: decide()
        case .restart: restart()
        case .deliverStored: deliverConfirmed()
        case .none: break
        }
    }

    // MARK: Content

    /// Delivers content from the final response.
    func deliver(_ content: Data, isEncoded: Bool) {
        if isEncoded, startDecoding(with: content) { return }
        attempt.report(.data(content))
        if !attempt.wantsBytes { updateReading() }
    }

    /// Creates the decoder when the first content of an encoded response arrives. A response without content needs none.
    private func startDecoding(with content: Data) -> Bool {
        let (response, known) = state.withLock { state in (state.exchange.response, state.content) }
        guard let response else { return false }
        if let known {
            known.append(content)
            deliverDecoded()
            return true
        }
        do throws(DecodingFailure) {
            guard let decoder = try ContentDecoder.decoder(for: response.fields) else { return false }
            let decoded = DecodedContent(decoder)
            decoded.append(content)
            state.withLock { state in state.content = decoded }
            deliverDecoded()
        } catch {
            fail(LoadFailure(error))
        }
        return true
    }

    /// Decodes and delivers content while the task wants it.
    func deliverDecoded() {
        let (decoded, parts) = state.withLock { state in (state.content, state.parts) }
        guard let content = decoded else { return }
        do throws(DecodingFailure) {
            let progress = try content.pump(while: { attempt.wantsBytes }) { piece in
                state.withLock { state in state.record?.counts.responseBodyAfterDecoding += Int64(piece.count) }
                if let parts { deliver(piece, in: parts) } else { attempt.report(.data(piece)) }
            }
            if progress == .finished { return finish() }
        } catch {
            return fail(LoadFailure(error))
        }
        updateReading()
    }

    // MARK: Failures

    private func failed(_ failure: HTTPFailure) {
        let (phase, origin, refusal) = state.withLock { state in
            // The handshake's connection is gone.
            let isHandshake = state.access.bound?.continued != nil
            return (state.phase, state.exchange.origin, isHandshake ? .noResponse(nil) : state.exchange.proxyFailure)
        }
        let failure = refusal ?? failure
        switch phase {
        case .ended, .pausing: return
        case .deciding, .holding:
            // The head is enough to decide.
            state.withLock { state in
                state.phase = .deciding
                state.held.isComplete = true
            }
            if phase == .holding { decide() }
            return
        case .waiting: if isAnswered(failure) || deliversStale() || repeatsHandshake() { return }
        case .restarting, .confirmed, .streaming: break
        }
        let rejection = origin.isSecure ? network.challenges.takeRejection(origin) : nil
        let cause = LoadFailure(failure, rejection: rejection, request)
        if !resumesUpload(after: cause) { fail(cause) }
    }
}
