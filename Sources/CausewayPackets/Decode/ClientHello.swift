/// The decoded fields from a TLS ClientHello.
struct ClientHello: Equatable {
    /// The requested server name (RFC 6066 §3).
    private(set) var serverName: String?
    /// The offered application protocols, most preferred first (RFC 7301 §3.1).
    private(set) var protocols: [String] = []

    /// The numbers of the TLS extensions that are decoded.
    private enum Extension {
        static let serverName: UInt16 = 0
        static let applicationProtocols: UInt16 = 16
    }
    private static let handshakeRecord: UInt8 = 22
    private static let majorVersion: UInt8 = 3
    private static let clientHello: UInt8 = 1
    private static let recordHeader = 5
    private static let messageHeader = 4
    private static let versionAndRandom = 2 + 32
    /// Maximum number of offered application protocols to read. No real client offers more.
    private static let maximumProtocols = 32

    /// Parses a record that begins with a ClientHello (RFC 8446 §5.1, §4.1.2); `nil` if the record does not begin with a ClientHello.
    init?(_ record: borrowing ByteView) {
        guard let type = try? record.u8(0), let version = try? record.u8(1), type == Self.handshakeRecord,
            version == Self.majorVersion
        else { return nil }
        self.init(message: record.from(Self.recordHeader))
    }

    /// Parses a ClientHello message without a record, as QUIC carries it (RFC 9001 §4.1.3); `nil` if the message has
    /// another type.
    init?(message: borrowing ByteView) {
        guard let type = try? message.u8(0), type == Self.clientHello else { return nil }
        // If the message is truncated, keep the fields that were read so far.
        try? readExtensions(message)
    }

    private mutating func readExtensions(_ bytes: borrowing ByteView) throws(WireError) {
        var offset = Self.messageHeader + Self.versionAndRandom
        // Skip session identifier, cipher suites and compression methods.
        offset += 1 + Int(try bytes.u8(offset))
        offset += 2 + Int(try bytes.u16(offset))
        offset += 1 + Int(try bytes.u8(offset))
        let end = offset + 2 + Int(try bytes.u16(offset))
        offset += 2
        while offset + 4 <= end {
            let type = try bytes.u16(offset)
            let length = Int(try bytes.u16(offset + 2))
            offset += 4
            let content = bytes.clamped(offset, min(offset + length, end))
            switch type {
            case Extension.serverName: serverName = try Self.hostName(content)
            case Extension.applicationProtocols: try readProtocols(content)
            default: break
            }
            offset += length
        }
    }

    private static func hostName(_ content: borrowing ByteView) throws(WireError) -> String? {
        guard try content.u8(2) == 0 else { return nil }
        return try text(content, at: 5, Int(try content.u16(3)))
    }

    private mutating func readProtocols(_ content: borrowing ByteView) throws(WireError) {
        var offset = 2
        while offset < content.count, protocols.count < Self.maximumProtocols {
            let length = Int(try content.u8(offset))
            protocols.append(try Self.text(content, at: offset + 1, length))
            offset += 1 + length
        }
    }

    private static func text(_ bytes: borrowing ByteView, at offset: Int, _ length: Int) throws(WireError) -> String {
        try bytes.require(length, at: offset)
        return String(decoding: bytes.clamped(offset, offset + length).array, as: UTF8.self)
    }
}
