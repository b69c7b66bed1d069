public import FoundationEssentials

/// The reason why data from a peer is not a valid line of text.
public enum LineProblem: Error, Hashable, Sendable {
    /// The peer sent more than ``LineFormat/limit`` bytes without a line end.
    case tooLong
    /// The peer ended the stream within a line.
    case unfinished
}

/// The format of lines on the wire: they end in CR LF. A lone LF ends a line as well, because tools such as netcat send it.
public enum LineFormat {
    /// The maximum length of a line in bytes, without the line end.
    public static let limit = 1_024
    /// The line end that is sent.
    public static let end = Data("\r\n".utf8)
    /// The maximum number of bytes to search for a line end. If these bytes contain none, the line is too long.
    package static let window = limit + 2

    /// Finds the first line in `bytes`. Returns its length without and with the line end; `nil` if the line is incomplete.
    package static func first(in bytes: some RandomAccessCollection<UInt8>) throws(LineProblem) -> (
        count: Int, whole: Int
    )? {
        guard let end = bytes.prefix(window).firstIndex(of: UInt8(ascii: "\n")) else {
            if bytes.count >= window { throw .tooLong }
            return nil
        }
        let content = bytes[..<end]
        let count = content.last == UInt8(ascii: "\r") ? content.count - 1 : content.count
        guard count <= limit else { throw .tooLong }
        return (count, content.count + 1)
    }
}

/// Decodes lines from a stream. Memory use is limited to one incomplete line and the bytes of the latest append.
///
/// ```swift
/// var decoder = LineDecoder()
/// decoder.append(received)
/// while let line = try decoder.next() { print(String(decoding: line, as: UTF8.self)) }
/// ```
public struct LineDecoder: Sendable {
    private var bytes: [UInt8] = []
    private var offset = 0

    /// Creates a decoder without data.
    public init() {}

    /// Appends received bytes. Before each append, call ``next()`` until it returns `nil`; this limits the memory in use.
    public mutating func append(_ more: Data) {
        bytes.removeFirst(offset)
        offset = 0
        bytes.append(contentsOf: more)
    }

    /// Returns the next line without its line end, or `nil` if more bytes are needed.
    ///
    /// - Throws: ``LineProblem/tooLong``. After this error no more lines can be decoded.
    public mutating func next() throws(LineProblem) -> Data? {
        let rest = bytes[offset...]
        guard let (count, whole) = try LineFormat.first(in: rest) else { return nil }
        offset += whole
        return Data(rest.prefix(count))
    }

    /// Checks that the stream has not ended within a line.
    ///
    /// - Throws: ``LineProblem/unfinished``.
    public func finish() throws(LineProblem) {
        if offset < bytes.count { throw .unfinished }
    }
}
