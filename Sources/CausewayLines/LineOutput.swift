internal import FoundationEssentials

/// The bytes that a transport has to send: the rest of a line whose sending was cancelled, and the line after it.
///
/// A peer would join a part of a line with the next line. So the rest of a line whose sending has begun is kept when a
/// task is cancelled, and is sent before the next line.
struct LineOutput: Sendable {
    /// The bytes to send.
    private(set) var rest = Data()
    /// The number of bytes at the start of ``rest`` that belong to a line whose sending has begun.
    private var owed = 0

    /// Appends a line with its end. All earlier bytes belong to a line whose sending has begun.
    mutating func append(_ line: Data) {
        owed = rest.count
        rest.append(line)
    }

    /// Records that the first bytes of ``rest`` were sent.
    mutating func sent(_ count: Int) {
        rest = Data(rest.dropFirst(count))
        owed = count > owed ? rest.count : owed - count
    }

    /// Drops the line that was appended last, unless its sending has begun.
    mutating func cancel() { rest = Data(rest.prefix(owed)) }
}
