/// A summary of a message: its flags, whether it has questions, and whether it contains a wanted name.
///
/// Creating a summary is cheaper than parsing the whole message. This saves CPU time on links with thousands of irrelevant messages per
/// second.
package struct DNSMessageSummary: Equatable, Sendable {
    /// The maximum number of questions and records to inspect. A message with more of them is parsed completely,
    /// because inspecting it would cost about as much as parsing it.
    package static let recordLimit = 64

    package var flags: DNSMessage.Flags
    package var hasQuestions: Bool
    /// Whether a question, or a record in a response, has a wanted name.
    package var isOfInterest: Bool

    /// Inspects `message`.
    ///
    /// - Parameter isWanted: Returns whether a name is wanted.
    /// - Returns: `nil` for a malformed message, and for opcodes and response codes that mDNS ignores (RFC 6762 §18.3, §18.11).
    package init?(_ message: Span<UInt8>, isWanted: (DNSName) -> Bool) {
        // Reading the elements as raw bytes is safe: a `UInt8` is one initialized byte without padding.
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
            // A question has at least 5 bytes and a record at least 11. If the message is too short for the counts in its header, it is
            // malformed.
            isOfInterest = reader.remaining >= 5 * questionCount + 11 * recordCount
        } else if isAnswer {
            isOfInterest = try Self.names(in: &reader, of: message, questionCount, recordCount, isWanted)
        } else {
            isOfInterest = try Self.names(in: &reader, of: message, questionCount, isWanted)
        }
    }

    /// Returns whether a question in the message has a name that `isWanted` accepts.
    private static func names(
        in reader: inout ByteReader, of message: RawSpan, _ count: Int, _ isWanted: (DNSName) -> Bool
    ) throws(WireError) -> Bool {
        for _ in 0..<count {
            if isWanted(try DNSName(parsing: &reader, in: message)) { return true }
            try reader.skip(4)
        }
        return false
    }

    /// Whether any record after the questions has a name that satisfies `isWanted`.
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
