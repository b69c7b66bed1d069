/// A look at a message without taking it apart: what it is, and whether it names anything of interest.
///
/// Who is sent thousands of messages a second that concern nobody here is spared the reading of them.
package struct DNSMessageGlance: Equatable, Sendable {
    /// Records that are looked at. A message with more is read in whole, for looking costs as much.
    package static let recordLimit = 64

    package var flags: DNSMessage.Flags
    package var hasQuestions: Bool
    /// Whether one of its questions, or, in an answer, one of its records has a name of interest.
    package var isOfInterest: Bool

    /// - Parameter isWanted: Whether a name is of interest.
    /// - Returns: `nil` for what is no message, and for operations and codes that mean nothing on a link (RFC 6762 §18.3, §18.11).
    package init?(_ message: Span<UInt8>, isWanted: (DNSName) -> Bool) {
        // Bytes are initialized bytes without padding.
        try? self.init(reading: unsafe message.bytes, isWanted)
    }

    private init?(reading message: RawSpan, _ isWanted: (DNSName) -> Bool) throws(WireError) {
        var reader = ByteReader(message)
        try reader.skip(2)
        let bits: UInt16 = try reader.readInteger()
        guard bits & 0x780F == 0 else { return nil }
        flags = DNSMessage.Flags(rawValue: bits).intersection(.all)
        let questionCount = Int(try reader.readInteger(as: UInt16.self))
        var recordCount = 0
        for _ in 0..<3 { recordCount += Int(try reader.readInteger(as: UInt16.self)) }
        hasQuestions = questionCount > 0
        let isAnswer = flags.contains(.isResponse)
        if questionCount + (isAnswer ? recordCount : 0) > Self.recordLimit {
            // A question takes five bytes at least, a record eleven: counts that the message cannot hold are lies.
            isOfInterest = reader.remaining >= 5 * questionCount + 11 * recordCount
        } else if isAnswer {
            isOfInterest = try Self.names(in: &reader, of: message, questionCount, recordCount, isWanted)
        } else {
            isOfInterest = try Self.names(in: &reader, of: message, questionCount, isWanted)
        }
    }

    /// Whether one of the questions is wanted.
    private static func names(
        in reader: inout ByteReader, of message: RawSpan, _ count: Int, _ isWanted: (DNSName) -> Bool
    ) throws(WireError) -> Bool {
        for _ in 0..<count {
            if isWanted(try DNSName(parsing: &reader, in: message)) { return true }
            try reader.skip(4)
        }
        return false
    }

    /// Whether one of the records behind the questions is wanted.
    private static func names(
        in reader: inout ByteReader, of message: RawSpan, _ questionCount: Int, _ recordCount: Int,
        _ isWanted: (DNSName) -> Bool
    ) throws(WireError) -> Bool {
        _ = try names(in: &reader, of: message, questionCount) { _ in false }
        for _ in 0..<recordCount {
            if isWanted(try DNSName(parsing: &reader, in: message)) { return true }
            try reader.skip(8)
            try reader.skip(Int(try reader.readInteger(as: UInt16.self)))
        }
        return false
    }
}
