package import FoundationEssentials

/// An element of a protocol stack, such as ``TCP`` or ``TLS``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkProtocolOptions: SendableMetatype {
    /// What the element stands on.
    associatedtype BelowProtocol
    /// What a connection keeps for the element.
    associatedtype ProtocolStorage: ConnectionStorage = DefaultProtocolStorage
    /// What is told of received content.
    associatedtype Metadata: NetworkMetadataProtocol
    /// Content and what is told of it.
    typealias Message<T> = (content: T, metadata: Self.Metadata)
}

/// What is told of received content.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkMetadataProtocol: SendableMetatype {}

/// What a connection keeps for one element of its stack.
///
/// Counterpart: macOS 26, iOS 26.
public protocol ConnectionStorage {
    /// Makes empty storage.
    init()
}

/// The storage of elements that need none.
///
/// Counterpart: macOS 26, iOS 26.
public struct DefaultProtocolStorage: ConnectionStorage, Sendable {
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

/// An element that carries whole messages.
///
/// Counterpart: macOS 26, iOS 26.
public protocol MessageProtocol: OneToOneProtocol {
    /// A message as a tuple.
    associatedtype LegacyMessage
    /// What a message holds.
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
    /// Takes an integer as it comes from the network.
    init(bigEndian: Self)
    /// The integer as it goes to the network.
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
    /// Bytes in network order.
    package var networkData: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }

    /// Reads bytes in network order; `nil` unless there are as many as the integer has.
    package init?(networkData: Data) {
        guard networkData.count == MemoryLayout<Self>.size else { return nil }
        self = networkData.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

/// Declared by Apple's module, without any function behind it.
prefix operator >>
