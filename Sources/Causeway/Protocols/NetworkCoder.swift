public import FoundationEssentials

/// Encodes values to bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkEncoder {
    /// Encodes a value.
    func encode<T>(_ value: T) throws -> Data where T: Encodable
}

/// Decodes values from bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkDecoder {
    /// Decodes a value.
    func decode<T>(_ type: T.Type, from data: Data) throws -> T where T: Decodable
}

extension JSONEncoder: NetworkEncoder {}
extension JSONDecoder: NetworkDecoder {}
extension PropertyListEncoder: NetworkEncoder {}
extension PropertyListDecoder: NetworkDecoder {}

/// Creates the encoders and decoders of a ``Coder``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkCoder: Sendable {
    /// The type that encodes values.
    associatedtype Encoder: NetworkEncoder
    /// The type that decodes values.
    associatedtype Decoder: NetworkDecoder

    /// Creates a coder.
    init()
    /// Creates an encoder.
    func makeEncoder() -> Self.Encoder
    /// Creates a decoder.
    func makeDecoder() -> Self.Decoder
}

extension NetworkCoder where Self == NetworkJSONCoder {
    /// A coder for JSON (RFC 8259).
    public static var json: NetworkJSONCoder { NetworkJSONCoder() }
}

extension NetworkCoder where Self == NetworkPropertyListCoder {
    /// A coder for property lists.
    public static var propertyList: NetworkPropertyListCoder { NetworkPropertyListCoder() }
}

/// Encodes and decodes values as JSON (RFC 8259).
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkJSONCoder: NetworkCoder {
    public typealias Decoder = JSONDecoder
    public typealias Encoder = JSONEncoder

    public init() {}

    public func makeEncoder() -> JSONEncoder { JSONEncoder() }
    public func makeDecoder() -> JSONDecoder { JSONDecoder() }
}

/// Encodes and decodes values as property lists.
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkPropertyListCoder: NetworkCoder {
    public typealias Decoder = PropertyListDecoder
    public typealias Encoder = PropertyListEncoder

    public init() {}

    public func makeEncoder() -> PropertyListEncoder { PropertyListEncoder() }
    public func makeDecoder() -> PropertyListDecoder { PropertyListDecoder() }
}
