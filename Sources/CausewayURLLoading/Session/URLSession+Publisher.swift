public import Foundation

extension URLSession {
    /// Returns a publisher that loads a URL each time its values are read.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    @_disfavoredOverload
    public func dataTaskPublisher(for url: URL) -> URLSessionDataPublisher {
        URLSessionDataPublisher(request: URLRequest(url: url), session: self)
    }

    // A package with another publisher, such as OpenCombineFoundation, can declare the same method. The compiler then
    // prefers that method.
    /// Returns a publisher that loads a request each time its values are read.
    ///
    /// Linux has no Combine, so the publisher has no operators of Combine. Read its ``URLSessionDataPublisher/values``.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    @_disfavoredOverload
    public func dataTaskPublisher(for request: URLRequest) -> URLSessionDataPublisher {
        URLSessionDataPublisher(request: request, session: self)
    }
}

/// A publisher for one response with its content.
///
/// ```swift
/// for try await (data, response) in session.dataTaskPublisher(for: url).values { ... }
/// ```
///
/// Counterpart: `URLSession.DataTaskPublisher`, macOS 10.15, iOS 13.
public struct URLSessionDataPublisher: Sendable {
    /// The publisher's values.
    public typealias Output = (data: Data, response: URLResponse)
    /// The error with which a load fails.
    public typealias Failure = URLError

    /// The request.
    public let request: URLRequest
    /// The session for the load.
    public let session: URLSession

    /// Creates a publisher.
    public init(request: URLRequest, session: URLSession) {
        self.request = request
        self.session = session
    }

    /// An asynchronous sequence with one value. Each iteration loads the request.
    public var values: Values { Values(publisher: self) }

    /// The sequence in ``URLSessionDataPublisher/values``.
    public struct Values: AsyncSequence, Sendable {
        /// A response with its content.
        public typealias Element = Output

        let publisher: URLSessionDataPublisher

        /// Returns an iterator, which loads the request when its first value is requested.
        public func makeAsyncIterator() -> Iterator { Iterator(publisher: publisher) }

        /// An iterator that returns one value: the result of the request.
        public struct Iterator: AsyncIteratorProtocol {
            private var publisher: URLSessionDataPublisher?

            init(publisher: URLSessionDataPublisher) { self.publisher = publisher }

            /// Loads the request in the first call. Later calls return `nil`.
            ///
            /// Cancellation: cancels the load and throws `URLError.cancelled`.
            public mutating func next() async throws -> Output? {
                guard let publisher = publisher.take() else { return nil }
                return try await publisher.session.data(for: publisher.request)
            }
        }
    }
}
