internal import Causeway
internal import Foundation

// The property names of these types are stored as keys in the session's file. If a property is renamed, the file format
// changes.
extension SessionRecord {
    struct Timeouts: Codable, Equatable, Sendable {
        private var requestTimeout: Double
        private var resourceTimeout: Double

        init(_ settings: SessionSettings.Timeouts) {
            requestTimeout = settings.request
            resourceTimeout = settings.resource
        }

        var settings: SessionSettings.Timeouts {
            SessionSettings.Timeouts(request: requestTimeout, resource: resourceTimeout)
        }
    }

    /// The settings for network access: the permitted networks and the service class. The property
    /// `waitsForConnectivity` is not stored: a session that is created from the record always waits.
    struct Access: Codable, Equatable, Sendable {
        private var accessOptions: UInt16
        private var isDiscretionary: Bool
        private var networkServiceType: UInt
        private var multipathServiceType: Int

        init(_ settings: SessionSettings.Access) {
            accessOptions = settings.options.rawValue
            isDiscretionary = settings.isDiscretionary
            networkServiceType = settings.networkServiceType.rawValue
            multipathServiceType = settings.multipathServiceType.rawValue
        }

        var settings: SessionSettings.Access {
            SessionSettings.Access(
                options: RequestOptions(rawValue: accessOptions), waitsForConnectivity: true,
                isDiscretionary: isDiscretionary,
                networkServiceType: NSURLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default,
                multipathServiceType: URLSessionConfiguration.MultipathServiceType(rawValue: multipathServiceType)
                    ?? .none)
        }
    }

    /// The settings for TLS and proxies: the TLS versions, whether early data is used, and whether the session avoids
    /// the system's proxies.
    struct Transport: Codable, Equatable, Sendable {
        private var minimumTLSVersion: UInt16
        private var maximumTLSVersion: UInt16
        private var enablesEarlyData: Bool?
        private var usesNoProxy: Bool

        init(_ settings: SessionSettings.Transport) {
            minimumTLSVersion = settings.minimumTLSVersion.rawValue
            maximumTLSVersion = settings.maximumTLSVersion.rawValue
            enablesEarlyData = settings.enablesEarlyData
            usesNoProxy = settings.proxyDictionary != nil
        }

        /// Returns whether a record can describe these settings. A record cannot describe a session's own proxies.
        static func describes(_ settings: SessionSettings.Transport) -> Bool {
            settings.proxies.isEmpty && settings.proxyDictionary?.isEmpty != false
        }

        var settings: SessionSettings.Transport {
            var settings = SessionSettings.Transport()
            settings.minimumTLSVersion = tls_protocol_version_t(rawValue: minimumTLSVersion) ?? .TLSv12
            settings.maximumTLSVersion = tls_protocol_version_t(rawValue: maximumTLSVersion) ?? .TLSv13
            settings.enablesEarlyData = enablesEarlyData ?? false
            settings.proxyDictionary = usesNoProxy ? [:] : nil
            return settings
        }
    }

    struct HTTP: Codable, Equatable, Sendable {
        private var setsCookies: Bool
        private var cookiePolicy: UInt
        private var maximumConnections: Int
        private var fields: [String: String]

        init(_ settings: SessionSettings.HTTP) {
            setsCookies = settings.setsCookies
            cookiePolicy = settings.cookieAcceptPolicy.rawValue
            maximumConnections = settings.maximumConnectionsPerHost
            fields = [:]
            for (name, value) in settings.additionalFields ?? [:] { fields["\(name)"] = "\(value)" }
        }

        var settings: SessionSettings.HTTP {
            var settings = SessionSettings.HTTP()
            settings.setsCookies = setsCookies
            settings.cookieAcceptPolicy = HTTPCookie.AcceptPolicy(rawValue: cookiePolicy) ?? .never
            settings.maximumConnectionsPerHost = min(max(maximumConnections, 1), 100)
            settings.additionalFields = fields
            return settings
        }
    }

    /// Whether the session uses the program's stores of cookies, credentials and hosts that require HTTPS (HSTS).
    struct Stores: Codable, Equatable, Sendable {
        private var storesCookies: Bool
        private var storesCredentials: Bool
        private var storesStrictTransport: Bool?

        init(_ settings: SessionSettings.Stores) {
            storesCookies = settings.cookies != nil
            storesCredentials = settings.credentials != nil
            storesStrictTransport = settings.strictTransport != nil
        }

        /// Returns whether a record can describe these settings. This is possible only if cookies and credentials are
        /// in the program's shared storages, or are not stored.
        static func describes(_ settings: SessionSettings.Stores) -> Bool {
            settings.cookies.map { $0 === HTTPCookieStorage.shared } ?? true
                && settings.credentials.map { $0 === URLCredentialStorage.shared } ?? true
        }

        func opened(in directory: String) -> SessionSettings.Stores {
            SessionSettings.Stores(
                cookies: storesCookies ? HTTPCookieStorage(directory: directory) : nil,
                credentials: storesCredentials ? URLCredentialStorage(directory: directory) : nil,
                strictTransport: storesStrictTransport ?? true ? StrictTransportStore(directory: directory) : nil)
        }
    }
}
