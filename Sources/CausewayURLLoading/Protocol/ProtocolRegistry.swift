internal import CausewaySystem
internal import Foundation

/// Classes registered with ``URLProtocol/registerClass(_:)``.
enum ProtocolRegistry {
    private static let classes = LockedValue<[URLProtocol.Type]>([])

    /// Registers a class, which is then tried before all other registered classes. Returns whether the class is a
    /// subclass of ``URLProtocol``.
    static func register(_ protocolClass: AnyClass) -> Bool {
        guard let type = protocolClass as? URLProtocol.Type else { return false }
        classes.withLock { classes in
            classes.removeAll { $0 == type }
            classes.insert(type, at: 0)
        }
        return true
    }

    static func unregister(_ protocolClass: AnyClass) {
        classes.withLock { classes in classes.removeAll { $0 == protocolClass } }
    }

    /// The registered classes, most recent first.
    static var registered: [URLProtocol.Type] { classes.withLock { $0 } }
}

/// Placeholder classes that stand for the built-in loaders in the list ``URLSessionConfiguration/protocolClasses``. No
/// objects of these classes are created: if a task selects such a class, the task uses the built-in loader instead.
enum BuiltInProtocols {
    static let all: [AnyClass] = [HTTPLoading.self, DataLoading.self, FileLoading.self]

    /// Returns whether a class only stands for one of the built-in loaders.
    static func contains(_ type: URLProtocol.Type) -> Bool { all.contains { $0 == type } }

    /// Returns whether a built-in loader can load a request.
    static func canLoad(_ request: URLRequest) -> Bool {
        all.contains { ($0 as? URLProtocol.Type)?.canInit(with: request) == true }
    }

    // SAFETY: the placeholder classes have no stored properties.

    /// Represents the loader for `http:` and `https:` URLs.
    final class HTTPLoading: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool {
            ["http", "https"].contains(request.url?.scheme?.lowercased())
        }
    }

    // SAFETY: the class has no stored properties.
    /// Represents the loader for `data:` URLs.
    final class DataLoading: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme?.lowercased() == "data" }
    }

    // SAFETY: the class has no stored properties.
    /// Represents the loader for `file:` URLs.
    final class FileLoading: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.isFileURL ?? false }
    }
}
