public import Foundation

/// A task for a TCP connection, which can start TLS later.
///
/// Operations wait until the connection is established. Reads run in call order, and so do writes; one read and one
/// write can run at the same time. ``startSecureConnection()`` and ``captureStreams()`` wait for all earlier
/// operations, and later operations wait for them.
///
/// ```swift
/// let task = session.streamTask(withHostName: "mail.example", port: 25)
/// task.resume()
/// let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 512, timeout: 30)
/// ```
///
/// The time limit of an operation starts when the operations before it are complete, and stops while the task is
/// suspended. After an error, later operations in the same direction fail with the same error. Received bytes are
/// buffered: the connection is not read while 64 KiB wait for a read. When both directions are closed and all bytes
/// were read, the task completes without an error. When the connection is lost, it completes with an error.
/// ``URLSessionTask/cancel()`` fails all operations with `URLError.cancelled` and resets the connection.
///
/// Counterpart: macOS 10.11, iOS 9.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    private var channel: StreamChannel? { core?.stream }

    /// Reads bytes and passes them to a completion handler on the delegate queue.
    ///
    /// - Parameters:
    ///   - minBytes: The number of bytes to wait for. At the end of the stream there can be fewer.
    ///   - maxBytes: The maximum number of bytes.
    ///   - timeout: The time limit in seconds; 0 for none.
    ///   - completionHandler: Receives the bytes, or `nil` if there are none. The Boolean value is `true` if the peer
    ///     has ended its sending side and all bytes were read.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        guard let channel else { return callUnsupported { completionHandler(nil, true, $0) } }
        channel.read(minBytes, maxBytes, timeout, completionHandler)
    }

    /// Reads bytes. Returns the bytes, or `nil` if there are none. The Boolean value is `true` if the peer has ended
    /// its sending side and all bytes were read.
    ///
    /// Cancellation: has no effect; cancel the URL task.
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
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: The time limit in seconds; 0 for none.
    ///   - completionHandler: Called on the delegate queue, with an error, or with `nil` when the system has taken all
    ///     bytes. The peer may not have received these bytes yet.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        guard let channel else { return callUnsupported(completionHandler) }
        channel.write(data, timeout, completionHandler)
    }

    /// Writes bytes to the connection. Returns when the system has taken all bytes.
    ///
    /// Cancellation: has no effect; cancel the URL task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Converts the task to a pair of streams after all earlier operations have ended.
    ///
    /// The delegate receives the streams, which are not open yet. The task is then complete, and the delegate receives
    /// no more calls for it. If there is no delegate, the connection is closed.
    open func captureStreams() { channel?.change(.capture) }

    /// Closes the sending side after all earlier writes. The peer can still send.
    open func closeWrite() { channel?.closeWrite() }

    /// Closes the receiving side after all earlier reads. Later reads report the end. Bytes that arrive are not read.
    open func closeRead() { channel?.closeRead() }

    /// Starts a TLS handshake after all earlier operations. The task's host name is sent to the server and
    /// authenticated. The delegate receives challenges as for https. If the handshake fails, or does not complete
    /// within the session's request timeout, the task fails.
    ///
    /// Bytes that arrived before the handshake, and that the program has not read, are passed to TLS. The program
    /// therefore cannot mistake unencrypted bytes from an attacker for bytes that TLS protects.
    open func startSecureConnection() { channel?.change(.secure) }

    /// Has no effect: the connection stays encrypted.
    @available(*, deprecated, message: "TLS cannot be ended on a connection that goes on.")
    open func stopSecureConnection() {}
}

extension URLSessionTask {
    /// Calls the completion handler of an operation that the task cannot perform, because the task was created without
    /// a session. The handler receives the task's error, or `URLError.unsupportedURL` if the task has no error.
    func callUnsupported(_ handler: @escaping @Sendable (any Error) -> Void) {
        let known = error ?? LoadFailure(.unsupportedURL).urlError(for: originalRequest?.url)
        guard let core else { return handler(known) }
        core.calls.add { handler(known) }
    }
}
