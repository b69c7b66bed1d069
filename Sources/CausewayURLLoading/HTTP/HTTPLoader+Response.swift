internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: HTTPResponseObserver {
    func waits(_ reason: NWError) {
        if !ProxiedExchange(load: self).endsWaiting(for: reason) { apply { $0.pathLost() } }
    }

    func informed(_ head: HTTPResponseHead) {
        if head.status == 104 { uploading?.informed(head, of: request.values) }
        report(.informational(HTTPURLResponse(head, to: request)))
    }

    func sent(_ count: Int) {
        apply { $0.contentSent(count) }
        report(.sent(Int64(count)))
    }

    // MARK: Heads

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        let parts = ReplacingParts(head, for: attempt.task.plan.outlet)
        guard let response = accept(head, connection, parts) else { return }
        report(.response(response, parts == nil ? storagePolicy(for: response) : .notAllowed))
        if !wantsBytes { updateReading() }
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
        guard let response = accept(head, connection, nil) else {
            // The load discards this response, or holds it back until the decision whether another request follows. In
            // both cases, report the content and its end as usual.
            if let content { received(content) }
            return ended(.success(FieldSection()))
        }
        let exchange = cache?.exchange(storing: response)
        guard let conclusion = state.withLock({ $0.wholeResponseArrived(content?.count ?? 0) }) else { return }
        release(conclusion.end)
        if let record = conclusion.record { report(.measured(record)) }
        report(.whole(response, content ?? Data(), exchange))
    }

    /// Processes a final response head. Returns the response to report to the task, or `nil` if there is nothing to
    /// report now.
    ///
    /// For example, the response is discarded, or is held back because another request may follow.
    private func accept(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ parts: ReplacingParts?
    ) -> HTTPURLResponse? {
        let isProxyRefusal = connection.details.isForwarded && ProxiedExchange(load: self).isRefusal(head)
        if !isProxyRefusal, let uploading, InterruptedUpload(load: self, upload: uploading).continues(after: head) {
            return nil
        }
        let response = HTTPURLResponse(head, to: request)
        let verdict = verdict(on: head, isProxyRefusal: isProxyRefusal)
        let arrival = state.withLock { $0.headArrived(head, response, connection, verdict, parts: parts) }
        perform(arrival.path)
        if case .none = arrival.action { return nil }
        if let origin = arrival.end.secureOrigin {
            network.challenges.remove(self, origin)
            network.noteStrictTransport(head.fields, of: origin)
            network.noteAlternatives(head, of: origin)
        }
        // The proxy refused the request, so the server did not see it. The response fields come from the proxy, not
        // from the server.
        if !isProxyRefusal {
            LoadCookies(attempt: attempt, network: network).store(head.fields)
            if arrival.usesCredential, head.status != 401 { AcceptedCredential(load: self).keep(head.fields) }
        }
        arrival.end.handle?.cancel()
        guard case .deliver = arrival.action else { return nil }
        guard !isWebSocket else {
            refused(response)
            return nil
        }
        return response
    }

    /// Updates the cache with a response head. Returns how to use the response.
    private func verdict(on head: HTTPResponseHead, isProxyRefusal: Bool) -> LoadMachine.Verdict {
        let followUp = FollowUp(status: head.status, fields: head.fields, isProxyRefusal: isProxyRefusal)
        if cache == nil, !isWebSocket { network.settings.stores.cache?.invalidate(after: request, head) }
        let verdict = cache?.judge(head) ?? .deliver
        if case .deliver = verdict, let followUp { return .hold(followUp) }
        return verdict
    }

    // MARK: Upgrades

    func upgraded(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream
    ) {
        let response = HTTPURLResponse(head, to: request)
        let (path, known) = withState { $0.protocolSwitched(head, response, connection) }
        perform(path)
        guard let key = known else { return }
        LoadCookies(attempt: attempt, network: network).store(head.fields)
        AcceptedCredential(load: self).keep(head.fields)
        guard isWebSocket else { return end(.switched(response, stream)) }
        do throws(UpgradeError) {
            let offered = request.values.unfoldedFields.elements(of: "Sec-WebSocket-Protocol")
            let opening = try WebSocketHandshake(network).opening(head, response, key: key, offered: offered, stream)
            end(.upgraded(opening))
        } catch {
            refused(response, "invalid response to the handshake: \(error.explanation)")
        }
    }

    /// Delivers a response that refuses the WebSocket which the program requested, and fails the load.
    func refused(_ response: HTTPURLResponse, _ reason: String? = nil) {
        report(.response(response, .notAllowed))
        let reason = reason ?? "the server answered with status \(response.statusCode) instead of 101"
        fail(
            LoadFailure(
                .protocolViolation, underlying: NWError.posix(.EPROTO), details: [LoadFailure.reasonKey: reason]))
    }

    // MARK: Content

    func received(_ content: Data) {
        let (destination, action) = state.withLock { $0.contentArrived(content) }
        guard let destination else { return perform(action) }
        ContentDelivery(load: self).deliver(content, to: destination)
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) { apply { $0.exchangeEnded(result) } }
}
