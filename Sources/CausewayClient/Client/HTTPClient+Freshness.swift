internal import CausewayURLLoading

extension HTTPClient {
    /// Gets a stored value at once, and then the fresh value.
    ///
    /// The first element is the response in the session's cache, however old, with ``ClientResponse/isFromCache``. It
    /// is left out if there is no such response, or if the serializer does not accept it. The final element is the
    /// server's response. The request for it is conditional (`If-None-Match`, RFC 9110 §13), so unchanged content is
    /// not sent again; the final element then comes from the cache as well, but is known to be fresh.
    ///
    /// ```swift
    /// for try await response in client.values(ClientRequest("GET", "albums"), as: .json([Album].self)) {
    ///     show(response.value, isStale: response.isFromCache)
    /// }
    /// ```
    ///
    /// Cancellation: cancels the request. The sequence fails with ``HTTPClientError`` if the server cannot be reached; the stored value was delivered before.
    ///
    /// - Parameters:
    ///   - request: A GET request. Its ``ClientRequest/cachePolicy`` is not used.
    ///   - serializer: Checks the responses and makes the values.
    public func values<Value: Sendable>(
        _ request: ClientRequest, as serializer: ResponseSerializer<Value>
    ) -> StoredThenFresh<Value> {
        StoredThenFresh { [self] step in
            var request = request
            guard step == 0 else {
                request.cachePolicy = .reloadRevalidatingCacheData
                return try await send(request, as: serializer)
            }
            request.cachePolicy = .returnCacheDataDontLoad
            request.retryPolicy = .never
            do {
                let stored = try await send(request, as: serializer)
                return stored.isFromCache ? stored : nil
            } catch is HTTPClientError {
                return nil
            }
        }
    }
}

/// The responses from ``HTTPClient/values(_:as:)``: the stored response, if any, and the fresh response.
public struct StoredThenFresh<Value: Sendable>: AsyncSequence, Sendable {
    /// Returns the stored response for step 0; `nil` if no stored response can be delivered. Returns the server's
    /// response for step 1.
    typealias Step = @Sendable (Int) async throws -> ClientResponse<Value>?

    private let step: Step

    init(_ step: @escaping Step) { self.step = step }

    /// Creates the iterator. Each iterator asks the cache and the server.
    public func makeAsyncIterator() -> Iterator { Iterator(step: step) }

    /// Asks the cache, and then the server.
    public struct Iterator: AsyncIteratorProtocol {
        let step: Step
        private var position = 0

        init(step: @escaping Step) { self.step = step }

        /// Returns the next response.
        ///
        /// Cancellation: throws `CancellationError`.
        public mutating func next() async throws -> ClientResponse<Value>? {
            while position < 2 {
                position += 1
                if let response = try await step(position - 1) { return response }
            }
            return nil
        }
    }
}
