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
    ///   - progress: Called with the upload progress, on a session queue; `nil` for none. A request with progress shares no response.
    /// - Throws: ``HTTPClientError`` or `CancellationError`.
    public func send<Value: Sendable>(
        _ request: ClientRequest, as serializer: ResponseSerializer<Value>,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> ClientResponse<Value> {
        let answered = try await answered(try prepare(request, accept: serializer.types.acceptField), progress)
        let value = try value(of: answered, serializer)
        return ClientResponse(value: value, http: answered.response, attempts: answered.exchange.attempts)
    }

    /// Returns a request as a curl command line for a POSIX shell, to repeat it by hand. Changes by interceptors are not included.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - showsSecrets: Whether to include the values of `Authorization`, `Proxy-Authorization` and `Cookie`.
    /// - Throws: ``HTTPClientError`` if the request cannot be sent.
    public func curlCommand(for request: ClientRequest, showsSecrets: Bool = false) throws -> String {
        let prepared = try prepare(request, accept: nil)
        var urlRequest = prepared.urlRequest
        switch prepared.source {
        case .none, .data: break
        // The printed command reads the content from standard input, as in `curl ... < FILE`.
        case .file(let url): urlRequest.httpBodyStream = InputStream(url: url)
        case .form(let form):
            urlRequest.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
            urlRequest.httpBodyStream = try form.makeInputStream()
        }
        return urlRequest.curlCommand(showsSecrets: showsSecrets)
    }

    // MARK: Calls

    /// Sends a request and waits for its response. When this method returns a response, the call is still in progress.
    /// The caller ends it with ``succeeded(_:)`` or ``failed(_:_:)``.
    ///
    /// This method is not generic over the value type. If it were, the method and its closures would look up the type's
    /// metadata at run time, which costs time.
    func answered(
        _ prepared: PreparedRequest, _ progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> AnsweredCall {
        let call = begin(prepared)
        do {
            return AnsweredCall(
                number: call, prepared: prepared, exchange: try await exchange(prepared, call, progress))
        } catch {
            end(call, prepared, error)
            throw error
        }
    }

    /// Makes a response's value and ends its call.
    func value<Value: Sendable>(
        of answered: AnsweredCall, _ serializer: ResponseSerializer<Value>
    ) throws(HTTPClientError) -> Value {
        let value: Value
        do throws(HTTPClientError) {
            value = try serializer.value(of: answered.received)
        } catch {
            throw failed(answered, error)
        }
        succeeded(answered)
        return value
    }

    /// Ends a successful call after its result value was created.
    func succeeded(_ answered: AnsweredCall) {
        end(answered.number, answered.prepared, status: answered.response.statusCode)
    }

    /// Ends a call whose value could not be made. Returns the error for the program.
    func failed(_ answered: AnsweredCall, _ error: any Error) -> HTTPClientError {
        let kept = answered.exchange.content.prefix(configuration.maximumErrorContentLength)
        let error = (error as? HTTPClientError ?? HTTPClientError(.serialization, "\(error)", underlying: error)).about(
            answered.prepared.urlRequest, answered.response, Data(kept), attempts: answered.exchange.attempts)
        end(answered.number, answered.prepared, error)
        return error
    }

    /// Prepares a request, runs a call for it, and reports its events.
    func observed<Value: StatusCarrier>(
        _ request: ClientRequest, _ body: (PreparedRequest, UInt64) async throws -> Value
    ) async throws -> Value {
        let prepared = try prepare(request, accept: nil)
        let call = begin(prepared)
        do {
            let value = try await body(prepared, call)
            end(call, prepared, status: value.status)
            return value
        } catch {
            end(call, prepared, error)
            throw error
        }
    }

    private func begin(_ prepared: PreparedRequest) -> UInt64 {
        let call = running.begin()
        report(call, prepared) { .began }
        return call
    }

    private func end(_ call: UInt64, _ prepared: PreparedRequest, status: Int) {
        report(call, prepared) { .succeeded(status: status) }
        ended(prepared)
    }

    private func end(_ call: UInt64, _ prepared: PreparedRequest, _ error: any Error) {
        report(call, prepared) { (error as? HTTPClientError).map { .failed($0) } ?? .cancelled }
        ended(prepared)
    }

    private func ended(_ prepared: PreparedRequest) {
        running.add(-1)
        // This request may have changed data on the server. A shared response that was requested earlier can therefore
        // be out of date, and later calls must not use it.
        if !prepared.request.isSafe { sharedWork.closeAll() }
    }

    private func exchange(
        _ prepared: PreparedRequest, _ call: UInt64, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> Exchange<Data> {
        guard progress == nil, prepared.isShareable, prepared.request.coalesces ?? configuration.coalescesRequests
        else {
            return try await unshared(prepared, call, progress)
        }
        return try await sharedWork.value(for: prepared) {
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

    /// Returns the request as a `URLRequest`.
    ///
    /// - Throws: ``HTTPClientError/Code/invalidRequest`` and ``HTTPClientError/Code/foreignOrigin``.
    func prepare(_ request: ClientRequest, accept: String?) throws(HTTPClientError) -> PreparedRequest {
        guard let shape = RecentRequests.Shape(request, accept: accept) else {
            return try makePrepared(request, accept: accept)
        }
        if let known = recent.withLock({ $0.find(shape) }) { return known }
        let prepared = try makePrepared(request, accept: accept)
        recent.withLock { $0.keep(prepared, as: shape) }
        return prepared
    }

    /// Like ``prepare(_:accept:)``, but without copying the request if its prepared form is cached.
    func prepare(
        _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
        _ body: RequestBody, accept: String?
    ) throws(HTTPClientError) -> PreparedRequest {
        if let shape = RecentRequests.Shape(method, path, query, headers, body, accept: accept),
            let known = recent.withLock({ $0.find(shape) })
        {
            return known
        }
        return try prepare(ClientRequest(method, path, query, headers, body), accept: accept)
    }

    private func makePrepared(_ request: ClientRequest, accept: String?) throws(HTTPClientError) -> PreparedRequest {
        var urlRequest = URLRequest(
            url: try base.moved(to: request.rules.place).url(of: request.target, query: request.query))
        if request.method != "GET" { urlRequest.httpMethod = request.method }
        if let timeout = request.timeout { urlRequest.timeoutInterval = timeout / .seconds(1) }
        if let policy = request.cachePolicy { urlRequest.cachePolicy = policy }
        if let accept { urlRequest.setValue(accept, forHTTPHeaderField: "Accept") }
        if let type = request.body.contentType { urlRequest.setValue(type, forHTTPHeaderField: "Content-Type") }
        for (name, value) in configuration.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        do {
            let source = try request.body.source.get()
            if case .data(let data) = source { urlRequest.httpBody = data }
            return PreparedRequest(urlRequest, source, of: request)
        } catch {
            throw HTTPClientError(.invalidRequest, "the content cannot be encoded: \(error)", underlying: error)
                .about(urlRequest, attempts: 0)
        }
    }
}

/// A call whose response has arrived. The response is not yet converted to the caller's value.
struct AnsweredCall: Sendable {
    let number: UInt64
    let prepared: PreparedRequest
    let exchange: Exchange<Data>

    var response: HTTPURLResponse { exchange.response }
    var received: ReceivedResponse { ReceivedResponse(data: exchange.content, http: exchange.response) }
}

/// The result of a call, with the response status that the call's final event reports.
protocol StatusCarrier {
    var status: Int { get }
}

extension ClientResponse: StatusCarrier {}

extension Exchange: StatusCarrier {
    var status: Int { response.statusCode }
}
