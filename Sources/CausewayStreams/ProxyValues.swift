package import Causeway
internal import Foundation

/// Proxy settings from a dictionary. The text of each key identifies the setting.
///
/// A setting that cannot be read is an error. If it were treated as absent, connections would bypass the proxy.
package struct ProxyValues {
    private let values: [String: Any]

    package init(_ dictionary: [AnyHashable: Any]) {
        values = Dictionary(dictionary.map { (Self.text(of: $0.key), $0.value) }) { $1 }
    }

    /// Creates the values from a dictionary; `nil` for any other object.
    package init?(_ object: Any) {
        if let dictionary = object as? [AnyHashable: Any] {
            self.init(dictionary)
        } else if let dictionary = object as? NSDictionary {
            var swift: [AnyHashable: Any] = [:]
            for (key, value) in dictionary { if let key = key as? AnyHashable { swift[key] = value } }
            self.init(swift)
        } else {
            return nil
        }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// Returns a dictionary key as text. An `NSString` key is not equal to a `String` with the same text. The same is
    /// true for a key type with a raw value.
    private static func text(of key: AnyHashable) -> String {
        switch key.base {
        case let text as String: text
        case let key as any RawRepresentable<String>: key.rawValue
        case let other: "\(other)"
        }
    }

    package subscript(key: String) -> Any? { values[key] }

    /// Returns whether at least one of the keys has a value.
    package func contains(anyOf keys: some Sequence<String>) -> Bool { keys.contains { values[$0] != nil } }

    package func text(_ key: String) -> String? {
        switch values[key] {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let number as NSNumber: number.stringValue
        case let value as any RawRepresentable<String>: value.rawValue
        case nil: nil
        case let other?: "\(other)"
        }
    }

    /// Returns a Boolean setting; `nil` if it is absent.
    ///
    /// - Throws: `.posix(.EINVAL)` for a value that is neither true nor false.
    package func flag(_ key: String) throws(NWError) -> Bool? {
        switch values[key] {
        case nil: return nil
        case let flag as Bool: return flag
        case let number as NSNumber: return number.boolValue
        case let other?:
            switch "\(other)".lowercased() {
            case "1", "true", "yes": return true
            case "0", "false", "no", "": return false
            default: throw .posix(.EINVAL)
            }
        }
    }

    /// Returns an endpoint from values that are stored under keys.
    ///
    /// `host` and `port` are lists of keys. From each list, the first key that has a value is used.
    ///
    /// - Throws: `.posix(.EINVAL)` if there is no host, or no port from 1 to 65,535.
    package func endpoint(host: [String], port: [String]) throws(NWError) -> NWEndpoint {
        let (host, port) = (host.lazy.compactMap { text($0) }.first, port.lazy.compactMap { text($0) }.first)
        guard let host, !host.isEmpty, let number = port.flatMap({ UInt16(digits: $0) }), number > 0,
            let port = NWEndpoint.Port(rawValue: number)
        else { throw .posix(.EINVAL) }
        return .hostPort(host: NWEndpoint.Host(host), port: port)
    }

    /// Returns the SOCKS 5 proxy at an endpoint, with the credential from the settings, if any.
    ///
    /// - Throws: `.posix(.EPROTONOSUPPORT)` if the settings require SOCKS 4; `.posix(.EINVAL)` for an unknown version.
    package func socksProxy(at endpoint: NWEndpoint) throws(NWError) -> ProxyConfiguration {
        let version = text(kCFStreamPropertySOCKSVersion) ?? text("SOCKSVersion") ?? kCFStreamSocketSOCKSVersion5
        switch version.last {
        case "5": break
        case "4": throw .posix(.EPROTONOSUPPORT)
        default: throw .posix(.EINVAL)
        }
        let proxy = ProxyConfiguration(socksv5Proxy: endpoint)
        if let user = text(kCFStreamPropertySOCKSUser) {
            proxy.applyCredential(username: user, password: text(kCFStreamPropertySOCKSPassword) ?? "")
        }
        return proxy
    }

    /// Returns the SOCKS proxy. The settings must have the format of the stream property
    /// ``kCFStreamPropertySOCKSProxy``.
    package func socksProxy() throws(NWError) -> ProxyConfiguration {
        let endpoint = try endpoint(
            host: [kCFStreamPropertySOCKSProxyHost], port: [kCFStreamPropertySOCKSProxyPort])
        return try socksProxy(at: endpoint)
    }
}
