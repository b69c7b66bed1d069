package import FoundationEssentials

/// An element of a protocol stack, such as ``TCP`` or ``TLS``. Connections with a program-defined element type fail with
/// `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkProtocolOptions: SendableMetatype {
    /// The type of the stack element below this element.
    associatedtype BelowProtocol
    /// Per-connection state for the element.
    associatedtype ProtocolStorage: ConnectionStorage = DefaultProtocolStorage
    /// Metadata for received content.
    associatedtype Metadata: NetworkMetadataProtocol
    /// Content with its metadata.
    typealias Message<T> = (content: T, metadata: Self.Metadata)
}

/// Metadata for received content.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkMetadataProtocol: SendableMetatype {}

/// Per-connection state for one stack element.
///
/// Counterpart: macOS 26, iOS 26.
public protocol ConnectionStorage {
    /// Creates empty storage.
    init()
}

/// Empty storage, for elements without state.
///
/// Counterpart: macOS 26, iOS 26.
public struct DefaultProtocolStorage: ConnectionStorage, Sendable {
    /// Creates empty storage.
    public init() {}
}

/// An element that can be the topmost protocol of a connection with one stream or one flow of messages.
///
/// Counterpart: macOS 26, iOS 26.
public protocol OneToOneProtocol: NetworkProtocolOptions {}

/// An element that can be the topmost protocol of a connection with several streams, such as a QUIC tunnel.
///
/// Counterpart: macOS 26, iOS 26.
public protocol MultiplexProtocol: NetworkProtocolOptions {}

/// An element that carries a stream of bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol StreamProtocol: OneToOneProtocol {}

/// An element that carries complete messages.
///
/// Counterpart: macOS 26, iOS 26.
public protocol MessageProtocol: OneToOneProtocol {
    /// A message as a tuple of content and metadata.
    associatedtype LegacyMessage
    /// The content type of a message.
    associatedtype ContentType
}

/// An element whose messages are limited in size.
///
/// Counterpart: macOS 26, iOS 26.
public protocol DatagramProtocol: MessageProtocol {}

/// An integer that is sent in network byte order.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkFixedWidthInteger: FixedWidthInteger {
    /// Creates an integer from its big-endian representation.
    init(bigEndian: Self)
    /// The big-endian representation.
    var bigEndian: Self { get }
}

extension UInt8: NetworkFixedWidthInteger {}
extension UInt16: NetworkFixedWidthInteger {}
extension UInt32: NetworkFixedWidthInteger {}
extension UInt64: NetworkFixedWidthInteger {}
extension Int8: NetworkFixedWidthInteger {}
extension Int16: NetworkFixedWidthInteger {}
extension Int32: NetworkFixedWidthInteger {}
extension Int64: NetworkFixedWidthInteger {}

extension NetworkFixedWidthInteger {
    /// The bytes in network byte order.
    package var networkData: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }

    /// Creates an integer from bytes in network byte order; `nil` if their count differs from the integer's size.
    package init?(networkData: Data) {
        guard networkData.count == MemoryLayout<Self>.size else { return nil }
        self = networkData.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

/// An operator without an implementation, declared because Apple's module declares it.
prefix operator >>
