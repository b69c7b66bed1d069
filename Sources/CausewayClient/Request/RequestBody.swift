public import CausewayURLLoading
internal import CausewayWire
public import Foundation

/// A request's content.
public struct RequestBody: Sendable {
    /// The source of the content's bytes.
    package enum Source: Sendable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// The bytes, or the encoding error, which is thrown when the request is sent.
    package let source: Result<Source, any Error>
    /// The `Content-Type` value. `nil` if the body has none, or if the body is a multipart form, which has its own
    /// value.
    package let contentType: String?

    /// No content.
    public static let none = RequestBody(source: .success(.none), contentType: nil)

    /// Returns a request body with the given bytes. Without a media type, the content is sent with an unknown type.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
        RequestBody(source: .success(.data(data)), contentType: contentType ?? MediaType.unknown)
    }

    /// Returns content from text, as UTF-8.
    public static func text(_ text: String) -> RequestBody {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Returns a value as JSON content. An encoder error is thrown when the request is sent.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        RequestBody(source: Result { .data(try encoder.encode(value)) }, contentType: "application/json")
    }

    /// Returns a value as property list content. An encoder error is thrown when the request is sent.
    public static func propertyList(
        _ value: some Encodable, encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> RequestBody {
        RequestBody(source: Result { .data(try encoder.encode(value)) }, contentType: "application/x-plist")
    }

    /// Returns content from parameters as a form (`application/x-www-form-urlencoded`).
    public static func form(_ parameters: RequestParameters) -> RequestBody {
        data(Data(parameters.form.utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// Returns content from a form with files (`multipart/form-data`). The files are read while they are sent.
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(source: .success(.form(form)), contentType: nil)
    }

    /// Returns content from a file, which is read while it is sent. Without a media type, it is sent as content of unknown type.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        RequestBody(source: .success(.file(url)), contentType: contentType ?? MediaType.unknown)
    }
}

extension RequestBody {
    /// Whether there is neither content nor a media type.
    var isNone: Bool {
        guard contentType == nil, case .success(let source) = source else { return false }
        return source.isNone
    }
}

extension RequestBody.Source {
    /// Whether there is no content.
    var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// The number of bytes; `nil` if it is not known.
    var byteCount: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url):
            (try? FileManager.default.attributesOfItem(atPath: url.path))?[.size].flatMap {
                ($0 as? NSNumber)?.int64Value
            }
        case .form(let form): try? form.contentLength()
        }
    }
}
