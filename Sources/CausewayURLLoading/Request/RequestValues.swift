internal import Causeway
internal import CausewayWire
internal import Foundation

/// A request's Boolean settings.
struct RequestOptions: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let allowsCellularAccess = RequestOptions(rawValue: 1 << 0)
    static let allowsExpensiveAccess = RequestOptions(rawValue: 1 << 1)
    static let allowsConstrainedAccess = RequestOptions(rawValue: 1 << 2)
    static let allowsUltraConstrainedAccess = RequestOptions(rawValue: 1 << 3)
    static let assumesHTTP3Capable = RequestOptions(rawValue: 1 << 4)
    static let requiresDNSSECValidation = RequestOptions(rawValue: 1 << 5)
    static let allowsPersistentDNS = RequestOptions(rawValue: 1 << 6)
    static let handlesCookies = RequestOptions(rawValue: 1 << 7)
    static let usesPipelining = RequestOptions(rawValue: 1 << 8)
    /// Whether `allHTTPHeaderFields` is an empty dictionary, not `nil`, when the request has no fields. Comparisons
    /// ignore this option.
    static let hasFieldDictionary = RequestOptions(rawValue: 1 << 9)

    /// The options that are set in a new request.
    static let initial: RequestOptions = [
        .allowsCellularAccess, .allowsExpensiveAccess, .allowsConstrainedAccess, .handlesCookies,
    ]

    /// Gets or sets one option.
    subscript(option: RequestOptions) -> Bool {
        get { contains(option) }
        set {
            if newValue { insert(option) } else { remove(option) }
        }
    }
}

/// A request body: data, a stream, or nothing.
enum RequestBody: Hashable, Sendable {
    case none
    case data(Data)
    case stream(Unchecked<InputStream>)

    /// The body data; `nil` for a stream.
    var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }

    /// The body stream; `nil` for data.
    var stream: InputStream? {
        if case .stream(let box) = self { box.value } else { nil }
    }

    /// Returns whether two bodies are equal. Data is compared by value and streams by identity.
    static func == (one: RequestBody, other: RequestBody) -> Bool {
        switch (one, other) {
        case (.none, .none): true
        case (.data(let mine), .data(let theirs)): mine == theirs
        case (.stream(let mine), .stream(let theirs)): mine.value === theirs.value
        case (.none, _), (.data, _), (.stream, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .none: hasher.combine(0)
        case .data(let data): hasher.combine(data)
        case .stream(let box): hasher.combine(ObjectIdentifier(box.value))
        }
    }
}

/// A request's values. ``URLRequest``, ``NSURLRequest`` and ``NSMutableURLRequest`` store their values in this type.
struct RequestValues: Sendable {
    var url: URL?
    var mainDocumentURL: URL?
    var cachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    /// The timeout in seconds.
    var timeoutInterval: TimeInterval = 60
    var networkServiceType = NSURLRequest.NetworkServiceType.default
    var attribution = NSURLRequest.Attribution.developer
    var options = RequestOptions.initial
    var cookiePartitionIdentifier: String?
    private(set) var method = "GET"
    var fields = FieldSection()
    var body = RequestBody.none
    /// Properties set with ``URLProtocol/setProperty(_:forKey:in:)``. They are ignored in comparisons.
    var properties: Unchecked<[String: Any]>?

    init(url: URL?, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        // A request stores the absolute URL. The base URL of a relative URL is not kept.
        self.url = url?.absoluteURL
        self.cachePolicy = cachePolicy
        self.timeoutInterval = timeoutInterval
    }

    /// Sets the method. Some well-known methods are converted to upper case, as on Apple platforms; `nil` means GET.
    mutating func setMethod(_ newValue: String?) {
        let known: Set = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]
        let method = newValue ?? "GET"
        let upper = method.uppercased()
        self.method = known.contains(upper) ? upper : method
    }
}

extension RequestValues: Hashable {
    /// Returns whether all values are equal. The order of header fields does not matter.
    static func == (one: RequestValues, other: RequestValues) -> Bool {
        one.url == other.url && one.method == other.method && one.mainDocumentURL == other.mainDocumentURL
            && one.cachePolicy == other.cachePolicy && one.timeoutInterval == other.timeoutInterval
            && one.networkServiceType == other.networkServiceType && one.attribution == other.attribution
            && one.comparedOptions == other.comparedOptions
            && one.cookiePartitionIdentifier == other.cookiePartitionIdentifier && one.body == other.body
            && one.hasSameFields(as: other)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(mainDocumentURL)
        hasher.combine(method)
        hasher.combine(body)
    }

    private var comparedOptions: RequestOptions { options.subtracting(.hasFieldDictionary) }

    private func hasSameFields(as other: RequestValues) -> Bool {
        guard fields.count == other.fields.count else { return false }
        return fields == other.fields
            || fields.allSatisfy { field in
                let name = String(decoding: field.name, as: UTF8.self)
                return other.fields.index(of: name).map { other.fields[$0].value == field.value } ?? false
            }
    }
}

extension RequestValues {
    /// All header fields as a dictionary. `nil` if the program has never set a field or the dictionary.
    var allFields: [String: String]? {
        guard fields.count > 0 || options[.hasFieldDictionary] else { return nil }
        var dictionary: [String: String] = [:]
        for field in fields {
            dictionary[String(decoding: field.name, as: UTF8.self)] = String(decoding: field.value, as: UTF8.self)
        }
        return dictionary
    }

    /// Replaces all header fields. The fields are sorted by name, so that equal dictionaries result in the same order
    /// of fields.
    mutating func replaceFields(_ newFields: [String: String]?) {
        fields = FieldSection()
        options[.hasFieldDictionary] = newFields != nil
        for (name, value) in (newFields ?? [:]).sorted(by: { $0.key < $1.key }) { setField(value, name) }
    }

    /// Sets or removes a header field. A new field with a well-known name gets the usual capitalization. An existing
    /// field keeps its position and the spelling of its name. The call has no effect if the name or the new value
    /// contains CR, LF or NUL. Exception: the value may contain line folds, which are CRLF followed by a space or tab.
    mutating func setField(_ value: String?, _ name: String) {
        if let value, !Self.canSet(value, name) { return }
        if value != nil { options.insert(.hasFieldDictionary) }
        guard let index = fields.index(of: name) else {
            if let value { fields.append(WellKnownFields.capitalized(name), value) }
            return
        }
        var changed = FieldSection()
        for (place, field) in fields.enumerated() {
            if place != index {
                changed.append(name: field.name, value: field.value)
            } else if let value {
                changed.append(name: field.name, value: value.utf8)
            }
        }
        fields = changed
    }

    /// Appends a value to a header field, separated by a comma.
    mutating func addField(_ value: String, _ name: String) {
        setField(fields.firstValue(of: name).map { $0 + "," + value } ?? value, name)
    }
}
