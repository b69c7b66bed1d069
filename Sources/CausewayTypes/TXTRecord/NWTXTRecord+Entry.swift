public import FoundationEssentials

extension NWTXTRecord {
    /// What follows a key (RFC 6763 §6.4).
    ///
    /// Counterpart: macOS 10.15, iOS 13; `data` macOS 13, iOS 16.
    public enum Entry: Hashable, CustomDebugStringConvertible, Sendable {
        /// The key alone, which says "present".
        case none
        /// The key and `=`, with nothing behind it.
        case empty
        /// A value that is UTF-8 text.
        case string(String)
        /// A value that is not.
        case data(Data)

        /// Chooses the case that fits: `nil` is ``none``, no bytes ``empty``, UTF-8 ``string(_:)``.
        public init(_ data: Data?) {
            guard let data else {
                self = .none
                return
            }
            if data.isEmpty {
                self = .empty
            } else if let text = String(validating: data, as: UTF8.self) {
                self = .string(text)
            } else {
                self = .data(data)
            }
        }

        /// The bytes of the value; `nil` for ``none``.
        public var data: Data? {
            switch self {
            case .none: nil
            case .empty: Data()
            case .string(let text): Data(text.utf8)
            case .data(let data): data
            }
        }

        /// What stands behind the key on the wire: nothing, `=`, or `=` and the value, with bytes as a count.
        public var debugDescription: String {
            switch self {
            case .none: ""
            case .empty: "="
            case .string(let text): "=\(text)"
            case .data(let data): "=<\(data.count) bytes>"
            }
        }

        /// The case that the same bytes would get on arrival, so that both ends of the wire agree.
        var normalized: Entry {
            switch self {
            case .none, .empty: self
            case .string(let text): text.isEmpty ? .empty : self
            case .data(let data): Entry(data)
            }
        }

        var text: String? {
            switch self {
            case .none, .data: nil
            case .empty: ""
            case .string(let text): text
            }
        }
    }
}
