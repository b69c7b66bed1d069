internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: HTTPResponseObserver {
    func waits(_ reason: NWError) {
        if !endWaiting(refusedBy: reason) { report { $0.pathLost() } }
    }

    func informed(_ head: HTTPResponseHead) {
        if head.status == 104 { noteUpload(head) }
        attempt.report(.informational(makeResponse(head)))
    }

    func sent(_ count: Int) {
        let action = state.withLock { state in
            state.record?.noteSent(count)
            return state.machine.pathFound()
        }
        perform(action)
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
        guard let conclusion = endWhole(content?.count ?? 0) else { return }
        release(conclusion.end)
        if let record = conclusion.record { attempt.report(.measured(record)) }
        attempt.report(.whole(response, content ?? Data(), exchange))
    }

    /// Ends the load with a response that arrived in one piece, unless the load has ended.
    private func endWhole(_ count: Int) -> Conclusion? {
        state.withLock { state in
            state.exchange.handle = nil
            state.record?.counts.responseBody += Int64(count)
            guard var conclusion = state.conclude() else { return nil }
            // The loader was removed when the head arrived.
            conclusion.end.secureOrigin = nil
            state.handOver = .over
            return conclusion
        }
    }

    /// Processes a final response head. Returns the response, or `nil` if the program does not get it now.
    private func accept(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) -> HTTPURLResponse? {
        guard !continuesUpload(head) else { return nil }
        let response = makeResponse(head)
        let isProxyRefusal = self.isProxyRefusal(head, connection)
        let followUp = FollowUp(status: head.status, fields: head.fields, isProxyRefusal: isProxyRefusal)
        var verdict = judge(head)
        if case .deliver = verdict, let followUp { verdict = .hold(followUp) }
        let (action, path, secureOrigin, usesCredential, discarded) = state.withLock { state in
            let (path, action) = (state.machine.pathFound(), state.machine.headArrived(verdict))
            if case .none = action { return (action, path, HTTPOrigin?.none, false, HTTPRequestHandle?.none) }
            if case .hold = action { state.exchange.isReused = connection.isReused }
            if action != .discard { state.exchange.response = response }
            state.record?.note(head, response, connection)
            if state.access.bound != nil { state.access.bound?.handshake.responded(on: connection.details.id) }
            let origin = state.exchange.origin
            // The exchange with a 304 response has ended except for its last event. Another one ends early.
            let discarded = action == .discard && head.status != 304 ? state.exchange.handle.take() : nil
            return (action, path, origin.isSecure ? origin : nil, !state.access.isUnused, discarded)
        }
        perform(path)
        if case .none = action { return nil }
        if let origin = secureOrigin {
            network.challenges.remove(self, origin)
            network.noteStrictTransport(head.fields, of: origin)
            network.noteAlternatives(head, of: origin)
        }
        if head.fields.contains("Set-Cookie") { storeCookies(head.fields) }
        if usesCredential, head.status != 401, !isProxyRefusal { credentialAccepted(head.fields) }
        discarded?.cancel()
        guard case .deliver = action else { return nil }
        guard !isWebSocket else {
            refused(response)
            return nil
        }
        return response
    }

    func received(_ content: Data) {
        enum Destination {
            case task, newDecoder, decoder
            case parts(ReplacingParts)
            case other(LoadMachine.Action)
        }
        let destination = state.withLock { state -> Destination in
            state.record?.counts.responseBody += Int64(content.count)
            let action = state.machine.contentArrived(content.count)
            guard case .deliver = action else {
                if action != .none { state.held.append(content) }
                return .other(action)
            }
            guard let decoder = state.content else {
                if state.exchange.response?.isContentDecoded == true { return .newDecoder }
                return state.parts.map { .parts($0) } ?? .task
            }
            decoder.append(content)
            return .decoder
        }
        switch destination {
        case .task: deliver(content, isEncoded: false)
        case .parts(let parts):
            deliver(content, in: parts)
            if !attempt.wantsBytes { updateReading() }
        case .newDecoder: deliver(content, isEncoded: true)
        case .decoder: deliverDecoded()
        case .other(let action): perform(action)
        }
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        let action = state.withLock { state in
            state.exchange.handle = nil
            guard case .failure(let failure) = result else { return state.machine.exchangeEnded(isComplete: true) }
            state.exchange.failure = state.exchange.failure ?? failure
            return state.machine.exchangeEnded(isComplete: false)
        }
        perform(action)
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
}
