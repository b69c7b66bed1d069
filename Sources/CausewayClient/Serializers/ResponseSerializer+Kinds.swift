internal import CausewayWire
public import Foundation

extension ResponseSerializer where Value: Decodable {
    /// Returns a serializer for JSON.
    public static func json(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) -> Self {
        ResponseSerializer(.json) { try decoder.decode(Value.self, from: $0.data) }
    }

    /// Returns a serializer for property lists, in XML or binary.
    ///
    /// A list that is nested deeper than 512 levels, or that refers to its objects in a circle or millions of times, is
    /// an error.
    public static func propertyList(
        _ type: Value.Type = Value.self, decoder: PropertyListDecoder = PropertyListDecoder()
    ) -> Self {
        let types = ["application/x-plist", "application/xml", "text/xml", MediaType.unknown]
        return ResponseSerializer(accepting: types) { response in
            guard PropertyListBounds.contain([UInt8](response.data)) else {
                throw HTTPClientError(.serialization, "the property list is malformed, or too deep or large")
            }
            return try decoder.decode(Value.self, from: response.data)
        }
    }
}

extension ResponseSerializer where Value == Data {
    /// A serializer that returns the bytes.
    public static var data: Self { ResponseSerializer { $0.data } }
}

extension ResponseSerializer where Value == Void {
    /// A serializer that only checks the status.
    public static var none: Self { ResponseSerializer { _ in () } }
}

extension ResponseSerializer where Value == String {
    /// A serializer for text. The character encoding comes from a byte order mark, otherwise from the response; the
    /// default is UTF-8. Invalid bytes in UTF-8 become U+FFFD. Invalid bytes in other encodings, and unknown encodings,
    /// are errors.
    public static var text: Self {
        ResponseSerializer { response in
            guard let text = TextContent.decoded(response.data, charset: response.charset) else {
                throw HTTPClientError(
                    .serialization, "unknown or wrong character encoding '\(response.charset ?? "utf-8")'")
            }
            return text
        }
    }
}

/// An image as it was sent, not decoded.
public struct ImageContent: Hashable, Sendable {
    /// The encoded image.
    public let data: Data
    /// The media type, such as `image/png`. It follows from the first bytes if they are recognized, otherwise from the response.
    public let mediaType: String
}

extension ResponseSerializer where Value == ImageContent {
    /// A serializer for images. It does not decode them: untrusted content belongs in a decoder with limits.
    public static var image: Self {
        ResponseSerializer(accepting: ["image/*", MediaType.unknown]) { response in
            let named = response.mediaType.flatMap { $0.hasPrefix("image/") ? $0 : nil }
            guard let type = ImageSignature.mediaType(of: response.data) ?? named, !response.data.isEmpty else {
                throw HTTPClientError(.serialization, "the content is not an image of a known type")
            }
            return ImageContent(data: response.data, mediaType: type)
        }
    }
}
