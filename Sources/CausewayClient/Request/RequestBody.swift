public import CausewayURLLoading
internal import CausewayWire
public import Foundation

/// The content of a request.
public struct RequestBody: Sendable {
    /// Where the bytes are.
    package enum Source: Sendable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// The bytes, or the error of encoding them, which the request throws.
    package let source: Result<Source, any Error>
    /// The value of `Content-Type`; `nil` if the body has none, or if the upload sets it.
    package let contentType: String?

    /// No content.
    public static let none = RequestBody(source: .success(.none), contentType: nil)

    /// Returns content from bytes. Without a media type, it is sent as content of unknown type.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
        RequestBody(source: .success(.data(data)), contentType: contentType ?? MediaType.unknown)
    }

    /// Returns content from text, as UTF-8.
    public static func text(_ text: String) -> RequestBody {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// Returns content from a value as JSON. An error of the encoder is thrown when the request is sent.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        RequestBody(source: Result { .data(try encoder.encode(value)) }, contentType: "application/json")
    }

    /// Returns content from a value as a property list. An error of the encoder is thrown when the request is sent.
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
    /// Whether there is no content, nor a media type for it.
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
