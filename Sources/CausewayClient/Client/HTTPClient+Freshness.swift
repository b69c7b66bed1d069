internal import CausewayURLLoading

extension HTTPClient {
    /// Delivers a stored value at once, and then the fresh value from the server.
    ///
    /// The first element is the response from the session's cache, however old it is. Its
    /// ``ClientResponse/isFromCache`` is `true`. If there is no such response, or if the serializer does not accept it,
    /// this element is left out.
    ///
    /// The final element is the server's response. Its request is conditional (`If-None-Match`, RFC 9110 §13), so the
    /// server does not send unchanged content again. In that case, the final element also comes from the cache, but it
    /// is known to be fresh.
    ///
    /// ```swift
    /// for try await response in client.values(ClientRequest("GET", "albums"), as: .json([Album].self)) {
    ///     show(response.value, isStale: response.isFromCache)
    /// }
    /// ```
    ///
    /// Cancellation: cancels the request. If the server cannot be reached, the sequence fails with ``HTTPClientError``,
    /// after it has delivered the stored value.
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
    /// A function that returns one element of the sequence. For step 0, it returns the stored response; `nil` if no
    /// stored response can be delivered. For step 1, it returns the server's response.
    typealias Step = @Sendable (Int) async throws -> ClientResponse<Value>?

    private let step: Step

    init(_ step: @escaping Step) { self.step = step }

    /// Creates the iterator. Each iterator asks the cache and the server.
    public func makeAsyncIterator() -> Iterator { Iterator(step: step) }

    /// An iterator that first asks the cache and then the server.
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
