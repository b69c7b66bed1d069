/// The reason why an opening handshake request or response is rejected.
package enum UpgradeError: Error, Equatable, Sendable {
    /// The message is not HTTP/1.1, or a field is malformed. The text names the invalid part.
    case malformed(String)
    /// The head is longer than ``HeadReader/Limits/upgrade`` permits or has too many fields.
    case tooLong
    /// The WebSocket version is not 13 (RFC 6455 §4.4).
    case unsupportedVersion
    /// The server answered with this status instead of 101.
    case refused(status: Int)
    /// The peer does not support an extension that the program requires.
    case missingExtension
    /// The program's value cannot be written into a request or response head. The text names the value.
    case unwritable(String)

    /// Creates the error for a head that is not valid HTTP.
    package init(_ error: HTTPSyntaxError) {
        switch error {
        case .invalid(let element, _): self = .malformed(element)
        case .limitExceeded: self = .tooLong
        case .unwritable(let value): self = .unwritable(value)
        }
    }
}

extension UpgradeError {
    /// The reason in words, without a period.
    package var explanation: String {
        switch self {
        case .malformed(let part): "invalid \(part)"
        case .tooLong: "the head is too long"
        case .unsupportedVersion: "the WebSocket version is not 13"
        case .refused(let status): "the server answered with status \(status) instead of 101"
        case .missingExtension: "the server does not support a required extension"
        case .unwritable(let value): "invalid \(value)"
        }
    }
}

extension HeadReader.Limits {
    /// The limits for an opening handshake head: 16 KiB and 128 fields.
    package static var upgrade: HeadReader.Limits {
        var limits = HeadReader.Limits()
        limits.byteCount = 16 << 10
        limits.fieldCount = 128
        return limits
    }
}

extension HeadReader {
    /// Reads a whole opening handshake head.
    static func whole(_ bytes: [UInt8], _ kind: Kind) throws(UpgradeError) -> HeadReader {
        var reader = HeadReader(kind, limits: .upgrade)
        let count: Int
        do {
            count = try reader.take(bytes[...])
        } catch {
            throw UpgradeError(error)
        }
        guard reader.isComplete, count == bytes.count else { throw .malformed("end of the head") }
        return reader
    }
}
