internal import CausewayHTTP
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Requests the connection in the middle of the response. The completion is called after all earlier content was reported: with the
    /// connection, or with `nil` if the load has ended or the content does not extend to the end of the connection.
    func handOver(_ completion: @escaping @Sendable (HTTPUpgradedStream?) -> Void) {
        let (handle, isOver) = state.withLock { state -> (HTTPRequestHandle?, Bool) in
            if case .over = state.handOver { return (nil, true) }
            guard state.machine.permitsHandOver else { return (nil, true) }
            // Another thread may be about to report the end, which then calls the completion.
            state.handOver = .requested(completion)
            return (state.exchange.handle, false)
        }
        if isOver { return completion(nil) }
        handle?.handOver()
    }

    /// Whether the content has parts that replace each other, so that its bytes are not those on the connection.
    var hasParts: Bool { state.withLock { state in state.parts != nil } }

    func handedOver(_ stream: HTTPUpgradedStream?) {
        if stream != nil, let record = finishRecord(), let record { attempt.report(.measured(record)) }
        endHandOver(stream)
    }

    /// Completes a requested handover, if any, after the end of the load was reported.
    func endHandOver(_ stream: HTTPUpgradedStream?) {
        let request = state.withLock { state in
            defer { state.handOver = .over }
            return state.handOver
        }
        if case .requested(let completion) = request { completion(stream) }
    }

    /// Ends the load and hands over the connection after status 101.
    func switched(_ response: HTTPURLResponse, _ stream: HTTPUpgradedStream) {
        guard let record = finishRecord() else { return }
        if let record = record { attempt.report(.measured(record)) }
        attempt.report(.switched(response, stream))
    }
}

extension HTTPURLResponse {
    /// Whether the content extends from the head to the end of the connection (RFC 9112 §6.3). Such a response can become a stream.
    var endsWithConnection: Bool {
        versionText.hasPrefix("HTTP/1.") && !isContentDecoded && statusCode != 204 && statusCode != 304
            && !fields.contains("Content-Length") && !fields.contains("Transfer-Encoding")
    }
}
