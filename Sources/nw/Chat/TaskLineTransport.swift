import Causeway
import CausewayLines
import CausewaySystem
import CausewayURLLoading
import Foundation

/// Transports lines over a `URLSession` stream task, which can connect to a peer but not listen.
///
/// Cancellation: has no effect on a waiting call, because a stream task cannot cancel a single read or write.
/// ``close()`` ends the waiting calls.
final class TaskLineTransport: NSObject, LineTransport, URLSessionStreamDelegate {
    /// How the server is authenticated.
    struct Security: Sendable {
        var anchors: [SecCertificate]?
        var skipsVerification = false
        var credential: URLCredential?
    }

    let peer: String
    private let security: Security?
    private let decoder = LockedValue(LineDecoder())
    /// Whether the peer has ended its sending direction.
    private let hasEnded = LockedValue(false)
    /// Whether the sending direction has ended, and the continuation of the call that waits for its end.
    private let sending = LockedValue<(hasEnded: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))
    private let held = LockedValue<URLSessionStreamTask?>(nil)

    /// Creates a transport. ``open()`` connects it.
    init(to host: String, port: NWEndpoint.Port, _ security: Security?) {
        peer = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port).label
        self.security = security
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        // Set no time limit for the task: a chat may stay open for any length of time.
        configuration.timeoutIntervalForResource = .greatestFiniteMagnitude
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.streamTask(withHostName: host, port: Int(port.rawValue))
        held.withLock { $0 = task }
        session.finishTasksAndInvalidate()
    }

    private var task: URLSessionStreamTask? { held.withLock { $0 } }

    func open() async throws {
        guard let task else { return }
        task.resume()
        if security != nil { task.startSecureConnection() }
        // Wait until the connection is established. The empty write completes only then.
        try await unwrapping { try await task.write(Data(), timeout: 0) }
    }

    func send(_ line: Data) async throws {
        guard line.count <= LineFormat.limit else { throw LineProblem.tooLong }
        try await unwrapping { try await self.task?.write(line + LineFormat.end, timeout: 0) }
    }

    func sendEnd() async throws {
        task?.closeWrite()
        await withCheckedContinuation { continuation in
            let hasEnded = sending.withLock { sending in
                if !sending.hasEnded { sending.waiter = continuation }
                return sending.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    func next() async throws -> Data? {
        while true {
            if let line = try decoder.withLock({ decoder in try decoder.next() }) { return line }
            guard let task, !hasEnded.withLock({ $0 }) else {
                try decoder.withLock { decoder in try decoder.finish() }
                return nil
            }
            let (data, isAtEnd) = try await unwrapping {
                try await task.readData(ofMinLength: 1, maxLength: 16_384, timeout: 0)
            }
            if let data { decoder.withLock { decoder in decoder.append(data) } }
            if isAtEnd { hasEnded.withLock { $0 = true } }
        }
    }

    /// Closes the connection gracefully if the peer has ended its side. Otherwise aborts the connection.
    func close() {
        if hasEnded.withLock({ $0 }) { task?.closeWrite() } else { task?.cancel() }
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) { endSending() }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        endSending()
    }

    private func endSending() {
        let waiter = sending.withLock { sending in
            sending.hasEnded = true
            return sending.waiter.take()
        }
        waiter?.resume()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return security?.credential.map { (.useCredential, $0) } ?? (.performDefaultHandling, nil)
        }
        if security?.skipsVerification == true { return (.useCredential, URLCredential(trust: trust)) }
        if let anchors = security?.anchors { SecTrustSetAnchorCertificates(trust, anchors as CFArray) }
        return (.performDefaultHandling, nil)
    }

    /// Runs an operation. If it fails with a `URLError` that contains a network error, throws only the network error.
    private func unwrapping<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as URLError {
            throw error.userInfo[NSUnderlyingErrorKey] as? NWError ?? error
        }
    }
}
