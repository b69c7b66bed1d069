internal import CausewayURLLoading
internal import Foundation

extension HTTPClient {
    /// Sends a request and returns the response with its value.
    ///
    /// Cancellation: throws `CancellationError`. Other callers that share the response are not affected.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - serializer: Checks the response and makes the value.
    ///   - progress: Called with the progress of sending the content, on a queue of the session; `nil` for none. A request with progress shares no response.
    /// - Throws: ``HTTPClientError`` or `CancellationError`.
    public func send<Value: Sendable>(
        _ request: ClientRequest, as serializer: ResponseSerializer<Value>,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> ClientResponse<Value> {
        try await observed(request, accept: serializer.types.acceptField) { prepared, call in
            let exchange = try await exchange(prepared, call, progress)
            let received = ReceivedResponse(data: exchange.content, http: exchange.response)
            do throws(HTTPClientError) {
                let value = try serializer.value(of: received)
                return ClientResponse(value: value, http: exchange.response, attempts: exchange.attempts)
            } catch {
                let kept = received.data.prefix(configuration.maximumErrorContentLength)
                throw error.about(prepared.urlRequest, exchange.response, Data(kept), attempts: exchange.attempts)
            }
        }
    }

    /// Returns a request as a command line for curl in a POSIX shell, to repeat it by hand. Changes of the interceptors are not part of it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - showsSecrets: Whether the values of `Authorization`, `Proxy-Authorization` and `Cookie` are part of the text.
    /// - Throws: ``HTTPClientError`` if the request cannot be sent.
    public func curlCommand(for request: ClientRequest, showsSecrets: Bool = false) throws -> String {
        let prepared = try prepare(request, accept: nil)
        var urlRequest = prepared.urlRequest
        switch prepared.source {
        case .none, .data: break
        // The content comes from standard input: `curl ... < FILE`.
        case .file(let url): urlRequest.httpBodyStream = InputStream(url: url)
        case .form(let form):
            urlRequest.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
            urlRequest.httpBodyStream = try form.makeInputStream()
        }
        return urlRequest.curlCommand(showsSecrets: showsSecrets)
    }

    // MARK: The way of a request

    /// Prepares a request, runs a call for it, and reports its events.
    func observed<Value: StatusCarrier>(
        _ request: ClientRequest, accept: String?, _ body: (PreparedRequest, UInt64) async throws -> Value
    ) async throws -> Value {
        let prepared = try prepare(request, accept: accept)
        let call = newCall()
        running.add(1)
        report(call, prepared) { .began }
        defer {
            running.add(-1)
            // Responses that began before the end of a change can be out of date.
            if !request.isSafe { sharedWork.closeAll() }
        }
        do {
            let value = try await body(prepared, call)
            report(call, prepared) { .succeeded(status: value.status) }
            return value
        } catch let error as HTTPClientError {
            report(call, prepared) { .failed(error) }
            throw error
        } catch {
            report(call, prepared) { .cancelled }
            throw error
        }
    }

    private func exchange(
        _ prepared: PreparedRequest, _ call: UInt64, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> Exchange<Data> {
        let isShared = (prepared.request.coalesces ?? configuration.coalescesRequests) && progress == nil
        guard isShared, let key = prepared.sharingKey else { return try await unshared(prepared, call, progress) }
        return try await sharedWork.value(for: key) {
            self.report(call, prepared) { .shared }
        } _: {
            try await self.unshared(prepared, call, nil)
        }
    }

    private func unshared(
        _ prepared: PreparedRequest, _ call: UInt64, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> Exchange<Data> {
        try await perform(prepared, call: call) { request in
            try await self.loadData(request, prepared.source, progress: progress)
        }
    }

    func report(_ call: UInt64, _ prepared: PreparedRequest, _ kind: () -> ClientEvent.Kind) {
        broadcast.send {
            ClientEvent(call: call, request: HTTPClientError.name(of: prepared.urlRequest), kind: kind())
        }
    }

    /// Returns the request as `URLRequest`.
    ///
    /// - Throws: ``HTTPClientError/Code/invalidRequest`` and ``HTTPClientError/Code/foreignOrigin``.
    func prepare(_ request: ClientRequest, accept: String?) throws(HTTPClientError) -> PreparedRequest {
        var urlRequest = URLRequest(
            url: try base.moved(to: request.rules.place).url(of: request.target, query: request.query))
        urlRequest.httpMethod = request.method
        if let timeout = request.timeout { urlRequest.timeoutInterval = timeout }
        if let policy = request.cachePolicy { urlRequest.cachePolicy = policy }
        if let accept { urlRequest.setValue(accept, forHTTPHeaderField: "Accept") }
        if let type = request.body.contentType { urlRequest.setValue(type, forHTTPHeaderField: "Content-Type") }
        for (name, value) in configuration.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        do {
            let source = try request.body.source.get()
            if case .data(let data) = source { urlRequest.httpBody = data }
            return PreparedRequest(urlRequest: urlRequest, source: source, request: request)
        } catch {
            throw HTTPClientError(.invalidRequest, "the content cannot be encoded: \(error)", underlying: error)
                .about(urlRequest, attempts: 0)
        }
    }
}

/// A result that knows the status of its response, for events.
protocol StatusCarrier {
    var status: Int { get }
}

extension ClientResponse: StatusCarrier {}

extension Exchange: StatusCarrier {
    var status: Int { response.statusCode }
}
