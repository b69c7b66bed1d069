import Causeway
import FoundationEssentials
import Synchronization

/// Sends messages to an echo server, one at a time, and collects the round-trip times.
struct RoundTrips {
    private let connection: NWConnection
    private let isDatagram: Bool
    private let limit: Duration
    private let inbox = AnswerInbox()
    private var times: [Duration] = []
    private(set) var lost = 0

    init(connection: NWConnection, isDatagram: Bool, limit: Duration) {
        self.connection = connection
        self.isDatagram = isDatagram
        self.limit = limit
        if isDatagram { inbox.fill(from: connection) }
    }

    /// Makes one round trip and returns its time; `nil` if no reply to a datagram arrived.
    ///
    /// - Throws: ``CommandFailure`` if the reply differs from the message, or the connection ends.
    mutating func make(number: Int, byteCount: Int) async throws -> Duration? {
        let content = Self.content(number: number, byteCount: byteCount)
        let start = ContinuousClock.now
        let answer = try await exchange(content)
        let time = ContinuousClock.now - start
        guard let answer else {
            lost += 1
            return nil
        }
        guard answer == content else { throw CommandFailure("reply \(number) differs from the sent data") }
        times.append(time)
        return time
    }

    /// A round trip as a JSON object.
    struct Trip: Encodable {
        var number: Int
        var bytes: Int
        var peer: String
        /// The round-trip time; `nil` if no reply arrived.
        var milliseconds: Double?
    }

    /// The statistics as a JSON object. Times are milliseconds.
    struct Figures: Encodable {
        var roundTrips: Int
        var lost: Int
        var minimum: Double?
        var median: Double?
        var mean: Double?
        var maximum: Double?
    }

    var figures: Figures {
        let sorted = times.sorted().map { $0.inSeconds * 1_000 }
        return Figures(
            roundTrips: sorted.count, lost: lost, minimum: sorted.first,
            median: sorted.isEmpty ? nil : sorted[sorted.count / 2],
            mean: sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count), maximum: sorted.last)
    }

    /// The statistics as text: `5 round trips, 0 lost: minimum 0.021 ms, median 0.024 ms, mean 0.030 ms, maximum 0.061 ms`.
    var summary: String {
        let sorted = times.sorted()
        let counts = "\(times.count) round trips, \(lost) lost"
        guard let minimum = sorted.first, let maximum = sorted.last else { return counts }
        let mean = sorted.reduce(.zero, +) / sorted.count
        let figures = [
            ("minimum", minimum), ("median", sorted[sorted.count / 2]), ("mean", mean), ("maximum", maximum),
        ]
        return "\(counts): " + figures.map { "\($0) \(Amounts.milliseconds($1))" }.joined(separator: ", ")
    }

    private func exchange(_ content: Data) async throws -> Data? {
        do {
            return try await isDatagram ? exchangeDatagram(content) : exchangeBytes(content)
        } catch is TimedOut {
            throw CommandFailure("no reply from \(connection.endpoint.label) in time")
        } catch let error as NWError {
            throw CommandFailure("connection to \(connection.endpoint.label) failed", error)
        }
    }

    private func exchangeBytes(_ content: Data) async throws -> Data {
        try await withDeadline(limit, onExpiry: { [connection] in connection.cancel() }) { [connection] in
            // Send and receive at the same time. Otherwise, a message that is larger than the buffers of both sides
            // would cause a deadlock.
            async let sending: Void = connection.send(content)
            var answer = Data()
            while answer.count < content.count {
                guard let more = try await connection.receive(atMost: content.count - answer.count) else {
                    throw CommandFailure("the server ended the connection")
                }
                answer.append(more)
            }
            try await sending
            return answer
        }
    }

    private func exchangeDatagram(_ content: Data) async throws -> Data? {
        let answer = OneShot<Data?>()
        inbox.expect(content.prefix(8), answer)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [limit] in
                try await Task.sleep(for: limit)
                answer.resume(with: .success(nil))
            }
            return try await withCheckedThrowingContinuation { continuation in
                answer.wait(continuation)
                connection.send(
                    content: content,
                    completion: .contentProcessed { error in
                        if let error { answer.resume(with: .failure(error)) }
                    })
            }
        }
    }

    /// Returns content that differs for every message number, and at every position in the message.
    private static func content(number: Int, byteCount: Int) -> Data {
        var data = Data(capacity: byteCount)
        var word = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
        while data.count < byteCount {
            withUnsafeBytes(of: word.bigEndian) { data.append(contentsOf: $0.prefix(byteCount - data.count)) }
            word = (word ^ (word >> 29)) &* 0xbf58_476d_1ce4_e5b9 &+ 1
        }
        return data
    }
}

/// Receives datagrams and returns the datagram that the caller waits for.
///
/// Late replies to earlier messages are ignored.
private final class AnswerInbox: Sendable {
    private struct Expectation {
        var prefix: Data
        var answer: OneShot<Data?>
    }

    private let expectation = Mutex<Expectation?>(nil)

    func expect(_ prefix: Data, _ answer: OneShot<Data?>) {
        expectation.withLock { $0 = Expectation(prefix: prefix, answer: answer) }
    }

    /// Receives until the connection ends.
    func fill(from connection: NWConnection) {
        connection.receiveMessage { [self] content, _, _, error in
            deliver(content ?? Data(), error)
            if error == nil { fill(from: connection) }
        }
    }

    private func deliver(_ content: Data, _ error: NWError?) {
        let answer = expectation.withLock { expectation -> OneShot<Data?>? in
            guard let waiting = expectation, error != nil || content.starts(with: waiting.prefix) else { return nil }
            expectation = nil
            return waiting.answer
        }
        answer?.resume(with: error.map { .failure($0) } ?? .success(content))
    }
}
