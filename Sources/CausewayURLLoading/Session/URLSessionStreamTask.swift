public import Foundation

/// A task for a TCP connection. Not supported: its operations fail with `URLError.unsupportedURL`.
///
/// Counterpart: macOS 10.11, iOS 9.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    /// Reads bytes and passes them to a completion handler.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        callUnsupported { completionHandler(nil, true, $0) }
    }

    /// Reads bytes. Returns the bytes and whether the peer has closed its sending side.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await withCheckedThrowingContinuation { continuation in
            readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { data, isAtEnd, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success((data, isAtEnd)))
            }
        }
    }

    /// Writes bytes to the connection.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        callUnsupported(completionHandler)
    }

    /// Writes bytes to the connection.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Converts the task to a pair of streams after all earlier operations.
    open func captureStreams() {}

    /// Closes the sending side after all earlier writes.
    open func closeWrite() {}

    /// Closes the receiving side.
    open func closeRead() {}

    /// Starts a TLS handshake after all earlier operations.
    open func startSecureConnection() {}

    /// Ends TLS on the connection.
    @available(*, deprecated, message: "TLS cannot be ended on a connection that goes on.")
    open func stopSecureConnection() {}
}

extension URLSessionTask {
    /// Calls a completion handler on the delegate queue with the task's error, or with `URLError.unsupportedURL` if there is none.
    func callUnsupported(_ handler: @escaping @Sendable (any Error) -> Void) {
        let known = error ?? LoadFailure(.unsupportedURL).urlError(for: originalRequest?.url)
        guard let core else { return handler(known) }
        core.calls.add { handler(known) }
    }
}
