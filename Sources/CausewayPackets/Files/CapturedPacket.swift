/// A packet's capture time.
///
/// ``fraction`` has the value that the file states. It is not rounded, and it may be invalid.
public struct CaptureTime: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var seconds: Int64
    /// Microseconds or nanoseconds, see ``isNanoseconds``. May exceed a second in damaged files.
    public var fraction: UInt32
    /// Whether ``fraction`` counts nanoseconds instead of microseconds.
    public var isNanoseconds: Bool

    /// Creates a time with a fraction in nanoseconds.
    public init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.fraction = nanoseconds
        self.isNanoseconds = true
    }

    /// Creates a time with a fraction in microseconds.
    public init(seconds: Int64, microseconds: UInt32) {
        self.seconds = seconds
        self.fraction = microseconds
        self.isNanoseconds = false
    }

    /// The fraction in nanoseconds.
    public var nanoseconds: UInt64 { isNanoseconds ? UInt64(fraction) : UInt64(fraction) * 1000 }
    /// The fraction in microseconds.
    public var microseconds: UInt64 { isNanoseconds ? UInt64(fraction) / 1000 : UInt64(fraction) }
}

/// A captured packet's metadata.
public struct CapturedPacket: Hashable, Sendable {
    /// The capture time.
    public var time: CaptureTime
    /// The length on the wire in bytes.
    public var originalCount: Int
    /// The packet's link-layer type.
    public var linkType: LinkType
    /// The number of the interface that captured the packet, counted from 0 within the packet's section of a pcapng
    /// file.
    public var interface = 0
    /// The number of captured bytes.
    public var capturedCount: Int

    /// Creates the metadata for a packet from the first interface.
    public init(time: CaptureTime, originalCount: Int, capturedCount: Int, linkType: LinkType) {
        self.time = time
        self.originalCount = originalCount
        self.capturedCount = capturedCount
        self.linkType = linkType
    }
}

/// The reason why a capture file cannot be read to its end.
public enum CaptureFileError: Error, Hashable, Sendable {
    /// The file does not begin like a capture file.
    case notACapture
    /// The file is compressed. The value is the name of the compression program.
    case compressed(String)
    /// The file contains an invalid value. `offset` is in bytes from the beginning of the file.
    case malformed(String, offset: Int)
    /// The file ends within a packet. All packets before it are complete.
    case truncated(offset: Int)
}

extension CaptureFileError: CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String {
        switch self {
        case .notACapture: "not a capture file: neither pcap nor pcapng"
        case .compressed(let program): "compressed with \(program): decompress it first"
        case .malformed(let what, let offset): "damaged capture file: \(what), at byte \(offset)"
        case .truncated(let offset): "the capture file ends within a packet, at byte \(offset)"
        }
    }
}
