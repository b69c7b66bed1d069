public import FoundationEssentials

/// Something that turns values into bytes.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkEncoder {
    /// The bytes of a value.
    func encode<T>(_ value: T) throws -> Data where T: Encodable
}

/// Something that turns bytes into values.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkDecoder {
    /// The value of bytes.
    func decode<T>(_ type: T.Type, from data: Data) throws -> T where T: Decodable
}

extension JSONEncoder: NetworkEncoder {}
extension JSONDecoder: NetworkDecoder {}
extension PropertyListEncoder: NetworkEncoder {}
extension PropertyListDecoder: NetworkDecoder {}

/// What makes the encoders and decoders of a ``Coder``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NetworkCoder: Sendable {
    /// What turns values into bytes.
    associatedtype Encoder: NetworkEncoder
    /// What turns bytes into values.
    associatedtype Decoder: NetworkDecoder

    /// Makes a coder.
    init()
    /// Makes an encoder.
    func makeEncoder() -> Self.Encoder
    /// Makes a decoder.
    func makeDecoder() -> Self.Decoder
}

extension NetworkCoder where Self == NetworkJSONCoder {
    /// JSON (RFC 8259).
    public static var json: NetworkJSONCoder { NetworkJSONCoder() }
}

extension NetworkCoder where Self == NetworkPropertyListCoder {
    /// Property lists.
    public static var propertyList: NetworkPropertyListCoder { NetworkPropertyListCoder() }
}

/// Values as JSON (RFC 8259).
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkJSONCoder: NetworkCoder {
    public typealias Decoder = JSONDecoder
    public typealias Encoder = JSONEncoder

    public init() {}

    public func makeEncoder() -> JSONEncoder { JSONEncoder() }
    public func makeDecoder() -> JSONDecoder { JSONDecoder() }
}

/// Values as property lists.
///
/// Counterpart: macOS 26, iOS 26.
public struct NetworkPropertyListCoder: NetworkCoder {
    public typealias Decoder = PropertyListDecoder
    public typealias Encoder = PropertyListEncoder

    public init() {}

    public func makeEncoder() -> PropertyListEncoder { PropertyListEncoder() }
    public func makeDecoder() -> PropertyListDecoder { PropertyListDecoder() }
}
