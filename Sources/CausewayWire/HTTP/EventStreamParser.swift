/// Parses a server-sent event stream (WHATWG HTML §9.2.5, §9.2.6) from input split at any byte.
///
/// The maximum event size bounds the parser's memory use. Invalid UTF-8 is replaced. An incomplete event at the end of
/// the stream is dropped.
package struct EventStreamParser: Sendable {
    package struct Event: Equatable, Sendable {
        /// The latest event identifier in the stream, set by this event or an earlier event; empty if there is none.
        package var id: String
        /// The type; `message` if the stream names none.
        package var type: String
        /// The data lines, joined with line feeds.
        package var data: String

        package init(id: String, type: String, data: String) {
            self.id = id
            self.type = type
            self.data = data
        }
    }

    /// The reason why the parser cannot parse the rest of the stream.
    package enum Failure: Error, Equatable {
        /// An event exceeds the size limit.
        case tooLong
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The identifier to send as `Last-Event-ID` with the next request. It comes from the latest complete event. Empty
    /// if there is no identifier.
    package private(set) var lastEventID: String
    /// The latest reconnection time that the event stream has set, in milliseconds. `nil` if it has set none.
    package private(set) var reconnectionTime: Int?

    private let limit: Int
    private var line: [UInt8] = []
    /// Whether the previous byte was CR. A following LF belongs to the same line end.
    private var endsWithReturn = false
    /// Whether the parser is still in the first line. Only this line can begin with a byte order mark.
    private var isFirstLine = true
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var id: String

    /// - Parameters:
    ///   - lastEventID: The latest event identifier from an earlier connection.
    ///   - limit: The maximum event size in bytes.
    package init(lastEventID: String = "", limit: Int = 1 << 20) {
        self.lastEventID = lastEventID
        id = lastEventID
        self.limit = limit
    }

    /// Parses the next bytes, and appends the events that they complete.
    ///
    /// - Throws: ``Failure/tooLong``. Events before the event that is too long have been appended.
    package mutating func parse(_ bytes: some Sequence<UInt8>, into events: inout [Event]) throws(Failure) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"):
                if !endsWithReturn { endLine(&events) }
                endsWithReturn = false
            case UInt8(ascii: "\r"):
                endLine(&events)
                endsWithReturn = true
            default:
                guard line.count + data.count + type.count < limit else { throw .tooLong }
                line.append(byte)
                endsWithReturn = false
            }
        }
    }

    private mutating func endLine(_ events: inout [Event]) {
        if isFirstLine, line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        isFirstLine = false
        if line.isEmpty { dispatch(&events) } else { interpret() }
        line.removeAll(keepingCapacity: true)
    }

    private mutating func interpret() {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // A line that begins with a colon is a comment. The text before its colon is empty, so it matches no case.
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": type = Array(value)
        case "data": data += value + [UInt8(ascii: "\n")]
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": setReconnectionTime(value)
        default: break
        }
    }

    private mutating func setReconnectionTime(_ digits: ArraySlice<UInt8>) {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return
        }
        // A number that does not fit into `Int` becomes `Int.max`.
        reconnectionTime = Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    private mutating func dispatch(_ events: inout [Event]) {
        lastEventID = id
        defer { (type, data) = ([], []) }
        guard !data.isEmpty else { return }
        let name = type.isEmpty ? "message" : String(decoding: type, as: UTF8.self)
        events.append(Event(id: lastEventID, type: name, data: String(decoding: data.dropLast(), as: UTF8.self)))
    }
}
