public import CausewayURLLoading
public import Foundation

extension HTTPClient {
    /// Downloads a response to a file whose location is chosen when the response is known.
    ///
    /// The file appears under its name only when it is complete, and replaces an existing file atomically. After a failure there is no new
    /// file.
    ///
    /// Cancellation: throws `CancellationError`; there is no new file.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: Called with the progress, on a session queue; `nil` for none. The fraction never falls, and ends at 1.
    ///   - destination: Returns the file's URL. It is called for statuses from 200 to 299. The server's proposed name is the response's
    ///     `suggestedFilename`: check it before using it in a path.
    /// - Returns: The response; its value is the file's URL.
    /// - Throws: ``HTTPClientError`` or `CancellationError`.
    public func download(
        _ request: ClientRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        to destination: @Sendable (HTTPURLResponse) throws -> URL
    ) async throws -> ClientResponse<URL> {
        try await observed(request) { prepared, call in
            let session = session
            let exchange = try await perform(prepared, call: call, discarding: { Self.remove($0) }) { request in
                let (content, response) = try await Transfer(streaming: prepared.source, progress: progress).run(
                    session.downloadTask(with: Self.request(request, carrying: prepared.source)))
                guard case .file(let file) = content else { throw URLError(.cannotCreateFile) }
                return (file, response)
            }
            let file = exchange.content
            defer { Self.remove(file) }
            do throws(HTTPClientError) {
                let place = try Self.place(for: exchange.response, destination)
                try Destination.place(file, at: place)
                return ClientResponse(value: place, http: exchange.response, attempts: exchange.attempts)
            } catch {
                let kept = Self.beginning(of: file, configuration.maximumErrorContentLength)
                throw error.about(prepared.urlRequest, exchange.response, kept, attempts: exchange.attempts)
            }
        }
    }

    /// Passes a response's content to a closure while it arrives. A stream parser can use this method. The client
    /// receives the content only as fast as the closure reads it.
    ///
    /// Cancellation: ends the closure's byte sequence with an error. This method then throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - request: The request. It is sent again only until its response has begun.
    ///   - statuses: The accepted statuses.
    ///   - body: Reads the content. When the closure returns, the rest of the content is discarded.
    /// - Throws: ``HTTPClientError``, `CancellationError`, or an error from `body`.
    public func stream<Value: Sendable>(
        _ request: ClientRequest, statuses: Range<Int> = 200..<300,
        _ body: @Sendable (HTTPURLResponse, URLSession.AsyncBytes) async throws -> Value
    ) async throws -> Value {
        let exchange = try await observed(request) { prepared, call in
            let exchange = try await perform(prepared, call: call, discarding: { $0.task.cancel() }) { request in
                try await self.loadBytes(request, prepared.source)
            }
            guard statuses.contains(exchange.response.statusCode) else {
                let kept = try await beginning(of: exchange.content)
                throw HTTPClientError(
                    .unacceptableStatus, "expected \(statuses.lowerBound) to \(statuses.upperBound - 1)"
                ).about(prepared.urlRequest, exchange.response, kept, attempts: exchange.attempts)
            }
            return exchange
        }
        running.add(1)
        defer {
            running.add(-1)
            exchange.content.task.cancel()
        }
        do {
            return try await body(exchange.response, exchange.content)
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    /// Reads the first bytes of a response's content, and cancels the session task. The caller adds these bytes to the
    /// error that it throws. If reading fails, returns the bytes read so far. The reading failure is not thrown,
    /// because the caller's error describes the status.
    private func beginning(of bytes: URLSession.AsyncBytes) async throws -> Data {
        var kept = Data()
        defer { bytes.task.cancel() }
        do {
            for try await byte in bytes.prefix(configuration.maximumErrorContentLength) { kept.append(byte) }
        } catch {
            try Task.checkCancellation()
        }
        return kept
    }

    private func loadBytes(
        _ request: URLRequest, _ source: RequestBody.Source
    ) async throws -> (URLSession.AsyncBytes, HTTPURLResponse) {
        let streamed = try Self.request(request, carrying: source)
        let supplier: StreamSupplier? =
            switch source {
            case .none, .data: nil
            case .file, .form: StreamSupplier(source)
            }
        let (bytes, response) = try await session.bytes(for: streamed, delegate: supplier)
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (bytes, http)
    }

    /// Returns a request that carries content from a file or a form as a stream. Download tasks and byte streams need
    /// this, because only upload tasks accept a file or a form directly.
    private static func request(_ request: URLRequest, carrying source: RequestBody.Source) throws -> URLRequest {
        var request = request
        switch source {
        case .none, .data: break
        case .file(let url): request.httpBodyStream = InputStream(url: url)
        case .form(let form):
            request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
            request.httpBodyStream = try form.makeInputStream()
        }
        return request
    }

    private static func place(
        for response: HTTPURLResponse, _ destination: (HTTPURLResponse) throws -> URL
    ) throws(HTTPClientError) -> URL {
        guard (200..<300).contains(response.statusCode) else {
            throw HTTPClientError(.unacceptableStatus, "expected 200 to 299")
        }
        do {
            return try destination(response)
        } catch {
            throw HTTPClientError(.file, "no destination: \(error)", underlying: error)
        }
    }

    private static func beginning(of file: URL, _ limit: Int) -> Data {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
        defer { try? handle.close() }
        return ((try? handle.read(upToCount: limit)) ?? nil) ?? Data()
    }

    private static func remove(_ file: URL) { try? FileManager.default.removeItem(at: file) }
}
