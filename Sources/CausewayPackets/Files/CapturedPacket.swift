/// When a packet was captured.
///
/// The fraction is kept as the file gives it, so that nothing is lost and nonsense stays visible.
public struct CaptureTime: Hashable, Sendable {
    /// Seconds since 1970, UTC.
    public var seconds: Int64
    /// Microseconds or nanoseconds, as ``isNanoseconds`` says. May exceed a second in damaged files.
    public var fraction: UInt32
    public var isNanoseconds: Bool

    public init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.fraction = nanoseconds
        self.isNanoseconds = true
    }

    public init(seconds: Int64, microseconds: UInt32) {
        self.seconds = seconds
        self.fraction = microseconds
        self.isNanoseconds = false
    }

    /// Nanoseconds within the second.
    public var nanoseconds: UInt64 { isNanoseconds ? UInt64(fraction) : UInt64(fraction) * 1000 }
    /// Microseconds within the second.
    public var microseconds: UInt64 { isNanoseconds ? UInt64(fraction) / 1000 : UInt64(fraction) }
}

/// What is known of a captured packet besides its bytes.
public struct CapturedPacket: Hashable, Sendable {
    public var time: CaptureTime
    /// Bytes on the wire.
    public var originalCount: Int
    public var linkType: LinkType
    /// The interface, by its number in the file's section.
    public var interface = 0
    /// Bytes captured.
    public var capturedCount: Int

    public init(time: CaptureTime, originalCount: Int, capturedCount: Int, linkType: LinkType) {
        self.time = time
        self.originalCount = originalCount
        self.capturedCount = capturedCount
        self.linkType = linkType
    }
}

/// Why a capture file could not be read on.
public enum CaptureFileError: Error, Hashable, Sendable {
    /// The first bytes are those of no capture file.
    case notACapture
    /// The file is compressed, by the program that is named.
    case compressed(String)
    /// The file says something that cannot be. `offset` is in bytes from its beginning.
    case malformed(String, offset: Int)
    /// The file ends within a packet. What came before is whole.
    case truncated(offset: Int)
}

extension CaptureFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notACapture: "not a capture file: neither pcap nor pcapng"
        case .compressed(let program): "compressed with \(program): decompress it first"
        case .malformed(let what, let offset): "damaged capture file: \(what), at byte \(offset)"
        case .truncated(let offset): "the capture file ends within a packet, at byte \(offset)"
        }
    }
}
