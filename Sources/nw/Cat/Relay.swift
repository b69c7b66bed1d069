import Causeway
import FoundationEssentials
import Synchronization

/// Copies standard input to a connection and the connection to standard output.
///
/// Each direction holds one chunk at a time and reads the next chunk only when this chunk is written. So a slow
/// terminal closes the peer's receive window, and a slow peer pauses reading from standard input.
struct Relay: Sendable {
    private enum End {
        case input
        case peer
        case idle
    }

    /// The maximum number of bytes per read. A UDP read receives one datagram.
    private static let streamChunk = 65_536
    private static let datagramChunk = 16_384
    /// The maximum DTLS datagram size in bytes. A datagram of this size is not fragmented on common paths.
    private static let secureDatagramChunk = 1_200

    let connection: NWConnection
    let options: CatOptions
    var input: any RelayInput = StandardInput.shared

    /// Copies in both directions. Returns at the first of these events:
    ///
    /// - Both directions have ended.
    /// - The idle limit has passed without traffic.
    /// - The input has ended, if the connection carries datagrams and the options close it after the input.
    /// - The peer's stream has ended, if standard input is a terminal.
    func run() async throws {
        let activity = RelayActivity()
        try await withThrowingTaskGroup(of: End.self) { group in
            if options.readsInput {
                group.addTask {
                    try await upload(activity)
                    return .input
                }
            }
            group.addTask {
                try await download(activity)
                return .peer
            }
            if let limit = options.limit {
                group.addTask {
                    try await activity.waitUntilIdle(for: limit)
                    return .idle
                }
            }
            defer {
                // Cancel the connection too: pending sends and receives of the child tasks return only when the
                // connection ends.
                connection.cancel()
                group.cancelAll()
            }
            var inputEnded = !options.readsInput
            var peerEnded = false
            while !(inputEnded && peerEnded), let end = try await group.next() {
                switch end {
                case .idle: return
                case .input:
                    inputEnded = true
                    if options.isDatagram, options.closesAfterInput { return }
                case .peer:
                    peerEnded = true
                    if StandardInput.shared.isTerminal { return }
                    input.peerEnded()
                }
            }
        }
    }

    private func upload(_ activity: RelayActivity) async throws {
        let datagramLimit = options.isSecure ? Self.secureDatagramChunk : Self.datagramChunk
        let limit = options.isDatagram ? datagramLimit : Self.streamChunk
        while let chunk = try await input.next(atMost: limit) {
            activity.note()
            do {
                if let ecn = options.ecn {
                    try await connection.send(chunk, marked: ecn)
                } else {
                    try await connection.send(chunk)
                }
            } catch {
                throw CommandFailure("send to \(connection.endpoint.label) failed", error)
            }
            activity.note()
        }
        guard options.closesAfterInput, !options.isDatagram else { return }
        do {
            try await connection.sendEnd()
        } catch {
            throw CommandFailure("send to \(connection.endpoint.label) failed", error)
        }
    }

    private func download(_ activity: RelayActivity) async throws {
        while let chunk = try await receive() {
            activity.note()
            if !chunk.isEmpty { try await StandardOutput.write(chunk) }
            activity.note()
        }
    }

    private func receive() async throws -> Data? {
        do {
            if options.isDatagram { return try await connection.nextDatagram() }
            return try await connection.receive(atMost: Self.streamChunk)
        } catch {
            throw CommandFailure("receive from \(connection.endpoint.label) failed", error)
        }
    }
}

/// The time of the latest traffic, in either direction.
final class RelayActivity: Sendable {
    private let latest = Mutex(ContinuousClock.now)

    func note() {
        latest.withLock { $0 = .now }
    }

    /// Returns when no traffic was recorded for `limit`.
    func waitUntilIdle(for limit: Duration) async throws {
        while true {
            let deadline = latest.withLock { $0 } + limit
            if deadline <= .now { return }
            try await Task.sleep(until: deadline, clock: .continuous)
        }
    }
}

extension NWConnection {
    /// Sends one datagram with its own ECN codepoint.
    fileprivate func send(_ datagram: Data, marked ecn: NWProtocolIP.ECN) async throws {
        let context = ContentContext(identifier: "marked", metadata: [NWProtocolIP.Metadata().ecn(ecn)])
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            send(
                content: datagram, contentContext: context,
                completion: .contentProcessed { error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                })
        }
    }

    /// Waits for one whole datagram, which may be empty. Returns `nil` after the peer has closed the connection, which is possible with
    /// DTLS.
    func nextDatagram() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            receiveMessage { content, context, _, error in
                if content == nil, context?.isFinal == true || error == .posix(.ENODATA) {
                    continuation.resume(returning: nil)
                } else if let error, content == nil {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: content ?? Data())
                }
            }
        }
    }
}
