package import FoundationEssentials

/// An element of a protocol stack, such as ``TCP`` or ``TLS``. A connection whose stack has an element type that the program defines fails
/// with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkProtocolOptions: SendableMetatype {
    /// The type of the element below.
    associatedtype BelowProtocol
    /// The state that a connection keeps for the element.
    associatedtype ProtocolStorage: ConnectionStorage = DefaultProtocolStorage
    /// The metadata of received content.
    associatedtype Metadata: NetworkMetadataProtocol
    /// Content with its metadata.
    typealias Message<T> = (content: T, metadata: Self.Metadata)
}

/// The metadata of received content.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkMetadataProtocol: SendableMetatype {}

/// The state that a connection keeps for one element of its stack.
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

/// An element that can be the top of a connection with one flow.
///
/// Counterpart: macOS 26, iOS 26.
public protocol OneToOneProtocol: NetworkProtocolOptions {}

/// An element that can be the top of a connection with many flows.
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
    /// The type of the content of a message.
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
    /// Creates an integer from its representation in network byte order.
    init(bigEndian: Self)
    /// The representation of the integer in network byte order.
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

    /// Creates an integer from bytes in network byte order; `nil` if the number of bytes differs from the size of the integer.
    package init?(networkData: Data) {
        guard networkData.count == MemoryLayout<Self>.size else { return nil }
        self = networkData.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

/// An operator that no function implements. The operator is declared only because Apple's module declares it.
prefix operator >>
