public import FoundationEssentials

extension NWTXTRecord {
    /// The value of a key (RFC 6763 §6.4).
    ///
    /// Counterpart: macOS 10.15, iOS 13; `data` macOS 13, iOS 16.
    public enum Entry: Hashable, CustomDebugStringConvertible, Sendable {
        /// A key without `=`, which means "present".
        case none
        /// A key and `=` without a value.
        case empty
        /// A value that is UTF-8 text.
        case string(String)
        /// A value that is not UTF-8 text (RFC 6763 §6.5).
        case data(Data)

        /// Creates the entry for `data`: ``none`` for `nil`, ``empty`` for zero bytes, ``string(_:)`` for UTF-8 text, ``data(_:)`` for
        /// other bytes.
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

        /// The value as bytes. `nil` for ``none``.
        public var data: Data? {
            switch self {
            case .none: nil
            case .empty: Data()
            case .string(let text): Data(text.utf8)
            case .data(let data): data
            }
        }

        /// A description of the text that follows the key on the wire: nothing, `=`, or `=` and the value. If the value
        /// is not text, the description contains its size in bytes instead.
        public var debugDescription: String {
            switch self {
            case .none: ""
            case .empty: "="
            case .string(let text): "=\(text)"
            case .data(let data): "=<\(data.count) bytes>"
            }
        }

        /// The entry in the form that a receiver decodes from the wire. The sender's record also stores this form, so
        /// that the records of both sides are equal.
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
