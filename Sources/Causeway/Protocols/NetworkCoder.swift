public import FoundationEssentials

/// A type that encodes values as bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkEncoder {
    /// Encodes a value.
    ///
    /// - Returns: One message's bytes.
    /// - Throws: The encoder's error if it cannot encode the value.
    func encode<T>(_ value: T) throws -> Data where T: Encodable
}

/// A type that decodes values from bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkDecoder {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value type.
    ///   - data: One message's bytes.
    /// - Throws: The decoder's error if the bytes are not a valid encoding of the type.
    func decode<T>(_ type: T.Type, from data: Data) throws -> T where T: Decodable
}

extension JSONEncoder: NetworkEncoder {}
extension JSONDecoder: NetworkDecoder {}
extension PropertyListEncoder: NetworkEncoder {}
extension PropertyListDecoder: NetworkDecoder {}

/// A factory for the encoders and decoders of a ``Coder``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkCoder: Sendable {
    /// The encoder type.
    associatedtype Encoder: NetworkEncoder
    /// The decoder type.
    associatedtype Decoder: NetworkDecoder

    /// Creates a factory with default settings.
    init()
    /// Creates an encoder.
    func makeEncoder() -> Self.Encoder
    /// Creates a decoder.
    func makeDecoder() -> Self.Decoder
}

extension NetworkCoder where Self == NetworkJSONCoder {
    /// A coder that uses JSON (RFC 8259).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public static var json: NetworkJSONCoder { NetworkJSONCoder() }
}

extension NetworkCoder where Self == NetworkPropertyListCoder {
    /// A coder that uses property lists.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public static var propertyList: NetworkPropertyListCoder { NetworkPropertyListCoder() }
}

/// A coder that encodes and decodes values as JSON (RFC 8259).
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkJSONCoder: NetworkCoder {
    /// The decoder type: Foundation's `JSONDecoder`.
    public typealias Decoder = JSONDecoder
    /// The encoder type: Foundation's `JSONEncoder`.
    public typealias Encoder = JSONEncoder

    /// Creates a coder.
    public init() {}

    /// Creates an encoder with default settings.
    public func makeEncoder() -> JSONEncoder { JSONEncoder() }
    /// Creates a decoder with default settings.
    public func makeDecoder() -> JSONDecoder { JSONDecoder() }
}

/// A coder that encodes and decodes values as property lists.
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkPropertyListCoder: NetworkCoder {
    /// The decoder type: Foundation's `PropertyListDecoder`.
    public typealias Decoder = PropertyListDecoder
    /// The encoder type: Foundation's `PropertyListEncoder`.
    public typealias Encoder = PropertyListEncoder

    /// Creates a coder.
    public init() {}

    /// Creates an encoder with default settings.
    public func makeEncoder() -> PropertyListEncoder { PropertyListEncoder() }
    /// Creates a decoder with default settings.
    public func makeDecoder() -> PropertyListDecoder { PropertyListDecoder() }
}
