internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: HTTPResponseObserver {
    func waits(_ reason: NWError) {
        if !endWaiting(refusedBy: reason) { report { $0.machine.pathLost() } }
    }

    func informed(_ head: HTTPResponseHead) {
        if head.status == 104 { requests.uploading?.informed(head, of: request.values) }
        attempt.report(.informational(HTTPURLResponse(head, to: request)))
    }

    func sent(_ count: Int) {
        report { state in
            state.record?.noteSent(count)
            return state.machine.pathFound()
        }
        attempt.report(.sent(Int64(count)))
    }

    // MARK: Heads

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        guard let response = accept(head, connection) else { return }
        let parts = ReplacingParts(head, for: attempt.task.plan.outlet)
        if let parts { state.withLock { state in state.content.parts = parts } }
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
        let exchange = cache?.exchange(storing: response)
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
        let response = HTTPURLResponse(head, to: request)
        let isProxyRefusal = self.isProxyRefusal(head, connection)
        let verdict = verdict(on: head, isProxyRefusal: isProxyRefusal)
        let (action, path, secureOrigin, usesCredential, discarded) = state.withLock { state in
            let (path, action) = (state.machine.pathFound(), state.machine.headArrived(verdict))
            if case .none = action { return (action, path, HTTPOrigin?.none, false, HTTPRequestHandle?.none) }
            if case .hold = action { state.exchange.isReused = connection.isReused }
            if action != .discard { state.exchange.response = response }
            state.record?.note(head, response, connection)
            if state.access.bound != nil { state.access.bound?.handshake.responded(on: connection.details.id) }
            // The exchange with a 304 response has ended except for its last event. Another one ends early.
            let discarded = action == .discard && head.status != 304 ? state.exchange.handle.take() : nil
            return (action, path, state.exchange.secureOrigin, !state.access.isUnused, discarded)
        }
        perform(path)
        if case .none = action { return nil }
        if let origin = secureOrigin {
            network.challenges.remove(self, origin)
            network.noteStrictTransport(head.fields, of: origin)
            network.noteAlternatives(head, of: origin)
        }
        LoadCookies(attempt: attempt, network: network).store(head.fields)
        if usesCredential, head.status != 401, !isProxyRefusal { credentialAccepted(head.fields) }
        discarded?.cancel()
        guard case .deliver = action else { return nil }
        guard !isWebSocket else {
            refused(response)
            return nil
        }
        return response
    }

    /// Updates the cache with a response head, and returns the use of the response.
    private func verdict(on head: HTTPResponseHead, isProxyRefusal: Bool) -> LoadMachine.Verdict {
        let followUp = FollowUp(status: head.status, fields: head.fields, isProxyRefusal: isProxyRefusal)
        if cache == nil, !isWebSocket { network.settings.stores.cache?.invalidate(after: request, head) }
        let verdict = cache?.judge(head) ?? .deliver
        if case .deliver = verdict, let followUp { return .hold(followUp) }
        return verdict
    }

    /// Records what is needed to store the response, if that is allowed. Returns the storage policy for the task.
    func storagePolicy(for response: HTTPURLResponse) -> URLCache.StoragePolicy {
        guard let exchange = cache?.exchange(storing: response) else { return .notAllowed }
        attempt.report(.cacheable(exchange))
        return .allowed
    }

    // MARK: Upgrades

    func upgraded(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream
    ) {
        let response = HTTPURLResponse(head, to: request)
        report { $0.machine.pathFound() }
        let known = state.withLock { state -> String? in
            guard case .deliver = state.machine.headArrived(.deliver) else { return nil }
            state.record?.note(head, response, connection)
            return state.exchange.upgradeKey
        }
        guard let key = known else { return }
        LoadCookies(attempt: attempt, network: network).store(head.fields)
        credentialAccepted(head.fields)
        guard isWebSocket else { return end(.switched(response, stream)) }
        do throws(UpgradeError) {
            let offered = request.values.unfoldedFields.elements(of: "Sec-WebSocket-Protocol")
            let opening = try WebSocketHandshake(network).opening(head, response, key: key, offered: offered, stream)
            end(.upgraded(opening))
        } catch {
            refused(response, "invalid response to the handshake: \(error.explanation)")
        }
    }

    /// Delivers a response that opens no WebSocket, and fails.
    func refused(_ response: HTTPURLResponse, _ reason: String? = nil) {
        attempt.report(.response(response, .notAllowed))
        let reason = reason ?? "the server answered with status \(response.statusCode) instead of 101"
        fail(
            LoadFailure(
                .protocolViolation, underlying: NWError.posix(.EPROTO), details: [LoadFailure.reasonKey: reason]))
    }

    // MARK: Content

    func received(_ content: Data) {
        let (destination, action) = state.withLock { state -> (LoadContent.Destination?, LoadMachine.Action) in
            state.record?.counts.responseBody += Int64(content.count)
            let action = state.machine.contentArrived(content.count)
            guard case .deliver = action else {
                if action != .none { state.content.held.append(content) }
                return (nil, action)
            }
            return (state.content.destination(of: content, in: state.exchange.response), action)
        }
        if let destination { deliver(content, to: destination) } else { perform(action) }
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        report { state in
            state.exchange.handle = nil
            guard case .failure(let failure) = result else { return state.machine.exchangeEnded(isComplete: true) }
            state.exchange.failure = state.exchange.failure ?? failure
            return state.machine.exchangeEnded(isComplete: false)
        }
    }

    /// Delivers content from the final response.
    func deliver(_ content: Data, to destination: LoadContent.Destination) {
        switch destination {
        case .task: attempt.report(.data(content))
        case .parts(let parts): deliver(content, in: parts)
        case .decoder(let decoded): return deliver(decoded)
        case .newDecoder(let response, let parts):
            if startDecoding(content, of: response, parts) { return }
            attempt.report(.data(content))
        }
        if !attempt.wantsBytes { updateReading() }
    }

    /// Creates the decoder when the first content of an encoded response arrives. A response without content needs none.
    private func startDecoding(
        _ content: Data, of response: HTTPURLResponse, _ parts: ReplacingParts?
    ) -> Bool {
        do throws(DecodingFailure) {
            guard let decoder = try ContentDecoder.decoder(for: response.fields) else { return false }
            let decoded = DecodedContent(decoder, splitBy: parts)
            decoded.append(content)
            state.withLock { state in state.content.decoder = decoded }
            deliver(decoded)
        } catch {
            fail(LoadFailure(error))
        }
        return true
    }

    /// Decodes and delivers content while the task wants it.
    func deliver(_ content: DecodedContent) {
        do throws(DecodingFailure) {
            let progress = try content.pump(while: { attempt.wantsBytes }) { piece in
                if let parts = content.parts { deliver(piece, in: parts) } else { attempt.report(.data(piece)) }
            }
            if progress == .finished { return end(.finished) }
        } catch {
            return fail(LoadFailure(error))
        }
        updateReading()
    }

    /// Delivers content whose parts replace each other. Each part begins with a new response.
    private func deliver(_ content: Data, in parts: ReplacingParts) {
        do throws(HTTPSyntaxError) {
            for event in try parts.decode(content) {
                switch event {
                case .part(let fields):
                    let head = HTTPResponseHead(status: parts.status, fields: fields)
                    attempt.report(.response(HTTPURLResponse(head, to: request), .notAllowed))
                case .content(let bytes): attempt.report(.data(Data(bytes)))
                case .partEnd: break
                }
            }
        } catch {
            fail(
                LoadFailure(
                    .unreadableResponse, underlying: NWError.posix(.EBADMSG),
                    details: [LoadFailure.reasonKey: "\(error)"]))
        }
    }
}
